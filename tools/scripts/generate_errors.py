#!/usr/bin/env python3
"""docs/errors.md from the three tables of diagnostic codes (the same text as `tessera explain`).

    generate_errors.py           writes the page
    generate_errors.py --check   fails if the page is not what would be written
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = ["compiler/Frontend/DiagnosticCodes.def", "compiler/Frontend/SpecializeCodes.def", "runtime/Support/RuntimeCodes.def"]
PAGE = ROOT / "docs" / "errors.md"
GROUPS = [("T00", "Syntax"), ("T01", "Declarations"), ("T02", "Types, shapes and bindings"), ("T03", "Types, shapes and bindings"),
          ("T04", "Choice of a kernel"), ("T05", "Targets and stages"), ("T06", "Launches, devices and files"), ("T09", "Our own faults")]
HEAD = """# Diagnostics

Every message carries a code. `tessera explain T0604` prints the entry below; this page is generated from the same tables by
`tools/scripts/generate_errors.py`, and a test keeps it up to date.

A message says where, which rule, what was expected and found, and the remedy:

```
program.tile:4:24: error: the name 'K' is not known here [T0219]
    4 |   z[i +: BLOCK] = x[i +: K]
      |                          ^
```

Exit codes of the tools: 0 right; 1 the program or its data is wrong; 2 usage; 3 the machine (no device, unwritable output, out of memory); 70 our own
fault, with a reproducer file.
"""


def strings(text):
    """The arguments of TESSERA_CODE: one list of adjacent C string literals each."""
    result, current = [], None
    for match in re.finditer(r'"((?:[^"\\]|\\.)*)"|,', text):
        if match.group(0) == ",":
            if current is not None:
                result.append(current)
            current = None
        else:
            piece = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), match.group(1))
            current = (current or "") + piece
    result.append(current or "")
    return result


def entries():
    found = {}
    for table in TABLES:
        text = (ROOT / table).read_text()
        text = re.sub(r'^//[^\n]*$', "", text, flags=re.M)
        for match in re.finditer(r'TESSERA_CODE\((T\d{4}),((?:[^"()]|"(?:[^"\\]|\\.)*")*)\)', text):
            code, parts = match.group(1), strings(match.group(2))
            if len(parts) != 4:
                sys.exit(f"{table}: {code} has {len(parts)} texts, expected title, explanation, wrong and right example")
            if code in found:
                sys.exit(f"{table}: {code} is described twice")
            found[code] = parts
        expected = len(re.findall(r"^TESSERA_CODE\(", text, re.M))
        if expected != sum(1 for _ in re.finditer(r'TESSERA_CODE\((T\d{4}),((?:[^"()]|"(?:[^"\\]|\\.)*")*)\)', text)):
            sys.exit(f"{table}: an entry was not understood")
    return dict(sorted(found.items()))


def fence(text):
    return f"```\n{text.rstrip()}\n```\n"


def render(table):
    out, heading = [HEAD], ""
    for code, (title, explanation, wrong, right) in table.items():
        group = next((name for prefix, name in GROUPS if code.startswith(prefix)), "Others")
        if group != heading:
            out.append(f"\n## {group}\n")
            heading = group
        out.append(f"\n### {code}: {title}\n\n{explanation}\n")
        if wrong:
            out.append(f"\nWrong:\n\n{fence(wrong)}")
        if right:
            out.append(f"\nRight:\n\n{fence(right)}")
    return "".join(out)


def main():
    text = render(entries())
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != text:
            print("docs/errors.md is out of date: run tools/scripts/generate_errors.py")
            return 1
        print(f"errors: {text.count('### ')} codes, up to date")
        return 0
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
