#!/usr/bin/env python3
"""Products of every element type, with and without a batch, against sums computed here.

    tests/device/products.py --tessera build/bin/tessera --device cuda:0 [--quick]

Extents are those that tiles of the machine do not like: 1, 2, 15, 17, 24 beside 16 and 32 and 64; both operands in both orders of memory.  Integers must be exact; floats within
the bound of any order of additions, |error| <= (K + 2) * eps * sum |a * b| of the sums' type (fp8 instructions keep fewer bits of a sum: 2^-13).
Standard library only.
"""
import argparse
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

KERNEL = """kernel product<L = 1, M = 16, K = 16, N = 16>(a: in {t}[{shape_a}], b: in {t}[{shape_b}], c: out {s}[L, M, N]) grid (i in 0..1) {{
  c[:, :, :] = dot(a[:, :, :]{ta}, b[:, :, :]{tb}{options})
}}
kernel chained<L = 1, M = 16, N = 16>(q: in f16[L, M, N], v: in f16[L, M, N], t: out f16[L, M, M], o: out f16[L, M, N]) grid (i in 0..1) {{
  let p = f16(q[:, :, :] @ q[:, :, :].T)
  t[:, :, :] = p
  o[:, :, :] = f16(p @ v[:, :, :])
}}
"""
#: operand type -> (sums, letter of struct or None for fp8 and bf16, unit roundoff of the sums)
TYPES = {"f16": ("f32", "e", 2.0 ** -23), "bf16": ("f32", None, 2.0 ** -23), "f32": ("f32", "f", 2.0 ** -23), "f64": ("f64", "d", 2.0 ** -52),
         "f8e4m3": ("f32", None, 2.0 ** -13), "f8e5m2": ("f32", None, 2.0 ** -13), "i8": ("i32", "b", 0), "u8": ("u32", "B", 0), "i16": ("i32", "h", 0),
         "i32": ("i32", "i", 0), "i64": ("i64", "q", 0)}
NPY = {"f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8", "f8e4m3": "|u1", "f8e5m2": "|u1", "i8": "|i1", "u8": "|u1", "i16": "<i2", "i32": "<i4", "u32": "<u4",
       "i64": "<i8", "u64": "<u8"}
LETTER = {"<f2": "e", "<u2": "H", "<f4": "f", "<f8": "d", "|u1": "B", "|i1": "b", "<i2": "h", "<i4": "i", "<u4": "I", "<i8": "q", "<u8": "Q"}


def narrow(bits, mantissa, bias):
    """The value of an fp8 or bf16 number without its sign bit, NaN and infinities left out by the caller."""
    exponent, fraction = bits >> mantissa, bits & ((1 << mantissa) - 1)
    if exponent == 0:
        return math.ldexp(fraction, 1 - bias - mantissa)
    return math.ldexp((1 << mantissa) + fraction, exponent - bias - mantissa)


def draw(kind, count, picked):
    """Random values and what is written to the file."""
    if kind in ("f8e4m3", "f8e5m2", "bf16"):
        mantissa, bias, sign, top = {"f8e4m3": (3, 7, 0x80, 0x50), "f8e5m2": (2, 15, 0x80, 0x48), "bf16": (7, 127, 0x8000, 0x4080)}[kind]
        low = 0 if sign == 0x80 else 0x3C00
        stored = [picked.randrange(low, top) | (sign if picked.random() < 0.5 else 0) for _ in range(count)]
        return [(-1 if x & sign else 1) * narrow(x & (sign - 1), mantissa, bias) for x in stored], stored
    if kind[0] == "f":
        letter = "<" + LETTER[NPY[kind]]
        values = [struct.unpack(letter, struct.pack(letter, picked.uniform(-2, 2)))[0] for _ in range(count)]
        return values, values
    bits = int(kind[1:])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "i" else (0, (1 << bits) - 1)
    values = [picked.choice([low, high, picked.randint(low, high)]) for _ in range(count)]
    return values, values


def save(path, kind, shape, values):
    descr = NPY[kind]
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{LETTER[descr]}", *values))


def load(path, kind):
    with open(path, "rb") as file:
        data = file.read()
    start, letter = 10 + struct.unpack("<H", data[8:10])[0], LETTER[NPY[kind]]
    return struct.unpack(f"<{(len(data) - start) // struct.calcsize('<' + letter)}{letter}", data[start:])


