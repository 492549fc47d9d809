#!/usr/bin/env python3
"""Measures the largest error of every mathematical function, in units of the last place, on one device.

    tests/device/ulp.py --tessera build/bin/tessera --device cpu
    tests/device/ulp.py --device cuda:0 --stride 101        every 101st of the 2^32 arguments; 1 is all of them (needs numpy: minutes for each function)

f32 against the C library in double; f64 against decimal arithmetic of 40 digits.  Neither shares anything with the compiler.  Arguments: a comb through all bit patterns, values of
every size that people use, and the places where functions change their formula or leave the range.  A result counts as wrong where NaN, an infinity or the sign of a zero is not
what it must be; results below the normal range are a column of their own (a device may give 0 there, and exp2 and rsqrt may
read such arguments as 0: R8.9).  Prints the rows of the table in docs/accuracy.md; fails above 2 ulp.
"""
import argparse
import decimal
import functools
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    numpy = None

BOUND = 2.0
#: What a GPU has in hardware and may read arguments below the normal range as 0 (R8.9).
HARDWARE = ("exp2", "rsqrt")
FUNCTIONS32 = ["exp", "exp2", "log", "log2", "tanh", "erf", "sin", "cos", "sqrt", "rsqrt", "pow"]
FUNCTIONS64 = ["exp", "exp2", "log", "log2", "tanh", "erf", "sin", "cos", "sqrt", "rsqrt", "pow"]
SOURCE = """kernel test(x: in {t}[N], z: in {t}[N], y: out {t}[N]) grid (i in 0..N by 1024) {{
  let a = x[i +: 1024]
  let b = z[i +: 1024]
  y[i +: 1024] = where(b == 0.123, 0.0, {expression})
}}
"""
decimal.getcontext().prec = 40
decimal.getcontext().Emax, decimal.getcontext().Emin = 999999, -999999
INF, NAN = math.inf, math.nan


def or_special(compute, x, overflow=INF):
    try:
        return compute(x)
    except OverflowError:
        return overflow
    except (ValueError, decimal.InvalidOperation):
        return NAN


def power(x, y):
    try:
        return math.pow(x, y)
    except OverflowError:
        return -INF if x < 0 and y % 2 == 1 else INF
    except ValueError:  # 0 to a negative power, or a negative number to a fraction
        if x == 0:
            return math.copysign(INF, x) if y % 2 == 1 else INF
        return NAN


def log_like(compute):
    return lambda x: -INF if x == 0 else NAN if x < 0 or x != x else INF if x == INF else compute(x)


def root(x):
    return (math.copysign(INF, x) if x == 0 else NAN if x < 0 or x != x else 1 / math.sqrt(x)) if x != INF else 0.0


EXACT32 = {"exp": lambda x: or_special(math.exp, x), "exp2": lambda x: x if x != x else INF if x >= 1024 else 0.0 if x < -1074 else 2.0 ** x,
           "log": log_like(math.log), "log2": log_like(math.log2), "tanh": math.tanh, "erf": math.erf, "sin": lambda x: or_special(math.sin, x),
           "cos": lambda x: or_special(math.cos, x), "sqrt": lambda x: or_special(math.sqrt, x), "rsqrt": root}
LN2 = decimal.Decimal(2).ln()


def tanh_exactly(x):
    size = abs(x)
    if size < decimal.Decimal("1e-6"):  # the series; the next term is below 1e-40 of the first
        value = size - size ** 3 / 3 + 2 * size ** 5 / 15 - 17 * size ** 7 / 315
    else:
        e = (2 * size).exp()
        value = (e - 1) / (e + 1)
    return value if x >= 0 else -value


@functools.cache
def pi_to(digits):
    """Machin's formula."""
    with decimal.localcontext() as context:
        context.prec = digits + 10

        def arctan_inverse(n):
            total = term = decimal.Decimal(1) / n
            k = 1
            while abs(term) > decimal.Decimal(10) ** -(digits + 8):
                term /= -n * n
                k += 2
                total += term / k
            return total

        return 4 * (4 * arctan_inverse(5) - arctan_inverse(239))


