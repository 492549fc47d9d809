#!/usr/bin/env python3
"""Host objects and archives of kernels link without an undefined symbol, and show none of theirs.

    tests/examples/link_archives.py --tessera build/bin/tessera [--list]

Every example is compiled for the host to an object (`--emit object`) and to a header with its archive.  `nm -u` finds nothing in any of their
objects, so that no library, not even libc or libm, comes along; the whole archive links into a shared library of its own with
-nostdlib -Wl,--no-undefined, which exports nothing; and the header compiles alone with -Wall -Wextra -Werror.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: Optional tensors that the functions take.
WITH = {"linear": ["bias"], "embedding": ["bias"]}


def programs():
    return sorted(ROOT.glob("examples/*/*.tile")) + sorted(ROOT.glob("tests/unit/embedded/*.tile"))


def run(command, folder):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=folder)


def undefined(path):
    """Names that an object or archive wants from elsewhere, but for the table's references to the archive's own entries."""
    lines = subprocess.run(["nm", "--format=posix", str(path)], capture_output=True, text=True).stdout.splitlines()
    names = [line.split() for line in lines if not line.endswith(":") and line.strip()]
    defined = {name[0] for name in names if name[1] != "U"}
    return sorted({name[0] for name in names if name[1] == "U"} - defined), len(defined)


class Problem(Exception):
    pass


#: Compile-time parameters without a default.
DEFINITIONS = {"norms": ["C=256"]}


def check(tessera, compiler, program, folder):
    name = program.stem
    definitions = [part for definition in DEFINITIONS.get(name, []) for part in ("-D", definition)]
    with_tensors = [part for tensor in WITH.get(name, WITH.get(program.parent.name, [])) for part in ("--with", tensor)]
    done = run([tessera, "compile", program, "--target", "host", *definitions, "--emit", "object", "-o", "whole.o"], folder)
    if done.returncode:
        raise Problem("object: " + done.stderr)
    done = run([tessera, "compile", program, "--target", "host", *definitions, *with_tensors, "--emit", "header", "-o", f"{name}.h"], folder)
    if done.returncode:
        raise Problem("header: " + done.stderr)
    for path in (folder / "whole.o", folder / f"{name}.a"):
        missing, found = undefined(path)
        if missing:
            raise Problem(f"{path.name} needs {', '.join(missing)}")
        if not found:
            raise Problem(f"{path.name} defines nothing")
    done = run([compiler, "-shared", "-nostdlib", "-Wl,--no-undefined", "-Wl,--whole-archive", f"{name}.a", "-Wl,--no-whole-archive", "-o", "library.so"], folder)
    if done.returncode:
        raise Problem("link: " + done.stderr)
    exported = [line for line in run(["nm", "-D", "--defined-only", "library.so"], folder).stdout.splitlines() if line.strip()]
    if exported:
        raise Problem("the library exports " + "; ".join(exported))
    (folder / "use.cpp").write_text(f'#include "{name}.h"\n#include "{name}.h"\n')
    (folder / "tessera").mkdir(exist_ok=True)
    (folder / "tessera" / "embedded.hpp").write_text('#include "runtime/Api/embedded.hpp"\n')
    done = run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-I{ROOT}", "use.cpp"], folder)
    if done.returncode:
        raise Problem("the header: " + done.stderr[:2000])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default=os.environ.get("TESSERA", str(ROOT / "build" / "bin" / "tessera")), type=os.path.abspath)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"archive: {program.relative_to(ROOT)}" for program in programs()))
        return 0
    compiler = os.environ.get("CXX") or next(filter(None, map(shutil.which, ("clang++-22", "clang++", "g++"))), None)
    passed = failed = 0
    for program in programs():
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(options.tessera, compiler, program, pathlib.Path(folder))
                passed += 1
                print(f"ok     {program.relative_to(ROOT)}", flush=True)
            except Problem as problem:
                failed += 1
                print(f"FAILED {program.relative_to(ROOT)}: {problem}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
