#!/usr/bin/env python3
"""Runs the fenced `sh` blocks of README.md and of the examples' pages as they stand, in the root of the repository.

    run_readme.py              every command but the long ones: tools/quickstart and tools/check, which call this script, and the examples' checks
    run_readme.py --all        all of README.md, in order; what CI does
    run_readme.py --list       the commands, without running them
    run_readme.py --extract-cpp FILE    writes the C++ of the page, which is compiled and run as a test

A block is one script, run by `bash -e`.  Files that a block names as outputs in the root are removed at the end, unless they were there before.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG = re.compile(r"^(tools/(quickstart|check)\b|python3 examples/).*$", re.M)


def blocks(everything):
    pages = [ROOT / "README.md"] + ([] if everything else sorted(ROOT.glob("examples/*/README.md")))
    return [match.group(1) for page in pages for match in re.finditer(r"^```sh\n(.*?)^```", page.read_text(), re.M | re.S)]


def outputs(script):
    """The files in the root that a script names as its outputs and that are not there yet."""
    named = set(re.findall(r"(?:^|[\s='\"])([\w-]+\.(?:npy|ptx|mlir))\b", script))
    return {name for name in named if not (ROOT / name).exists()}


def main():
    if "--extract-cpp" in sys.argv:
        code = re.findall(r"^```cpp\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
        pathlib.Path(sys.argv[sys.argv.index("--extract-cpp") + 1]).write_text("\n".join(code))
        return 0 if len(code) == 1 else 1
    everything = "--all" in sys.argv
    passed = failed = 0
    made = set()
    for block in blocks(everything):
        script = block if everything else LONG.sub("", block)
        if not script.strip():
            continue
        if "--list" in sys.argv:
            print(script.strip())
            continue
        made |= outputs(script)
        print("$ " + script.strip().replace("\n", "\n$ "), flush=True)
        status = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=ROOT, stdin=subprocess.DEVNULL).returncode
        passed, failed = passed + (status == 0), failed + (status != 0)
        if status:
            print(f"exit code {status}", flush=True)
    if "--list" in sys.argv:
        return 0
    for name in made:
        (ROOT / name).unlink(missing_ok=True)
    if passed + failed == 0:
        print("README.md has no fenced sh block")
        return 1
    print(f"readme: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
