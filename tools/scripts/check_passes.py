#!/usr/bin/env python3
"""Every pass and every verifier rule is documented and tested.

  P1  each `def XPass : Pass<"flag", ...>` of a *Passes.td has a test file under tests/ named after its flag without `tile-gpu-` or `tile-`;
      variants carry a suffix (`to-host-invalid.mlir`), and the file runs the flag.
  P2  its description has at least 8 words and says what it needs and gives.
  P3  each numbered rule (`load_c1`) that a verifier of dialect/ cites has a test of that name (`@load_c1`) under tests/Dialect/.
  P4  each rule cited by a verifier is described in the .td, and each rule described there is cited.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: rules that no text can break (the parser is there first), each with its reason
UNREACHABLE = {"view_c2": "a negative extent cannot be written"}


def check_passes(findings):
    tests = list((ROOT / "tests").rglob("*.mlir")) + list((ROOT / "tests").rglob("*.tile"))
    count = 0
    for table in sorted((ROOT / "compiler").rglob("*Passes.td")):
        text = table.read_text()
        name = table.relative_to(ROOT).as_posix()
        for match in re.finditer(r'^def\s+(\w+)\s*:\s*Pass<"([^"]+)"(.*?)^}', text, re.M | re.S):
            count += 1
            flag, body = match.group(2), match.group(3)
            stem = re.sub(r"^tile-(gpu-)?", "", flag)
            mine = [test for test in tests if re.fullmatch(rf"({re.escape(flag)}|{re.escape(stem)})(-[a-z0-9]+)*", test.stem)]
            if not mine:
                findings.append(f"{name}: P1: pass '{flag}' has no test file tests/**/{stem}.mlir")
            elif not any(flag in test.read_text() for test in mine):
                findings.append(f"{name}: P1: no test file of '{flag}' runs it")
            description = re.search(r"description\s*=\s*(?:\[\{(.*?)\}\]|\"(.*?)\")\s*;", body, re.S)
            words = (description.group(1) or description.group(2)).split() if description else []
            if len(words) < 8:
                findings.append(f"{name}: P2: the description of '{flag}' has {len(words)} words")
            elif "Needs:" not in words or "Gives:" not in words:
                findings.append(f"{name}: P2: the description of '{flag}' does not say 'Needs:' and 'Gives:'")
    return count


def check_rules(findings):
    rule = re.compile(r"\b([a-z][a-z_]*_c[0-9]+)\b")
    cited, described, tested = set(), set(), set()
    for path in (ROOT / "dialect").rglob("*.cpp"):
        cited |= set(re.findall(r'"([a-z][a-z_]*_c[0-9]+)[:"]', path.read_text()))
        cited |= set(re.findall(r'"([a-z][a-z_]*_c[0-9]+): ', path.read_text()))
    for path in (ROOT / "dialect").rglob("*.td"):
        described |= set(rule.findall(path.read_text()))
    for path in (ROOT / "tests" / "Dialect").glob("*.mlir"):
        tested |= set(re.findall(r"@([a-z][a-z_]*_c[0-9]+)", path.read_text()))
    for name in sorted(cited - tested - set(UNREACHABLE)):
        findings.append(f"tests/Dialect: P3: rule {name} has no negative test @{name}")
    for name in sorted(cited - described - set(UNREACHABLE) - {"view_c1"}):
        findings.append(f"dialect: P4: rule {name} is cited by a verifier but not described in a .td")
    ranges = set()
    for path in (ROOT / "dialect").rglob("*.td"):
        for prefix, first, last in re.findall(r"\b([a-z][a-z_]*_c)([0-9]+) to \1([0-9]+)", path.read_text()):
            ranges |= {f"{prefix}{i}" for i in range(int(first), int(last) + 1)}
    for name in sorted((described | ranges) - cited):
        findings.append(f"dialect: P4: rule {name} is described but no verifier cites it")
    return len(cited)


def main():
    findings = []
    passes, rules = check_passes(findings), check_rules(findings)
    for finding in findings:
        print(finding)
    print(f"passes: {passes} passes and {rules} rules, {len(findings)} findings")
    return 1 if findings or passes == 0 or rules == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
