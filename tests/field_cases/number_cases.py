"""A20 to A23: minima and maxima, sums of small types, fp8 conversions, offsets beyond 32 bits."""
import itertools
import re

from harness import TARGETS, In, Out, case, from_bf16_bits, np, to_bf16_bits

EXTREMA = """kernel extrema<T = f32, BLOCK = 32>(a: in T[N], b: in T[N], p: out T[N], q: out T[N], r: out T[N], s: out T[N])
  grid (i in 0..N by BLOCK)
{
  let (x, y) = (a[i +: BLOCK], b[i +: BLOCK])
  p[i +: BLOCK] = max(x, y)
  q[i +: BLOCK] = min(x, y)
  r[i +: BLOCK] = maxnum(x, y)
  s[i +: BLOCK] = minnum(x, y)
}
"""


def larger(x, y, sign, propagate):
    """The rule of docs/language.md R8.7: -0 is below +0; NaN wins, or loses against a number."""
    if np.isnan(x) or np.isnan(y):
        return np.nan if propagate or (np.isnan(x) and np.isnan(y)) else (y if np.isnan(x) else x)
    key = lambda v: (v, not np.signbit(v))
    return max(x, y, key=key) if sign > 0 else min(x, y, key=key)


@case("A20", "minima and maxima of NaN and zeros")
def a20(t):
    special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 65504.0, 2.0**-14]
    pairs = list(itertools.product(special, special)) + [(1.5, 2.5)] * 7  # 107 of them: blocks of 32 have a tail of 11
    for dtype in ("f16", "bf16", "f32", "f64"):
        kind = {"f16": np.float16, "f64": np.float64}.get(dtype, np.float32)
        a, b = (np.array([pair[i] for pair in pairs]).astype(kind) for i in range(2))
        if dtype == "bf16":
            a, b = from_bf16_bits(to_bf16_bits(a)), from_bf16_bits(to_bf16_bits(b))
        outputs = {name: Out(dtype, a.shape) for name in "pqrs"}
        one, other = (t.run(EXTREMA, "extrema", {"T": dtype}, {"a": In(dtype, x), "b": In(dtype, y), **outputs}) for x, y in ((a, b), (b, a)))
        for name, (function, sign, propagate) in zip("pqrs", (("max", 1, True), ("min", -1, True), ("maxnum", 1, False), ("minnum", -1, False))):
            expected = np.array([larger(x, y, sign, propagate) for x, y in zip(a.astype(np.float64), b.astype(np.float64))])
            found = [from_bf16_bits(x[name]).astype(np.float64) if dtype == "bf16" else x[name].astype(np.float64) for x in (one, other)]
            t.equal(f"{function} of {dtype}", found[0], expected)
            t.equal(f"{function} of {dtype}, exchanged", found[1], expected)


SUMS = """kernel sums<T: type, U: type, R: int, C: int>(x: in T[R, C], whole: out U[1], rows: out U[R]) grid (i in 0..1)
{
  whole[0] = sum(x[:, :])
  rows[:] = sum(x[:, :], axis = 1)
}
"""


@case("A21", "sums of booleans and small integers")
def a21(t):
    rng = np.random.default_rng(5763)
    data = {"bool": (np.ones((32, 32), bool), "i32"), "u8": (np.full((1, 2), 200), "u32"), "i8": (rng.integers(100, 128, (8, 64)), "i32"), "u16": (np.full((4, 40), 65535), "u32"),
            "i16": (rng.integers(-32768, -32000, (5, 100)), "i32"), "i32": (np.full((2, 3), 2**30), "i32")}
    for dtype, (x, wide) in data.items():
        kind = np.int32 if wide == "i32" else np.uint32
        source = SUMS.replace("T: type, U: type, ", "").replace("in T", f"in {dtype}").replace("out U", f"out {wide}")
        found = t.run(source, "sums", {"R": x.shape[0], "C": x.shape[1]}, {"x": In(dtype, x), "whole": Out(wide, (1,)), "rows": Out(wide, (x.shape[0],))})
        exact = lambda values: np.array([(int(v) + 2**31) % 2**32 - 2**31 if wide == "i32" else int(v) % 2**32 for v in values], np.int64).astype(kind)
        whole = [sum(int(v) for v in x.reshape(-1))]
        t.equal(f"{dtype}: the whole, {whole[0]}", found["whole"], exact(whole))
        t.equal(f"{dtype}: rows", found["rows"], exact([sum(int(v) for v in row) for row in x]))


NARROW = """kernel narrow<BLOCK = 1024>(x: in %s[N], s: out %s[N], e: out %s[N])
  grid (i in 0..N by BLOCK)
{
  s[i +: BLOCK] = %s(x[i +: BLOCK])
  e[i +: BLOCK] = %s(x[i +: BLOCK], overflow = ieee)
}
"""


def fp8_table(name):
    """(bias, mantissa bits, largest finite value) of a format, from its definition."""
    return {"f8e4m3": (7, 3, 448.0), "f8e5m2": (15, 2, 57344.0)}[name]


