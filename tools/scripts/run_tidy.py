#!/usr/bin/env python3
"""clang-tidy 14 on the C++ that needs no MLIR header: runtime/, the syntax and the targets of compiler/, tools/tessera.

    run_tidy.py              every such file
    run_tidy.py FILE...      those

Flags are given here and not taken from the compilation database, whose precompiled headers are another compiler's.  Without clang-tidy 14 the script
says that it was skipped and succeeds.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATTERNS = ["runtime/*/*.cpp", "compiler/Target/*.cpp", "compiler/Frontend/Lexer.cpp", "compiler/Frontend/Parser.cpp", "compiler/Frontend/Diagnostics.cpp",
            "tools/tessera/*.cpp"]
NEEDS_LLVM = {"runtime/Jit/HostCode.cpp"}


def main():
    tool = shutil.which("clang-tidy-14")
    if not tool:
        print("tidy: skipped, clang-tidy 14 was not found (Debian 12: apt-get install clang-tidy)")
        return 0
    names = sys.argv[1:] or sorted(path.relative_to(ROOT).as_posix() for pattern in PATTERNS for path in ROOT.glob(pattern))
    names = [name for name in names if name not in NEEDS_LLVM]
    flags = ["-std=c++20", f"-I{ROOT}", "-DTESSERA_VERSION=\"0\"", "-DTESSERA_LLVM_VERSION=\"22\"", "-Wno-everything"]

    def run(name):
        return subprocess.run([tool, "--quiet", name, "--", *flags], cwd=ROOT, capture_output=True, text=True)

    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for name, done in zip(names, pool.map(run, names)):
            passed, failed = passed + (done.returncode == 0), failed + (done.returncode != 0)
            if done.returncode:
                print(f"FAILED {name}\n{done.stdout}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