def sine_exactly(x, quarter=0):
    """sin(x + quarter * pi/2): the quotient by pi/2 to as many digits as x has, then the series."""
    with decimal.localcontext() as context:
        context.prec = 60 + max(x.adjusted(), 0)
        half_pi = pi_to(400) / 2
        turns = (x / half_pi).to_integral_value()
        rest, turns = x - turns * half_pi, (int(turns) + quarter) % 4
        context.prec = 45
        rest = +rest
        total = term = rest if turns % 2 == 0 else decimal.Decimal(1)
        k = 1 if turns % 2 == 0 else 0
        while term and abs(term) > abs(total) * decimal.Decimal("1e-42"):
            term *= -rest * rest / ((k + 1) * (k + 2))
            k += 2
            total += term
        return -total if turns >= 2 else total


def erf_exactly(x):
    with decimal.localcontext() as context:
        context.prec = 60  # terms of the series reach e^36 before they fall
        total = term = x
        n = 0
        while term and abs(term) > abs(total) * decimal.Decimal("1e-44"):
            n += 1
            term *= -x * x / n
            total += term / (2 * n + 1)
        return 2 * total / pi_to(60).sqrt()


DECIMAL64 = {"erf": erf_exactly, "sin": sine_exactly, "cos": lambda x: sine_exactly(x, 1),
             "exp": lambda x: x.exp(), "exp2": lambda x: (x * LN2).exp(), "log": lambda x: x.ln(), "log2": lambda x: x.ln() / LN2, "tanh": tanh_exactly,
             "sqrt": lambda x: x.sqrt(), "rsqrt": lambda x: 1 / x.sqrt()}


def power64(x, y):
    """C's rules decide what is special; the rest is decimal."""
    special = power(x, y)
    if x != x or y != y or x in (0, 1, INF, -INF) or y in (0, INF, -INF) or special != special:
        return special
    exponent = decimal.Decimal(y) * decimal.Decimal(abs(x)).ln()
    if abs(exponent) > 800:
        return math.copysign(INF if exponent > 0 else 0.0, special)
    with decimal.localcontext() as context:
        context.prec = 60
        value = (decimal.Decimal(y) * decimal.Decimal(abs(x)).ln()).exp()
    return -value if x < 0 and y % 2 == 1 else value


def exact64(name, x):
    if x != x or (name in ("sin", "cos") and abs(x) == INF):
        return NAN
    if x == 0 and name in ("sin", "erf"):
        return x
    if name == "erf" and abs(x) > 7:
        return math.copysign(1.0, x)
    if name in ("log", "log2", "sqrt", "rsqrt"):
        if x < 0:
            return NAN
        if x == 0:
            return {"sqrt": x, "rsqrt": math.copysign(INF, x)}.get(name, -INF)
        if x == INF:
            return 0.0 if name == "rsqrt" else INF
    elif name == "tanh" and (x == 0 or abs(x) > 30):
        return x if x == 0 else math.copysign(1.0, x)
    elif name in ("exp", "exp2") and abs(x) > 1100:
        return INF if x > 0 else 0.0
    return DECIMAL64[name](decimal.Decimal(x))


