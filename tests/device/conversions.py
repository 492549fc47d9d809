#!/usr/bin/env python3
"""Every pair of element types, converted: exhaustively from 8- and 16-bit types, over edges and samples from wider ones; and the NaN rules of max and min.

    tests/device/conversions.py --tessera build/bin/tessera --device cuda:0 [--quick]

The reference is integer arithmetic on mantissas and exponents written here (R7.5, R8.7; field cases A20 and A22).  Standard library only.
"""
import argparse
import random
import struct
import subprocess
import sys
import tempfile

#: name -> bits, mantissa bits, bias, has infinity.  The largest e4m3 is 448; all ones is NaN.
FLOATS = {"f8e4m3": (8, 3, 7, False), "f8e5m2": (8, 2, 15, True), "f16": (16, 10, 15, True), "bf16": (16, 7, 127, True), "f32": (32, 23, 127, True), "f64": (64, 52, 1023, True)}
INTEGERS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
NPY = {"f8e4m3": ("|u1", "B"), "f8e5m2": ("|u1", "B"), "f16": ("<f2", "H"), "bf16": ("<u2", "H"), "f32": ("<f4", "I"), "f64": ("<f8", "Q"), "bool": ("|b1", "B")}
NPY.update({t: ((("<" if t[1:] != "8" else "|") + t[0] + str(int(t[1:]) // 8)), {"8": "B", "16": "H", "32": "I", "64": "Q"}[t[1:]]) for t in INTEGERS})
WIDTH = {**{t: int(t[1:]) for t in INTEGERS}, **{t: f[0] for t, f in FLOATS.items()}, "bool": 1}


def decode(kind, bits):
    """('nan',), ('inf', sign) or ('number', sign, m, e) with the value m * 2^e."""
    if kind == "bool":
        return "number", 0, bits & 1, 0
    if kind in INTEGERS:
        value = bits - (1 << WIDTH[kind]) if kind[0] == "i" and bits >> (WIDTH[kind] - 1) else bits
        return "number", int(value < 0), abs(value), 0
    width, mantissa, bias, infinity = FLOATS[kind]
    sign, size = bits >> (width - 1), bits & ((1 << (width - 1)) - 1)
    exponent, fraction = size >> mantissa, size & ((1 << mantissa) - 1)
    if infinity and exponent == (1 << (width - 1 - mantissa)) - 1:
        return ("nan",) if fraction else ("inf", sign)
    if not infinity and size == (1 << (width - 1)) - 1:
        return ("nan",)
    return ("number", sign, fraction, 1 - bias - mantissa) if exponent == 0 else ("number", sign, fraction | 1 << mantissa, exponent - bias - mantissa)


def encode(kind, number, ieee, saturate):
    """The bits that `kind(x)` gives, or 'nan' for any NaN."""
    if kind == "bool":
        return int(number[0] != "number" or number[2] != 0)
    width = WIDTH[kind]
    if kind in INTEGERS:
        low, high = (-(1 << width - 1), (1 << width - 1) - 1) if kind[0] == "i" else (0, (1 << width) - 1)
        if number[0] == "nan":
            return 0
        value = 1 << 2000 if number[0] == "inf" else number[2] << number[3] if number[3] >= 0 else number[2] >> -number[3] if number[3] > -4000 else 0
        value = -value if number[1] else value
        return (max(low, min(high, value)) if saturate else value) & ((1 << width) - 1)
    _, mantissa, bias, infinity = FLOATS[kind]
    eight, top = width == 8, 1 << (width - 1)
    largest = top - 2 if not infinity else (((1 << (width - 1 - mantissa)) - 1) << mantissa) - 1
    if number[0] == "nan":
        return "nan"
    sign = top if number[1] else 0
    over = "nan" if eight and ieee and not infinity else sign | (largest if eight and not ieee else largest + 1)
    if number[0] == "inf":
        return over
    _, _, m, e = number
    if m == 0:
        return sign
    least = 1 - bias - mantissa  # exponent of the smallest spacing
    target = max(m.bit_length() + e - mantissa - 1, least)
    shift = target - e
    if shift <= 0:
        q = m << -shift
    else:
        q, rest, half = m >> shift, m & ((1 << shift) - 1), 1 << (shift - 1)
        q += rest > half or (rest == half and q & 1)
    size = q + ((target - least) << mantissa)  # a carry into the exponent is what it looks like
    return over if size > largest else sign | size


def is_nan(kind, bits):
    return kind in FLOATS and decode(kind, bits) == ("nan",)


def sources(kind, quick, picked):
    width = WIDTH[kind]
    if kind == "bool":
        return [0, 1]
    if width <= 16:
        return list(range(1 << width))
    bits = [picked.getrandbits(width) for _ in range(2000 if quick else 20000)]
    if kind in INTEGERS:
        bits += [picked.getrandbits(width) >> picked.randrange(width) for _ in range(len(bits))]
        for target in (3, 4, 8, 11, 24, 53):  # just beside the middle between two neighbours
            for _ in range(200):
                if target + 1 < width:
                    middle = (picked.getrandbits(target) << 1 | 1) << picked.randrange(width - target)
                    bits += [(middle + d) & ((1 << width) - 1) for d in (-1, 0, 1)] + [(-middle + d) & ((1 << width) - 1) for d in (-1, 0, 1)]
        return bits + [(1 << k) + d & ((1 << width) - 1) for k in range(width) for d in (-1, 0, 1)] + [0, (1 << width) - 1]
    _, mantissa, bias, _ = FLOATS[kind]
    for name, (small, own, other, _) in FLOATS.items():  # every number of the 8-bit types, some of the 16-bit ones: middles to the next, and what lies beside
        if small > 16:
            continue
        for value in range(0, 1 << small, 1 if small == 8 else 37 if not quick else 1009):
            number = decode(name, value)
            if number[0] != "number":
                continue
            exact = encode(kind, number, False, False)
            middle = encode(kind, ("number", number[1], number[2] * 2 + 1, number[3] - 1), False, False)
            bits += [exact, middle, middle - 1, middle + 1]
    for k in range(-2, 66):
        for value in ((2, k), (3, k), ((1 << mantissa) + 1, k - mantissa), ((2 << mantissa) - 1, k - mantissa)):
            bits += [encode(kind, ("number", s, *value), False, False) for s in (0, 1)]
    top = 1 << (width - 1)
    return bits + [b | s for s in (0, top) for b in (0, 1, (1 << mantissa) - 1, 1 << mantissa, ((2 * bias + 1) << mantissa) - 1, (2 * bias + 1) << mantissa, ((2 * bias + 1) << mantissa) + 1)]


def save(path, kind, bits):
    descr, letter = NPY[kind]
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (descr, len(bits))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(bits)}{letter}", *bits))


class Tester:
    def __init__(self, options):
        self.options, self.passed, self.failed = options, 0, 0

    def launch(self, folder, source, inputs, output, count):
        with open(f"{folder}/c.tile", "w") as file:
            file.write(source)
        command = [self.options.tessera, "run", f"{folder}/c.tile", "-k", "test", "--device", self.options.device]
        for name, kind in inputs.items():
            command += ["--arg", f"{name}={folder}/{name}.npy" + (f":{kind}" if kind in ("bf16", "f8e4m3", "f8e5m2") else "")]
        done = subprocess.run(command + ["--arg", f"y=empty:{output}:{count}", "--out", f"y={folder}/y.npy"], capture_output=True, text=True)
        if done.returncode:
            return (done.stdout + done.stderr)[-500:]
        with open(f"{folder}/y.npy", "rb") as file:
            data = file.read()
        return struct.unpack(f"<{count}{NPY[output][1]}", data[10 + struct.unpack("<H", data[8:10])[0]:])

    def compare(self, name, kind, have, want, show):
        fault = have if isinstance(have, str) else next((f"{show(i)}: expected {w if isinstance(w, str) else hex(w)}, found {h:#x}" for i, (h, w) in enumerate(zip(have, want))
                                                         if not (is_nan(kind, h) if w == "nan" else h == w)), "")
        self.passed += not fault
        self.failed += bool(fault)
        if fault:
            print(f"{name}: FAILED {fault}")

    def conversion(self, folder, source, target, bits, numbers, modes):
        ieee, saturate = "ieee" in modes, "saturate" in modes or source in FLOATS
        text = f"kernel test(x: in {source}[N], y: out {target}[N]) grid (i in 0..N by 1024) {{\n  y[i +: 1024] = {target}(x[i +: 1024]{modes})\n}}\n"
        have = self.launch(folder, text, {"x": source}, target, len(bits))
        self.compare(f"{target}({source}{modes})", target, have, [encode(target, n, ieee, saturate) for n in numbers], lambda i: f"of {bits[i]:#x}")

    def extrema(self, folder, kind):
        width, mantissa, bias, _ = FLOATS[kind]
        top, infinity = 1 << (width - 1), (2 * bias + 1) << mantissa
        special = [b | s for b in (0, 1, bias << mantissa, infinity - 1, infinity, infinity + 1 | 1 << (mantissa - 1)) for s in (0, top)]
        a, b = [x for x in special for _ in special], special * len(special)
        order = lambda bits: -(bits - top) - 1 if bits & top else bits  # -0 below +0
        save(f"{folder}/a.npy", kind, a)
        save(f"{folder}/b.npy", kind, b)
        for name in ("max", "min", "maxnum", "minnum"):
            pick = max if name[:3] == "max" else min
            want = []
            for x, y in zip(a, b):
                nans = is_nan(kind, x) + is_nan(kind, y)
                want.append("nan" if nans == 2 or (nans and name[3:] == "") else y if is_nan(kind, x) else x if is_nan(kind, y) else pick(x, y, key=order))
            text = (f"kernel test(a: in {kind}[N], b: in {kind}[N], y: out {kind}[N]) grid (i in 0..N by 17) {{\n"
                    f"  y[i +: 17] = {name}(a[i +: 17], b[i +: 17])\n}}\n")
            self.compare(f"{name} of {kind}", kind, self.launch(folder, text, {"a": kind, "b": kind}, kind, len(a)), want, lambda i: f"of {a[i]:#x} and {b[i]:#x}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/bin/tessera")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    tester, picked = Tester(options), random.Random(22)
    with tempfile.TemporaryDirectory() as folder:
        for source in ["bool", *INTEGERS, *FLOATS]:
            bits = sources(source, options.quick, picked)
            numbers = [decode(source, b) for b in bits]
            save(f"{folder}/x.npy", source, bits)
            for target in ["bool", *INTEGERS, *FLOATS]:
                if target == source:
                    continue
                tester.conversion(folder, source, target, bits, numbers, "")
                if target in ("f8e4m3", "f8e5m2") and source in FLOATS:
                    tester.conversion(folder, source, target, bits, numbers, ", overflow = ieee")
                if source in INTEGERS and target in INTEGERS and WIDTH[target] <= WIDTH[source]:
                    tester.conversion(folder, source, target, bits, numbers, ", saturate = true")
        for kind in ("f16", "bf16", "f32", "f64"):
            tester.extrema(folder, kind)
    print(f"{tester.passed} passed, {tester.failed} failed")
    return 1 if tester.failed else 0


if __name__ == "__main__":
    sys.exit(main())
