#!/usr/bin/env python3
"""The machine checks must find what they look for: each is run on a copy of a small tree with one fault planted."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BANNER = "//===- {} - a test ---- SPDX: Apache-2.0 WITH LLVM-exception -===//\n"
#: script, rule, file, text
FAULTS = [
    ("layering", "L1", "dialect/Tile/Wrong.cpp", '#include "runtime/Support/Result.h"\n'),
    ("layering", "L1", "dialect/Layout/Wrong.cpp", '#include "dialect/Tile/TileDialect.h"\n'),
    ("layering", "L2", "compiler/Codegen/Wrong.cpp", '#include "runtime/Cuda/Driver.h"\n'),
    ("layering", "L2", "compiler/Codegen/Wrong.cpp", "#include <cuda.h>\n"),
    ("layering", "L3", "runtime/Launch/Wrong.cpp", '#include "llvm/ADT/StringRef.h"\n'),
    ("layering", "L3", "runtime/Launch/Wrong.cpp", '#include "compiler/Driver/Compiler.h"\n'),
    ("layering", "L4", "runtime/Jit/Wrong.cpp", '#include "compiler/Pipeline/Pipeline.h"\n'),
    ("layering", "L5", "runtime/Launch/Wrong.cpp", "void f() { cuLaunchKernel(0); }\n"),
    ("layering", "L6", "compiler/Transforms/Wrong.cpp", "void f() { manager.addPass(p); }\n"),
    ("layering", "L7", "compiler/Frontend/Wrong.cpp", "void f() { std::cerr << 1; }\n"),
    ("layering", "L7", "compiler/Frontend/Wrong.cpp", "void f() { llvm::errs() << 1; }\n"),
    ("layering", "L7", "runtime/Cpu/Wrong.cpp", 'void f() { getenv("HOME"); }\n'),
    ("layering", "L8", "compiler/Frontend/Wrong.cpp", '#include "compiler/Frontend/Nothing.h"\n'),
    ("names", "N1", "compiler/Frontend/Utils.cpp", ""),
    ("names", "N2", "compiler/Frontend/Wrong.cpp", "\n" * 1000),
    ("names", "N3", "compiler/Frontend/Wrong.cpp", "// TO" + "DO: later\n"),
    ("names", "N4", "docs/wrong" + ".md", "see /ho" + "me/somebody/file\n"),
    ("names", "N5", "scratch/wrong.txt", "x\n"),
    ("names", "N6", "compiler/Frontend/Wrong.h", "#pragma once\n"),
    ("names", "N7", "tests/Dialect/Not_Kebab.mlir", "\n"),
    ("names", "N8", "compiler/Frontend/Wrong.cpp", "// see do" + "cs/nowhere.md\n"),
    ("passes", "P1", "compiler/Transforms/WrongPasses.td",
     'def WrongPass : Pass<"tile-gpu-wrong", "x"> {\n  let description = [{ Needs: one two three. Gives: four five six. }];\n}\n'),
    ("passes", "P2", "compiler/Transforms/WrongPasses.td", 'def WrongPass : Pass<"tile-gpu-wrong", "x"> {\n  let description = "short";\n}\n'),
    ("passes", "P3", "dialect/Tile/Wrong.cpp", 'void f() { emitOpError() << "wrong_c1: expected"; }\n'),
]


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            if (ROOT / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, tree / name)
        subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
        for script, rule, name, text in FAULTS:
            path = tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(("" if rule in ("N6", "N7", "N4", "N5") or path.suffix == ".td" else BANNER.format(path.name)) + text)
            done = subprocess.run([sys.executable, str(tree / "tools" / "scripts" / f"check_{script}.py")], capture_output=True, text=True)
            found = any(f" {rule}: " in line and (name in line or "wrong" in line.lower()) for line in done.stdout.splitlines())
            good = done.returncode != 0 and found
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"FAILED check_{script}.py does not find {rule} in {name}:\n{done.stdout}{done.stderr}")
            path.unlink()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
