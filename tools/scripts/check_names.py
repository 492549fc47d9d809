#!/usr/bin/env python3
"""Names, lengths and leftovers, on the files that git knows.

  N1  no file or folder named Utils, Utility, Common, Helpers, Misc: a name says what is inside.
  N2  a source file of more than 900 lines is an error; of more than 600 a warning (two ideas may live better in two files).
  N3  no left-over mark (the four usual words in capitals) without the number of an issue.
  N4  no path of somebody's machine (a home folder, a checkout).
  N5  the top level has only what docs/architecture.md lists.
  N6  C++ sources and headers begin with the banner line, headers have the guard TESSERA_DIR_FILE_H (tools/cmake/pch_* excepted).
  N7  test files are named in kebab-case.
  N8  a page under docs/ that a file names exists.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOP = re.compile(r"^(CMakeLists\.txt|CMakePresets\.json|LICENSE|README\.md|CONTRIBUTING\.md|CHANGELOG\.md|SECURITY\.md|"
                 r"(compiler|dialect|runtime|examples|tests|tools|docs)/.*|\..*)$")
MACHINE_PATH = re.compile("(^|[\\s\"'=(])/(" + "|".join(["ho" + "me", "ro" + "ot", "wo" + "rk", "Us" + "ers", "mn" + "t"]) + r")/[\w.-]+")
PAGE = re.compile(r"(?<![\w/])docs/[\w/.-]+\.md\b")
LEFTOVER = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]) + r")\b")


def files():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True).stdout
    return [name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


def main():
    findings, warnings = [], []
    names = files()
    for name in names:
        path = ROOT / name
        if not TOP.match(name):
            findings.append(f"{name}: N5: outside the top level")
        if re.search(r"(^|/)(utils?|utility|utilities|common|helpers?|misc)(\.|/|$)", name, re.I):
            findings.append(f"{name}: N1: a name that explains nothing")
        source = path.suffix in (".cpp", ".h", ".hpp", ".td", ".py")
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        lines = text.split("\n")
        if source and len(lines) > 900:
            findings.append(f"{name}: N2: {len(lines)} lines")
        elif source and len(lines) > 600:
            warnings.append(f"{name}: N2: warning: {len(lines)} lines")
        for number, line in enumerate(lines, 1):
            if MACHINE_PATH.search(line):
                findings.append(f"{name}:{number}: N4: path of a machine: {line.strip()[:100]}")
            for page in PAGE.findall(line):
                if not (ROOT / page).is_file():
                    findings.append(f"{name}:{number}: N8: {page} does not exist")
            if source and LEFTOVER.search(line) and not re.search(r"#\d+", line):
                findings.append(f"{name}:{number}: N3: {line.strip()[:100]}")
        banner = path.suffix in (".cpp", ".h", ".hpp", ".td") and not path.name.startswith("pch_")
        if banner and not re.match(r"//===- " + re.escape(path.name) + r" - .*SPDX: Apache-2.0 WITH LLVM-exception -===//", text):
            findings.append(f"{name}:1: N6: expected the banner `//===- {path.name} - one phrase ---- SPDX: Apache-2.0 WITH LLVM-exception -===//`")
        if banner and path.suffix in (".h", ".hpp") and "TESSERA_" not in text[:4000]:
            findings.append(f"{name}: N6: no include guard TESSERA_...")
        if name.startswith("tests/") and path.suffix in (".mlir", ".tile") and not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", path.stem):
            findings.append(f"{name}: N7: not in kebab-case")
    for line in warnings + findings:
        print(line)
    print(f"names: {len(names)} files, {len(findings)} findings, {len(warnings)} warnings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