def nearest32(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(INF, x)


def float32(bits):
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def arguments32(stride, picked):
    hard = [0.0, 0.5, 0.625, 0.925, 1.0, math.sqrt(0.5), math.sqrt(2), 2.0, 4.0, 0.78, math.pi / 4, math.pi / 2, math.pi, 2 * math.pi, 9.0, 16367173.0 * 2.0 ** 72, 88.72283, 88.7229,
            87.33654, 87.3366, 103.9721, 103.972, 126.0, 127.0, 127.99999, 128.0, 149.0, 150.0, 2.0 ** -12, 2.0 ** 24, 1e5]
    bits = [0, 1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000]
    for value in hard:
        at = struct.unpack("<I", struct.pack("<f", value))[0]
        bits += [max(at + d, 0) for d in range(-3, 4)]
    bits += [b | 0x80000000 for b in bits]
    values = [float32(b) for b in bits]
    for reach in (1.0, 10.0, 130.0, 1e5):
        values += [nearest32(picked.uniform(-reach, reach)) for _ in range(20000)]
    return values + ([float32(b) for b in range(0, 1 << 32, stride)] if not numpy or stride > 101 else [])


def arguments64(picked):
    values = [0.0, 5e-324, 2.0 ** -1022, 1.7976931348623157e308, INF, NAN, 1.0, 0.5, 2.0, 709.782712893384, 709.8, 744.9, 745.2, 1023.9999, 1024.0, 1074.0, 1075.0, 1 - 2.0 ** -53,
              1 + 2.0 ** -52, 1e-9, 22.0, 0.275, 0.78, math.pi / 4, 5.9215871957945065, 6.0, float.fromhex("0x1.6ac5b262ca1ffp849")]
    values += [picked.getrandbits(picked.randrange(1, 60)) * (math.pi / 2) for _ in range(2000)]
    values += [-v for v in values]
    for reach in (1.0, 3.0, 745.0, 1100.0):
        values += [picked.uniform(-reach, reach) for _ in range(3000)]
    values += [1 + picked.uniform(-1, 1) * 2.0 ** -picked.randrange(50) for _ in range(3000)]
    return values + [struct.unpack("<d", struct.pack("<Q", picked.getrandbits(64)))[0] for _ in range(6000)]


def powers32(picked, count):
    return [nearest32(picked.choice([picked.uniform(-20, 20), float(picked.randint(-9, 9))])) for _ in range(count)]


def powers64(picked):
    """Bases and exponents: special values among each other, results over the whole range, bases close to 1, negative ones to integers, any bits."""
    special = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e300, -1e300, 5e-324, INF, -INF, NAN, 2.0 ** 53, 1 + 2.0 ** -52, 1 - 2.0 ** -53]
    pairs = [(a, b) for a in special for b in special]
    for _ in range(4000):
        base = picked.uniform(1, 2) * 2.0 ** picked.randrange(-1022, 1023)
        pairs.append((base, picked.uniform(-1080, 1080) / math.log2(base)))
        base = 1 + picked.uniform(-0.5, 0.5) * 2.0 ** -picked.randrange(48)
        pairs.append((base, picked.uniform(-1080, 1080) / (math.log2(base) or 1e-16)))
        pairs.append((-picked.uniform(0, 4), float(picked.randrange(-500, 500))))
        pairs.append((picked.uniform(0, 10), picked.uniform(-20, 20)))
        pairs.append(struct.unpack("<dd", struct.pack("<QQ", picked.getrandbits(64), picked.getrandbits(64))))
    return [a for a, _ in pairs], [b for _, b in pairs]


def save(path, kind, data, count):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (kind, count)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


class Measure:
    """The largest errors so far; `digits` and `least` (exponent of the smallest normal number) of the format."""

    def __init__(self, digits, least):
        self.digits, self.least, self.ulp, self.tiny, self.wrong, self.flushed, self.at, self.wrong_at = digits, least, 0.0, 0.0, 0, 0, None, None

    def add(self, x, have, want):
        number = float(want)
        smallest = 2.0 ** (self.least - self.digits + 1)
        largest = (2 - 2.0 ** (1 - self.digits)) * 2.0 ** (1 - self.least)
        overflow = number == number and abs(number) >= largest + 2.0 ** (1 - self.least - self.digits) and self.digits < 53 or abs(number) == INF
        if number != number or overflow or abs(number) <= smallest / 2:
            good = have != have if number != number else have == math.copysign(INF, number) if overflow else abs(have) <= smallest and (
                have != 0 or math.copysign(1, have) == math.copysign(1, number) or (isinstance(want, decimal.Decimal) and number == 0))
            if not good:
                self.wrong, self.wrong_at = self.wrong + 1, self.wrong_at or x
            return
        exponent = max(math.frexp(number)[1] - self.digits, self.least - self.digits + 1)
        if abs(have) == INF or have != have:
            error = INF
        elif isinstance(want, decimal.Decimal):
            error = float(abs(decimal.Decimal(have) - want) / decimal.Decimal(2) ** exponent)
        else:
            error = abs(have - want) / 2.0 ** exponent
        if abs(number) < 2.0 ** self.least:
            if have == 0:
                self.flushed += 1
            else:
                self.tiny = max(self.tiny, error)
        elif error > self.ulp:
            self.ulp, self.at = error, x