def to_fp8(x, name, ieee):
    """Bits: rounded to nearest even with exact arithmetic in float64; overflow to the largest number, or (ieee) to infinity, which e4m3 has as NaN."""
    bias, mantissa, largest = fp8_table(name)
    sign = np.where(np.signbit(x), 0x80, 0)
    magnitude = np.abs(np.where(np.isfinite(x), x, 0.0))
    exponent = np.maximum(np.floor(np.log2(np.maximum(magnitude, 2.0**-200))), 1 - bias)
    step = 2.0 ** (exponent - mantissa)  # every value of f16, bf16 and f32 is a multiple of nothing coarser that matters: the quotient is exact
    rounded = np.rint(magnitude / step) * step
    over = np.isinf(x) | (rounded > largest)
    held = np.where(over, largest, rounded)
    e = np.maximum(np.floor(np.log2(np.maximum(held, 2.0**-200))), 1 - bias)
    normal = held >= 2.0 ** (1 - bias)
    bits = np.where(normal, (e + bias) * 2**mantissa + held / 2.0 ** (e - mantissa) - 2**mantissa, held / 2.0 ** (1 - bias - mantissa)).astype(int)
    if ieee:
        bits = np.where(over, 0x7C if name == "f8e5m2" else 0x7F, bits)
    return np.where(np.isnan(x), -1, sign | bits)


@case("A22", "fp8 conversions in both modes")
def a22(t):
    every = np.arange(65536, dtype=np.uint16)
    edge = np.array([448.0, 449, 463.99997, 464, 464.00003, 480, 57344, 61439.996, 61440, 65536, 2.0**-9, 2.0**-10, 2.0**-10 * 1.0001, 2.0**-16, 2.0**-17, 2.0**-17 * 1.0001, 3.4e38, 1e-45],
                    np.float32)
    random = np.random.default_rng(5927).integers(0, 2**32, 20000, dtype=np.uint32).view(np.float32)
    with np.errstate(invalid="ignore"):
        sources = {"f16": (every, every.view(np.float16).astype(np.float64)), "bf16": (every, from_bf16_bits(every).astype(np.float64))}
        wide = np.concatenate([edge, -edge, [np.inf, -np.inf, np.nan, 0.0, -0.0], random]).astype(np.float32)
        sources["f32"] = (wide, wide.astype(np.float64))
    for source, (data, x) in sources.items():
        argument = In(source, data.view(np.float16) if source == "f16" else data)
        for name in ("f8e4m3", "f8e5m2"):
            found = t.run(NARROW % (source, name, name, name, name), "narrow", {}, {"x": argument, "s": Out(name, x.shape), "e": Out(name, x.shape)})
            for key, ieee in (("s", False), ("e", True)):
                bits = found[key].astype(int)
                nan = (bits & 0x7F) > 0x7C if name == "f8e5m2" else (bits & 0x7F) == 0x7F
                expected = to_fp8(x, name, ieee)
                expected = np.where((expected & 0x7F) == 0x7F, -1, expected) if name == "f8e4m3" else expected
                t.equal(f"{source} to {name}, {'ieee' if ieee else 'saturating'}", np.where(nan, -1, bits), expected)


OFFSET = """kernel offset(row: i32, stride: i32, y: out i64[N], z: out i32[M], x: in f32[R, C] = None)
  grid (i in 0..1)
{
  y[0] = i64(row) * i64(stride)
  y[1] = i64(row * stride)                   // i32 arithmetic wraps by its own rule
  if x != None { y[2] = i64(x[row, stride]) }
  z[0] = row * stride
}
"""
ROWS = """kernel rows(x: in u8[R, C], y: out u8[N], row: i32, column: i32)
  grid (i in 0..1)
{
  y[0] = x[row, column]
  y[1 +: 16] = x[row, column +: 16]
}
"""


@case("A23", "offsets beyond 32 bits")
def a23(t):
    for row, stride in ((524288, 8192), (3, 8192), (-524288, 8192)):
        found = t.run(OFFSET, "offset", {}, {"row": row, "stride": stride, "y": Out("i64", (2,)), "z": Out("i32", (1,))})
        wrapped = (row * stride + 2**31) % 2**32 - 2**31
        t.equal(f"{row} * {stride}", found["y"], np.array([row * stride, wrapped], np.int64))
        t.equal(f"{row} * {stride} in i32", found["z"], np.array([wrapped], np.int32))
    for target in TARGETS:
        # The row is a 32-bit value of run time, the stride has 64 bits: no 32-bit product may reach an address.
        text = t.ptx(ROWS, "--target", target, "--any-layout")
        t.that(f"addresses on {target}: products of 64 bits", re.search(r"mul\.(lo\.s64|wide\.[su]32)|mad\.(lo\.s64|wide\.[su]32)", text), "no 64-bit product")
        t.that(f"addresses on {target}: no product of 32 bits", not re.search(r"\b(mul|mad)\.lo\.[su]32", text), "a 32-bit product")
