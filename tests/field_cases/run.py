#!/usr/bin/env python3
"""The field cases A01 to A25 by their numbers: small programs behind public bug reports of other tile compilers, and what is right here.

    tests/field_cases/run.py [--tessera build/bin/tessera] [--device cpu] [--filter A07] [--verbose]
    tests/field_cases/run.py --list

README.md beside this file is the table: for each number what shows it, or the issue that it waits for and why.  The table and the functions of this folder must agree;
unit tests that the table names must exist, and run here too where they are built.  Everything that needs a device runs on `--device`; what PTX or messages show
needs none.  Standard library and numpy.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import harness  # noqa: E402
import agreement_cases  # noqa: E402,F401
import attention_cases  # noqa: E402,F401
import memory_cases  # noqa: E402,F401
import number_cases  # noqa: E402,F401
import product_cases  # noqa: E402,F401
import tool_cases  # noqa: E402,F401

HERE, ROOT = pathlib.Path(__file__).resolve().parent, harness.ROOT
NUMBERS = [f"A{i:02}" for i in range(1, 26)] + ["schedules", "levels"]


def table():
    """number -> (title, [what shows it], what it waits for)."""
    rows = {}
    for line in (HERE / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and re.fullmatch(r"A\d\d|schedules|levels", cells[0]):
            rows[cells[0]] = (cells[1], [part.strip() for part in cells[2].split(";")], cells[3])
    return rows


def unit_tests():
    """(executable, title) of every unit test in the sources."""
    found = set()
    for path in (ROOT / "tests" / "unit").glob("*Test.cpp"):
        for title in re.findall(r'TEST_CASE(?:_METHOD)?\((?:\w+, )?"((?:[^"\\]|\\.)*)"', path.read_text()):
            found.add((path.stem, title))
    return found


def faults(rows):
    """What is wrong with the table itself."""
    units = unit_tests()
    for number in NUMBERS:
        if number not in rows:
            yield f"{number} has no row in tests/field_cases/README.md"
            continue
        title, shown, waits = rows[number]
        if waits == "-" and shown == ["-"]:
            yield f"{number} is neither shown nor waits for anything"
        if ("run" in shown) != (number in harness.CASES):
            yield f"{number}: the table says {shown}, the functions of this folder say {number in harness.CASES}"
        for entry in shown:
            unit = re.fullmatch(r"unit (\w+): (.*)", entry)
            if unit and unit.groups() not in units:
                yield f"{number} names {entry}, which does not exist"
            elif not unit and entry not in ("run", "-") and not (ROOT / entry).exists():
                yield f"{number} names {entry}, which is neither `run`, a unit test nor a file"
    for number in harness.CASES:
        if number not in NUMBERS:
            yield f"{number} is no number of a field case"


def run_units(tester, shown):
    for entry in shown:
        unit = re.fullmatch(r"unit (\w+): (.*)", entry)
        program = pathlib.Path(tester.options.tessera).parent / "unit" / unit.group(1) if unit else None
        if program and program.exists():
            done = subprocess.run([str(program), re.sub(r"([,\[\]\\*])", r"\\\1", unit.group(2))], capture_output=True, text=True, timeout=600)
            tester.that(entry, done.returncode == 0 and "No test cases matched" not in done.stdout, done.stdout[-1500:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default=os.environ.get("TESSERA", str(ROOT / "build" / "bin" / "tessera")))
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N")
    parser.add_argument("--filter", default="", help="only numbers and names that contain this")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="also checks that hold")
    options = parser.parse_args()
    options.tessera = os.path.abspath(options.tessera)
    rows = table()
    work = [(number, name, function) for number in NUMBERS for name, function in harness.CASES.get(number, []) if options.filter in f"{number} {name}"]
    if options.list:
        print("\n".join(f"field: {number} {name}" for number, name, _ in work))
        print("\n".join(f"field: {number} waits: {waits}" for number, (_, _, waits) in rows.items() if waits != "-"))
        return 0
    tester = harness.Tester(options)
    for fault in faults(rows):
        tester.that("table", False, fault)
    for number, name, function in work:
        tester.number, begin, before = number, time.time(), (tester.passed, tester.failed)
        try:
            function(tester)
        except (harness.Failure, subprocess.TimeoutExpired) as problem:
            tester.that(name, False, str(problem))
        passed, failed = tester.passed - before[0], tester.failed - before[1]
        if passed + failed == 0:
            tester.that(name, False, "no check ran")
        print(f"{'ok    ' if not failed else 'FAILED'} {number} {name}: {passed} checks in {time.time() - begin:.1f} s", flush=True)
    for number, (_, shown, waits) in rows.items():
        if options.filter in number:
            tester.number = number
            run_units(tester, shown)
            if waits != "-":
                print(f"waits  {number}: {waits}")
    print(f"{tester.passed} passed, {tester.failed} failed")
    return 1 if tester.failed or not tester.passed else 0


if __name__ == "__main__":
    sys.exit(main())