class Runner:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def run(self, kind, name, x, z, count):
        """x, z: bytes of `count` numbers; the result's bytes."""
        letter = {"f32": "<f4", "f64": "<f8"}[kind]
        save(f"{self.folder}/x.npy", letter, x, count)
        save(f"{self.folder}/z.npy", letter, z, count)
        with open(f"{self.folder}/ulp.tile", "w") as file:
            file.write(SOURCE.format(t=kind, expression="pow(a, b)" if name == "pow" else f"{name}(a)"))
        done = subprocess.run([self.options.tessera, "run", f"{self.folder}/ulp.tile", "-k", "test", "--device", self.options.device, "--arg", f"x={self.folder}/x.npy", "--arg",
                               f"z={self.folder}/z.npy", "--arg", f"y=empty:{kind}:{count}", "--out", f"y={self.folder}/y.npy"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{name} of {kind}: {(done.stdout + done.stderr)[-800:]}")
        with open(f"{self.folder}/y.npy", "rb") as file:
            data = file.read()
        return data[10 + struct.unpack("<H", data[8:10])[0]:]

    def listed(self, kind, name, x, z):
        letter = {"f32": "f", "f64": "d"}[kind]
        pack = lambda list: struct.pack(f"<{len(list)}{letter}", *list)
        return struct.unpack(f"<{len(x)}{letter}", self.run(kind, name, pack(x), pack(z), len(x)))

    def comb(self, name, stride, measure):
        """All bit patterns at the stride, in pieces, with numpy; only what is normal and finite (the rest is among the listed arguments)."""
        exact = {"exp": numpy.exp, "exp2": numpy.exp2, "log": numpy.log, "log2": numpy.log2, "tanh": numpy.tanh, "sin": numpy.sin, "cos": numpy.cos, "sqrt": numpy.sqrt,
                 "rsqrt": lambda v: 1 / numpy.sqrt(v), "erf": numpy.vectorize(math.erf, otypes=[float])}[name]
        piece = (1 << 24) * stride
        for start in range(0, 1 << 32, piece):
            x = numpy.arange(start, min(start + piece, 1 << 32), stride, dtype=numpy.uint64).astype(numpy.uint32).view(numpy.float32)
            y = numpy.frombuffer(self.run("f32", name, x.tobytes(), x.tobytes(), len(x)), numpy.float32).astype(numpy.float64)
            with numpy.errstate(all="ignore"):
                want = exact(x.astype(numpy.float64))
                ok = numpy.isfinite(want) & ((abs(x) >= 2.0 ** -126) | (name not in HARDWARE)) & (abs(want) >= 2.0 ** -126) & (abs(want) < 2.0 ** 127.99)
                error = numpy.where(ok, abs(y - want) / numpy.exp2(numpy.frexp(want)[1] - 24.0), 0)
            error = numpy.where(numpy.isnan(error), INF, error)
            if (most := error.argmax()) is not None and error[most] > measure.ulp:
                measure.ulp, measure.at = float(error[most]), float(x[most])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/bin/tessera")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--stride", type=int, default=20011)
    options = parser.parse_args()
    picked = random.Random(3)
    failures = 0
    print(f"on {options.device}, every {options.stride}th argument and {len(arguments32(1 << 32, picked))} chosen ones\n")
    print("| function | type | ulp | ulp below the normal range | given as 0 there | wrong specials | worst at |\n|---|---|---|---|---|---|---|")
    x32, x64 = arguments32(options.stride, picked), arguments64(picked)
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options, folder)
        for kind, names in (("f32", FUNCTIONS32), ("f64", FUNCTIONS64)):
            for name in names:
                measure = Measure(24, -126) if kind == "f32" else Measure(53, -1022)
                x = x32 if kind == "f32" else x64
                z = [0.0] * len(x)
                if name == "pow":
                    x, z = (x32, powers32(picked, len(x32))) if kind == "f32" else powers64(picked)
                for a, b, y in zip(x, z, runner.listed(kind, name, x, z)):
                    if kind == "f32" and name in HARDWARE and 0 < abs(a) < 2.0 ** -126 and y == EXACT32[name](math.copysign(0.0, a)) != nearest32(EXACT32[name](a)):
                        measure.flushed += 1
                        continue
                    if name == "pow":
                        measure.add((a, b), y, power(a, b) if kind == "f32" else power64(a, b))
                    else:
                        measure.add(a, y, EXACT32[name](a) if kind == "f32" else exact64(name, a))
                if kind == "f32" and name != "pow" and numpy and options.stride <= 101:
                    runner.comb(name, options.stride, measure)
                at = measure.at if not isinstance(measure.at, tuple) else f"{measure.at[0]:.9g}, {measure.at[1]:.9g}"
                print(f"| {name} | {kind} | {measure.ulp:.2f} | {measure.tiny:.2f} | {measure.flushed} | {measure.wrong}{f' at {measure.wrong_at}' if measure.wrong else ''} | "
                      f"{at if isinstance(at, str) or at is None else f'{at:.17g}' if kind == 'f64' else f'{at:.9g}'} |", flush=True)
                failures += measure.ulp > BOUND or measure.tiny > BOUND or measure.wrong > 0
    print(f"\n{len(FUNCTIONS32) + len(FUNCTIONS64) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
