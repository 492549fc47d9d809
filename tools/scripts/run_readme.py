#!/usr/bin/env python3
"""Runs the fenced `sh` blocks of README.md as they stand, in a scratch folder for outputs and with the repository as the working folder.

    run_readme.py              every command but the two long ones (tools/quickstart, tools/check), which call this script
    run_readme.py --all        everything, in order; what CI does
    run_readme.py --list       the commands, without running them
    run_readme.py --extract-cpp FILE    writes the C++ of the page, which is compiled and run as a test

A block is one script, run by `bash -e`.  Files that its commands write into the working folder are removed afterwards, if they were not there
before and git does not know them.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG = re.compile(r"^tools/(quickstart|check)\b.*$", re.M)


def blocks():
    text = (ROOT / "README.md").read_text()
    return [match.group(1) for match in re.finditer(r"^```sh\n(.*?)^```", text, re.M | re.S)]


def untracked():
    listed = subprocess.run(["git", "status", "--porcelain", "--untracked-files=all", "--ignored=matching", "-z", "--", ".", ":!build*", ":!.cache"],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {entry[3:] for entry in listed.split("\0") if entry[:2] in ("??", "!!")}


def main():
    if "--extract-cpp" in sys.argv:
        code = re.findall(r"^```cpp\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
        pathlib.Path(sys.argv[sys.argv.index("--extract-cpp") + 1]).write_text("\n".join(code))
        return 0 if len(code) == 1 else 1
    everything = "--all" in sys.argv
    passed = failed = 0
    before = untracked()
    for block in blocks():
        script = block if everything else LONG.sub("", block)
        if not script.strip():
            continue
        if "--list" in sys.argv:
            print(script.strip())
            continue
        print("$ " + script.strip().replace("\n", "\n$ "), flush=True)
        status = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=ROOT, stdin=subprocess.DEVNULL).returncode
        passed, failed = passed + (status == 0), failed + (status != 0)
        if status:
            print(f"exit code {status}", flush=True)
    if "--list" in sys.argv:
        return 0
    for name in untracked() - before:
        if not name.endswith("/"):
            (ROOT / name).unlink(missing_ok=True)
    if passed + failed == 0:
        print("README.md has no fenced sh block")
        return 1
    print(f"readme: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