class Tester:
    def __init__(self, options):
        self.options, self.passed, self.failed = options, 0, 0
        self.picked = random.Random(20)

    def launch(self, folder, source, kernel, bindings, inputs, outputs):
        path = f"{folder}/product.tile"
        with open(path, "w") as file:
            file.write(source)
        command = [self.options.tessera, "run", path, "-k", kernel, "--device", self.options.device]
        for name, value in bindings.items():
            command += ["-D", f"{name}={value}"]
        for name, (kind, shape, stored) in inputs.items():
            save(f"{folder}/{name}.npy", kind, shape, stored)
            command += ["--arg", f"{name}={folder}/{name}.npy" + (f":{kind}" if kind in ("bf16", "f8e4m3", "f8e5m2") else "")]
        for name, (kind, shape) in outputs.items():
            command += ["--arg", f"{name}=empty:{kind}:{'x'.join(map(str, shape))}", "--out", f"{name}={folder}/{name}.npy"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return (done.stdout + done.stderr)[-600:]
        return {name: load(f"{folder}/{name}.npy", kind) for name, (kind, _) in outputs.items()}

    def report(self, name, fault):
        self.passed += not fault
        self.failed += bool(fault)
        if fault:
            print(f"{name}: FAILED {fault}")

    def product(self, kind, l, m, k, n, left, right, sums=None, precision=None):
        own, _, eps = TYPES[kind]
        sums = sums or own
        if precision == "tf32":
            eps = 2.0 ** -10
        elif sums == "f16":
            eps = 2.0 ** -10
        elif sums == "f64":
            eps = 2.0 ** -52
        shape_a, shape_b = ("L, M, K", "L, K, N") if not (left or right) else ("L, K, M" if left else "L, M, K", "L, N, K" if right else "L, K, N")
        options = (f", precision = {precision}" if precision else "") + (f", acc = {sums}" if sums != own else "")
        source = KERNEL.format(t=kind, s=sums, shape_a=shape_a, shape_b=shape_b, ta=".T" if left else "", tb=".T" if right else "", options=options)
        a, stored_a = draw(kind, l * m * k, self.picked)
        b, stored_b = draw(kind, l * k * n, self.picked)
        with tempfile.TemporaryDirectory() as folder:
            result = self.launch(folder, source, "product", {"L": l, "M": m, "K": k, "N": n},
                                 {"a": (kind, (l, k, m) if left else (l, m, k), stored_a), "b": (kind, (l, n, k) if right else (l, k, n), stored_b)},
                                 {"c": (sums, (l, m, n))})
        name = f"{kind}{options} {l}x{m}x{k}x{n} {'T' if left else '-'}{'T' if right else '-'}"
        if isinstance(result, str):
            return self.report(name, result)
        fault, worst = "", 0.0
        for i in range(l * m * n):
            x, rest = divmod(i, m * n)
            y, z = divmod(rest, n)
            pairs = [(a[x * m * k + (q * m + y if left else y * k + q)], b[x * k * n + (z * k + q if right else q * n + z)]) for q in range(k)]
            have = result["c"][i]
            if eps == 0:
                width = int(sums[1:])
                want = sum(p * q for p, q in pairs) % (1 << width)
                if have % (1 << width) != want:
                    fault = f"at {i}: expected {want}, found {have}"
                    break
                continue
            want, size = math.fsum(p * q for p, q in pairs), math.fsum(abs(p * q) for p, q in pairs)
            bound = (k + 2) * eps * size if sums != "f16" else (k + 2) * eps * size + 2.0 ** -24
            if not abs(have - want) <= bound:
                fault = f"at {i}: expected {want}, found {have}, bound {bound}"
                break
        self.report(name, fault)

    def chain(self, l, m, n):
        """A01: the first product's store and the second product, which reads it, are both right."""
        q, _ = draw("f16", l * m * n, self.picked)
        v, _ = draw("f16", l * m * n, self.picked)
        source = KERNEL.format(t="f16", s="f32", shape_a="L, M, K", shape_b="L, K, N", ta="", tb="", options="")
        with tempfile.TemporaryDirectory() as folder:
            result = self.launch(folder, source, "chained", {"L": l, "M": m, "N": n}, {"q": ("f16", (l, m, n), q), "v": ("f16", (l, m, n), v)},
                                 {"t": ("f16", (l, m, m)), "o": ("f16", (l, m, n))})
        name = f"chained {l}x{m}x{n}"
        if isinstance(result, str):
            return self.report(name, result)
        fault = ""
        for x in range(l):
            for y in range(m):
                for z in range(m):
                    want = math.fsum(q[(x * m + y) * n + d] * q[(x * m + z) * n + d] for d in range(n))
                    if not abs(result["t"][(x * m + y) * m + z] - want) <= 2.0 ** -10 * max(1, abs(want)):
                        fault = f"t at {x, y, z}: expected {want}, found {result['t'][(x * m + y) * m + z]}"
                for d in range(n):
                    row = [(result["t"][(x * m + y) * m + z], v[(x * m + z) * n + d]) for z in range(m)]
                    want, size = math.fsum(p * r for p, r in row), math.fsum(abs(p * r) for p, r in row)
                    if not abs(result["o"][(x * m + y) * n + d] - want) <= 2.0 ** -10 * abs(want) + m * 2.0 ** -23 * size:
                        fault = f"o at {x, y, d}: expected {want}, found {result['o'][(x * m + y) * n + d]}"
        self.report(name, fault)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/bin/tessera")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--quick", action="store_true")
    tester = Tester(parser.parse_args())
    shapes = [(1, 16, 32, 16), (2, 1, 2, 15), (4, 17, 24, 33)] if tester.options.quick else [
        (1, 16, 32, 16), (1, 1, 1, 1), (2, 1, 2, 15), (4, 17, 24, 33), (2, 32, 15, 17), (3, 24, 64, 40), (4, 16, 16, 32), (8, 8, 17, 8), (1, 64, 64, 64)]
    for kind in TYPES:
        for shape in shapes:
            for left in (False, True):
                for right in (False, True):
                    if not tester.options.quick or left == right:
                        tester.product(kind, *shape, left, right)
    for shape in shapes:
        tester.product("f32", *shape, False, False, precision="tf32")
        tester.product("f32", *shape, True, False, precision="tf32")
        tester.product("f16", *shape, False, False, sums="f16")
        tester.product("f32", *shape, False, True, sums="f64")
        tester.product("i8", *shape, False, False, sums="i64")
    for l in (1, 2):
        for m, n in ((16, 16), (32, 32), (64, 64), (16, 64), (64, 16), (24, 40)):
            tester.chain(l, m, n)
    print(f"{tester.passed} passed, {tester.failed} failed")
    return 1 if tester.failed else 0


if __name__ == "__main__":
    sys.exit(main())
