#!/usr/bin/env python3
"""Formatting of C++ by clang-format 14 (the version that .clang-format is written for); `--fix` rewrites the files.

Another version formats differently, so without version 14 the check says that it was skipped and succeeds.  The closing braces of the style
file's exceptions live in .clang-format itself; nothing is exempt here but generated text.
"""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def find_formatter():
    for name in ("clang-format-14", "clang-format"):
        tool = shutil.which(name)
        if tool and " 14." in subprocess.run([tool, "--version"], capture_output=True, text=True).stdout:
            return tool
    return None


def main():
    tool = find_formatter()
    if not tool:
        print("format: skipped, clang-format 14 was not found (Debian 12: apt-get install clang-format)")
        return 0
    listed = subprocess.run(["git", "ls-files", "*.cpp", "*.h", "*.hpp"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    listed = [name for name in listed if (ROOT / name).exists()]
    if "--fix" in sys.argv:
        subprocess.run([tool, "-i", *listed], cwd=ROOT, check=True)
        return 0
    wrong = []
    for name in listed:
        formatted = subprocess.run([tool, name], cwd=ROOT, capture_output=True, check=True).stdout
        if formatted != (ROOT / name).read_bytes():
            wrong.append(name)
    for name in wrong:
        print(f"{name}: not formatted; run tools/scripts/check_format.py --fix")
    print(f"format: {len(listed)} files, {len(wrong)} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
