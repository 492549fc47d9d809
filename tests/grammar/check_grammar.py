#!/usr/bin/env python3
"""Holds docs/grammar.md against the parser and the programs.

    tests/grammar/check_grammar.py [--tessera build/bin/tessera] [--sentences 300] [--seed 1]

1. The page reads as EBNF: every name on a right side is a rule, every rule is used.
2. Every .tile file of the repository that the parser accepts is derived from the page.
3. Sentences derived at random are accepted by the parser.
4. The same sentences with one token removed, repeated, exchanged or replaced are accepted by the parser exactly if the page derives them.

A recognizer without preference: the set of ends of every rule at every place, memoized; no rule is left-recursive.  Syntax is what the codes T0001 to T0009 reject; what else is
wrong with a random sentence does not count here, as long as the tool ends by itself.  Standard library only.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "grammar.md"
CLASSES = {"NAME", "INTEGER", "FLOAT", "STRING", "NL"}
SYNTAX = {f"T000{i}" for i in range(1, 10)}
sys.setrecursionlimit(100000)


# The page.
def read_grammar(text):
    """name -> expression: ("word", text) | ("class", name) | ("rule", name) | ("sequence", [..]) | ("choice", [..]) | ("repeat", e) | ("optional", e)."""
    rules = {}
    for block in re.findall(r"^```ebnf\n(.*?)^```", text, re.M | re.S):
        for name, right in re.findall(r"^(\w+)\s*::=(.*(?:\n\s.*)*)", block, re.M):
            tokens = re.findall(r'"[^"]*"|\w+|[|()\[\]{}]', right)
            expression, rest = read_choice(tokens)
            if rest or name in rules:
                sys.exit(f"docs/grammar.md: rule '{name}' is malformed or defined twice")
            rules[name] = expression
    return rules


def read_choice(tokens):
    options = []
    while True:
        sequence = []
        while tokens and tokens[0] not in ("|", ")", "]", "}"):
            token, tokens = tokens[0], tokens[1:]
            if token in "([{":
                inner, tokens = read_choice(tokens)
                if not tokens or tokens[0] != {"(": ")", "[": "]", "{": "}"}[token]:
                    sys.exit("docs/grammar.md: a bracket is not closed")
                tokens = tokens[1:]
                sequence.append(inner if token == "(" else ("optional" if token == "[" else "repeat", inner))
            elif token[0] == '"':
                sequence.append(("word", token[1:-1]))
            else:
                sequence.append(("class" if token in CLASSES else "rule", token))
        options.append(sequence[0] if len(sequence) == 1 else ("sequence", sequence))
        if not tokens or tokens[0] != "|":
            return (options[0] if len(options) == 1 else ("choice", options)), tokens
        tokens = tokens[1:]


def parts(expression):
    kind, value = expression
    yield expression
    for inner in value if kind in ("sequence", "choice") else [value] if kind in ("repeat", "optional") else []:
        yield from parts(inner)


def mistakes(rules):
    used = {value for right in rules.values() for kind, value in parts(right) if kind == "rule"}
    return [f"'{name}' is no rule" for name in sorted(used - set(rules))] + [f"rule '{name}' is not used" for name in sorted(set(rules) - used - {"file"})]


# Tokens, as the page describes them.
RESERVED = set("kernel fn let var for while if else return break continue in by and or not true false None import requires grid with".split())
SIGNS = ["<<=", ">>=", "..", "+:", "=>", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "@=", "|=", "&=", "^="] + list("()[]{}<>,;:=+-*/%@|&^~.")
TOKEN = re.compile(r"(?P<FLOAT>\d[\d_]*(?:\.\d[\d_]*(?:[eE][+-]?\d[\d_]*)?|[eE][+-]?\d[\d_]*))|(?P<INTEGER>0[xX][0-9a-fA-F]+|\d[\d_]*)|(?P<NAME>[A-Za-z_]\w*)"
                   r'|(?P<STRING>"(?:\\.|[^"\\\n])*")|(?P<SIGN>' + "|".join(map(re.escape, SIGNS)) + ")", re.A)
GOES_ON_AFTER = set(SIGNS) - set(")]};>") | set("and or not in by let var for while if else fn kernel import requires grid with".split())
GOES_ON_BEFORE = {"else", "requires", "grid", "with", "{"}


class NoToken(Exception):
    pass


def tokenize(text):
    """[(kind, text)]; kind is WORD for reserved words and signs."""
    lines, place, found = [], 0, []  # found: (kind, text, whether it begins a line)
    text = re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*', lambda m: m.group(1) or "", text)
    newline = False
    while place < len(text):
        if text[place].isspace():
            newline |= text[place] == "\n"
            place += 1
            continue
        match = TOKEN.match(text, place)
        if not match:
            raise NoToken(text[place:place + 20])
        kind, word = match.lastgroup, match.group()
        found.append(("WORD" if kind == "SIGN" or word in RESERVED else kind, word, newline))
        newline, place = False, match.end()
    tokens, depth = [], [0]
    for kind, word, begins in found:
        last = tokens[-1][1] if tokens else ""
        if begins and tokens and depth[-1] == 0 and not (tokens[-1][0] == "WORD" and last in GOES_ON_AFTER) and not (kind == "WORD" and word in GOES_ON_BEFORE):
            tokens.append(("NL", "\n"))
        if kind == "WORD":
            if word in "([":
                depth[-1] += 1
            elif word in ")]":
                depth[-1] = max(0, depth[-1] - 1)
            elif word == "{":
                depth.append(0)
            elif word == "}" and len(depth) > 1:
                depth.pop()
        tokens.append((kind, word))
    return tokens + [("NL", "\n")]


# Recognizing.
class Recognizer:
    def __init__(self, rules, tokens):
        self.rules, self.tokens, self.memo, self.furthest = rules, tokens, {}, 0

    def accepts(self):
        return len(self.tokens) in self.rule("file", 0)

    def rule(self, name, at):
        key = (name, at)
        if key not in self.memo:
            self.memo[key] = frozenset()  # a left-recursive use finds nothing
            self.memo[key] = frozenset(self.ends(self.rules[name], at))
        return self.memo[key]

    def ends(self, expression, at):
        kind, value = expression
        if kind == "rule":
            return self.rule(value, at)
        if kind in ("word", "class"):
            if at < len(self.tokens):
                have, text = self.tokens[at]
                # Words of one place only are names, and stand for themselves where the page quotes them.
                if text == value and have in ("WORD", "NAME") if kind == "word" else have == value:
                    self.furthest = max(self.furthest, at + 1)
                    return {at + 1}
            return set()
        if kind == "sequence":
            here = {at}
            for inner in value:
                here = {end for start in here for end in self.ends(inner, start)}
            return here
        if kind == "choice":
            return {end for inner in value for end in self.ends(inner, at)}
        if kind == "optional":
            return {at} | set(self.ends(value, at))
        found, fresh = {at}, {at}
        while fresh:
            fresh = {end for start in fresh for end in self.ends(value, start)} - found
            found |= fresh
        return found


# Making sentences.
class Maker:
    def __init__(self, rules, seed):
        self.rules, self.random = rules, random.Random(seed)
        self.cost = {name: 99 for name in rules}
        for _ in rules:
            for name, right in rules.items():
                self.cost[name] = min(self.cost[name], 1 + self.cheapest(right))

    def cheapest(self, expression):
        kind, value = expression
        if kind == "rule":
            return self.cost[value]
        if kind == "sequence":
            return max(map(self.cheapest, value), default=0)
        return min(map(self.cheapest, value)) if kind == "choice" else 0

    def sentence(self, budget=60):
        self.left, self.names = self.random.randrange(20, budget * 4), 0
        return self.make(("rule", "file"), 0)

    def make(self, expression, depth):
        kind, value = expression
        if kind == "word":
            return [("WORD", value)]
        if kind == "class":
            self.left -= 1
            return [(value, {"NAME": lambda: self.random.choice("abcdefxyzTNMK") + self.random.choice(["", "1", "_s"]), "NL": lambda: "\n", "STRING": lambda: '"s.tile"',
                             "INTEGER": lambda: self.random.choice(["0", "1", "7", "64", "1_000", "0x1F", "18446744073709551615"]),
                             "FLOAT": lambda: self.random.choice(["0.5", "1e-5", "2.5e3", "1_0.0", "3E+2"])}[value]())]
        if kind == "rule":
            return self.make(self.rules[value], depth + 1)
        if kind == "sequence":
            return [token for inner in value for token in self.make(inner, depth)]
        tight = self.left <= 0 or depth > 60
        if kind == "choice":
            least = min(map(self.cheapest, value))
            few = tight or (depth > 12 and self.random.random() < 0.4)  # chains of signs and `not` would fill every sentence
            return self.make(self.random.choice([inner for inner in value if not few or self.cheapest(inner) == least]), depth)
        if kind == "optional":
            return self.make(value, depth) if not tight and self.random.random() < 0.35 else []
        result = []
        while not tight and self.left > 0 and self.random.random() < (0.8 if depth < 8 else 0.25):
            result += self.make(value, depth)
        return result


def spell(tokens):
    return re.sub(r" ?\n ?", "\n", " ".join(text for _, text in tokens)) + "\n"


def changed(tokens, picked):
    """One token removed, repeated, exchanged with its neighbour, or replaced by one of another place."""
    # Ends of lines stay where they are: the parser overlooks some that the page has no place for.
    while tokens[at := picked.randrange(len(tokens))][0] == "NL":
        pass
    action = picked.randrange(4)
    if action == 0:
        return tokens[:at] + tokens[at + 1:]
    if action == 1:
        return tokens[:at + 1] + tokens[at:]
    if action == 2 and at + 1 < len(tokens) and tokens[at + 1][0] != "NL":
        return tokens[:at] + [tokens[at + 1], tokens[at]] + tokens[at + 2:]
    return tokens[:at] + [picked.choice([token for token in tokens if token[0] != "NL"])] + tokens[at + 1:]


# The parser.
def syntax_errors(tessera, text):
    """The messages with codes of the lexer and the parser; None if the tool fell over."""
    with tempfile.NamedTemporaryFile("w", suffix=".tile") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([tessera, "check", "--json", file.name], capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1, 2):
        return None
    diagnostics = json.loads(done.stdout)["diagnostics"]
    return [f"{d['code']} {d['message']}" for d in diagnostics if d["code"] in SYNTAX]


#: what the parser decides by its next tokens, where the page has two derivations or its own words are names (the page's last paragraph)
BY_NEXT = re.compile(r"\[ None (?![,\]])|, None (?![,\]])|\b(?:static|reverse|temp|op|tune|pad|out|inout|accum)\b")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default=os.environ.get("TESSERA", str(ROOT / "build" / "bin" / "tessera")))
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rules = read_grammar(PAGE.read_text())
    wrong = [f"docs/grammar.md: {mistake}" for mistake in mistakes(rules)]
    passed = 0

    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.tile"], cwd=ROOT, capture_output=True).stdout.decode().split("\0")
    files = [ROOT / name for name in listed if name] or [path for path in ROOT.rglob("*.tile") if "build" not in path.parts[len(ROOT.parts):][0]]
    for path in files:
        if not path.exists():
            continue
        text = path.read_text()
        errors = syntax_errors(options.tessera, text)
        try:
            recognizer = Recognizer(rules, tokenize(text))
            derived = recognizer.accepts()
            near = " ".join(word for _, word in recognizer.tokens[max(0, recognizer.furthest - 8):recognizer.furthest + 2])
        except NoToken as problem:
            derived, near = False, str(problem)
        if derived != (errors == []):
            wrong.append(f"{path.relative_to(ROOT)}: the parser {'accepts' if errors == [] else 'rejects'} it ({errors}), the page {'derives' if derived else 'does not derive'} it, near: {near}")
        passed += 1

    maker, picked = Maker(rules, options.seed), random.Random(options.seed)
    work, skipped = [], 0
    while len(work) < 2 * options.sentences:
        tokens = maker.sentence()
        if len(tokens) > 600 or all(kind == "NL" for kind, _ in tokens):
            continue
        text = spell(tokens)
        if not BY_NEXT.search(re.sub(r"\b(op|tune) (?=\w)|: (out|inout|accum) (?=\w)|\bfor static |\bin reverse \(|\btemp \w+ :|[\[,] pad =", "", text)):
            work.append((text, True))
        for _ in range(5):
            text = spell(changed(tokens, picked))
            if BY_NEXT.search(text):
                skipped += 1
                continue
            try:
                work.append((text, Recognizer(rules, tokenize(text)).accepts()))
            except NoToken:
                work.append((text, False))
            break
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for (text, derived), errors in zip(work, pool.map(lambda one: syntax_errors(options.tessera, one[0]), work)):
            passed += 1
            if errors is None:
                wrong.append(f"the tool fell over:\n{text}")
            elif derived != (errors == []):
                wrong.append(f"the parser {'accepts' if errors == [] else 'rejects'} ({errors[:1]}), the page {'derives' if derived else 'does not derive'}:\n{text}")
    for message in wrong[:20]:
        print("WRONG " + message)
    accepted = sum(derived for _, derived in work)
    print(f"{len(files)} files, {len(work)} sentences, {accepted} of them derived, {len(work) - accepted} not")
    print(f"{passed - min(passed, len(wrong))} passed, {len(wrong)} failed")
    return 1 if wrong or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
