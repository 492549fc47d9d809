#!/usr/bin/env python3
"""Control flow and shapes of tests/acceptance/language.tile beside the same loops in Python.

    tests/device/language.py --tessera build/bin/tessera [--device cuda:0] [--filter NAME]

Every value is an integer that its type holds exactly, so results must be equal.  Standard library only.
"""
import argparse
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "acceptance", "language.tile")
FORMATS = {"i32": ("<i4", "i"), "i64": ("<i8", "q"), "f32": ("<f4", "f")}


def save(path, dtype, shape, values):
    descr, letter = FORMATS[dtype]
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (descr, "".join(f"{extent}, " for extent in shape))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{letter}", *values))


def load(path, dtype):
    with open(path, "rb") as file:
        data = file.read()
    body = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return list(struct.unpack(f"<{len(body) // struct.calcsize(FORMATS[dtype][1])}{FORMATS[dtype][1]}", body))


def find(row, width):
    found, seen = -1, 0
    for k in range(0, len(row), width):
        t = row[k:k + width]
        seen += 1
        if any(e < 0 for e in t):
            continue
        if 0 in t:
            found = k + t.index(0)
            break
    return found, seen


def walk(row):
    at = total = 0
    while at < len(row):
        e = row[at]
        at += 1
        if e == -1:
            continue
        if e < 0:
            total += 100
            if e == -2:
                break
        total += max(j for j in range(at) if row[j] == e)
    return total


def unrolled(rows):
    """Four rows at a time; what the loop does not reach keeps the value of the output, 0."""
    out = [[0] * 8 for _ in rows]
    for first in range(0, len(rows), 4):
        block, total = range(first, min(first + 4, len(rows))), [0] * 4
        for k in range(8):
            if k == 5:
                continue
            if any(rows[r][k] == 7 for r in block):
                break
            for r in block:
                total[r - first] += rows[r][k]
                out[r][k] = total[r - first]
    return out


def series(a, b, m, k, n):
    acc, steps = [[0] * n for _ in range(m)], 0
    for start in range(0, k, 16):
        if max(abs(v) for row in acc for v in row) > 40:
            break
        for i in range(m):
            for j in range(n):
                acc[i][j] += sum(a[i * k + p] * b[p * n + j] for p in range(start, min(start + 16, k)))
        steps += 1
    return [v for row in acc for v in row], steps


def cases(picked):
    """Name, kernel, bindings, inputs and outputs (name -> type, shape, values); an output's values are what is expected."""
    numbers = lambda count, low, high: [picked.randint(low, high) for _ in range(count)]
    for rows, columns in ((1, 1), (9, 37), (33, 64)):
        x = numbers(rows * columns, -1, 30)
        split = [x[r * columns:(r + 1) * columns] for r in range(rows)]
        for width in (1, 8, 16):
            found = [find(row, width) for row in split]
            yield (f"find {rows}x{columns} by {width}", "find", [f"W={width}"], {"x": ("i32", (rows, columns), x)},
                   {"at": ("i64", (rows,), [f for f, _ in found]), "seen": ("i64", (rows,), [s for _, s in found])})
        x = numbers(rows * columns, -3, 12)
        yield (f"walk {rows}x{columns}", "walk", [], {"x": ("i32", (rows, columns), x)},
               {"y": ("i64", (rows,), [walk(x[r * columns:(r + 1) * columns]) for r in range(rows)])})
        x = numbers(rows * 8, 0, 40)
        yield (f"unrolled {rows}", "unrolled", [], {"x": ("i32", (rows, 8), x)},
               {"y": ("i32", (rows, 8), sum(unrolled([x[r * 8:r * 8 + 8] for r in range(rows)]), []))})
    for m, k, n in ((1, 1, 1), (32, 100, 32), (19, 161, 30)):
        a, b = numbers(m * k, -3, 3), numbers(k * n, -3, 3)
        values, steps = series(a, b, m, k, n)
        yield (f"series {m}x{k}x{n}", "series", [], {"a": ("f32", (m, k), a), "b": ("f32", (k, n), b)},
               {"y": ("f32", (m, n), values), "steps": ("i64", (1,), [steps])})


def leading(picked):
    """rows and blocks, on tensors of 0 to 4 leading dimensions, one of them empty."""
    for shape in ((), (1,), (5,), (3, 2), (2, 1, 3), (2, 2, 1, 2), (2, 0, 3)):
        count = math.prod(shape)
        for columns in (1, 37):
            x = [picked.randint(-50, 50) for _ in range(count * columns)]
            scale = [picked.randint(-3, 3) for _ in range(columns)]
            for factors in (None, scale):
                y = [v * (factors[i % columns] if factors else 1) for i, v in enumerate(x)]
                inputs = {"x": ("f32", (*shape, columns), x)} | ({"scale": ("f32", (columns,), scale)} if factors else {})
                yield (f"rows {shape} x {columns}{' scaled' if factors else ''}", "rows", [], inputs,
                       {"y": ("f32", (*shape, columns), y), "total": ("f32", shape, [sum(y[r * columns:(r + 1) * columns]) for r in range(count)])})
        x = [picked.randint(-50, 50) for _ in range(count * 48)]
        yield (f"blocks {shape}", "blocks", [], {"x": ("f32", (*shape, 2, 3, 8), x)},
               {"y": ("f32", (*shape, 2, 3, 8), [v - min(x[i // 8 * 8:i // 8 * 8 + 8]) for i, v in enumerate(x)])})


def run(options, kernel, bindings, inputs, outputs):
    with tempfile.TemporaryDirectory() as folder:
        command = [options.tessera, "run", PROGRAM, "-k", kernel, "--device", options.device]
        for binding in bindings:
            command += ["-D", binding]
        for name, (dtype, shape, values) in inputs.items():
            save(f"{folder}/{name}.npy", dtype, shape, values)
            command += ["--arg", f"{name}={folder}/{name}.npy"]
        for name, (dtype, shape, _) in outputs.items():
            command += ["--arg", f"{name}=zeros:{dtype}:{'x'.join(map(str, shape))}", "--out", f"{name}={folder}/{name}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode:
            return f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[:1000]}"
        for name, (dtype, shape, expected) in outputs.items():
            found = load(f"{folder}/{name}.npy", dtype)
            if len(found) != math.prod(shape):
                return f"{name} has {len(found)} elements, expected {math.prod(shape)}"
            bad = [i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]]
            if bad:
                return f"{len(bad)} of {len(found)} are wrong: {name}[{bad[0]}] = {found[bad[0]]!r}, expected {expected[bad[0]]!r}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/bin/tessera")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    passed = failed = 0
    picked = random.Random(11)
    for name, *case in [*cases(picked), *leading(picked)]:
        if options.filter not in name:
            continue
        problem = run(options, *case)
        passed, failed = passed + (problem is None), failed + (problem is not None)
        print(f"{'ok    ' if problem is None else 'FAILED'} {name}{'' if problem is None else ': ' + problem}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
