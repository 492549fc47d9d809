"""A02 to A05, A08, A12: what a program reads and writes, element by element."""
import re

from harness import TARGETS, In, Out, case, np

SCANS = """fn affine(a1, b1, a2, b2) => (a1 * a2, a2 * b1 + b2)
fn product(a, b, c, d, e, f, g, h) => (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)
kernel rows<R: int, L: int, AXIS: int>(a: in i64[R, L], b: in i64[R, L], c: out i64[R, L], d: out i64[R, L]) grid (i in 0..1)
{
  let (p, q) = scan((a[:, :], b[:, :]), AXIS, affine)
  c[:, :] = p
  d[:, :] = q
}
kernel line<L: int>(a: in i64[L], b: in i64[L], c: out i64[L], d: out i64[L]) grid (i in 0..1)
{
  let (p, q) = scan((a[:], b[:]), 0, affine)
  c[:] = p
  d[:] = q
}
kernel matrices<L: int>(x: in i64[4, L], y: out i64[4, L]) grid (i in 0..1)
{
  let (p, q, r, s) = scan((x[0, 0 +: L], x[1, 0 +: L], x[2, 0 +: L], x[3, 0 +: L]), 0, product)
  y[0, 0 +: L] = p
  y[1, 0 +: L] = q
  y[2, 0 +: L] = r
  y[3, 0 +: L] = s
}
"""


def wrap(x):
    """A Python integer as i64."""
    return (x + 2**63) % 2**64 - 2**63


def affine_scan(a, b):
    """Along the first axis, from left to right."""
    c, d = np.empty_like(a), np.empty_like(b)
    for column in range(a.shape[1]):
        x, y = 1, 0
        for i in range(a.shape[0]):
            x, y = wrap(x * int(a[i, column])), wrap(int(a[i, column]) * y + int(b[i, column]))
            c[i, column], d[i, column] = x, y
    return c, d


@case("A02", "scans by functions that do not commute")
def a02(t):
    rng = np.random.default_rng(2359)
    numbers = lambda *shape: rng.integers(-2**40, 2**40, shape)
    for length in (2, 3, 17, 64, 100, 1024):
        a, b = numbers(length, 1), numbers(length, 1)
        c, d = affine_scan(a, b)
        for warps in (1, 2, 4, 8):
            found = t.run(SCANS, "line", {"L": length}, {"a": In("i64", a[:, 0]), "b": In("i64", b[:, 0]), "c": Out("i64", (length,)), "d": Out("i64", (length,))}, ["--warps", str(warps)])
            t.equal(f"line of {length}, {warps} warps", np.stack([found["c"], found["d"]]), np.stack([c[:, 0], d[:, 0]]))
    for rows, columns in ((5, 32), (32, 5), (2, 128)):
        a, b = numbers(rows, columns), numbers(rows, columns)
        for axis in (0, 1):
            c, d = affine_scan(a, b) if axis == 0 else (x.T for x in affine_scan(a.T, b.T))
            for warps in (1, 4):
                found = t.run(SCANS, "rows", {"R": rows, "L": columns, "AXIS": axis}, {"a": In("i64", a), "b": In("i64", b), "c": Out("i64", a.shape), "d": Out("i64", a.shape)},
                              ["--warps", str(warps)])
                t.equal(f"{rows}x{columns} along {axis}, {warps} warps", np.stack([found["c"], found["d"]]), np.stack([c, d]))
    for length in (2, 33, 256):
        x = numbers(4, length)
        y, m = np.empty_like(x), None
        for i in range(length):
            e, f, g, h = (int(value) for value in x[:, i])
            m = (e, f, g, h) if m is None else tuple(wrap(value) for value in (m[0] * e + m[1] * g, m[0] * f + m[1] * h, m[2] * e + m[3] * g, m[2] * f + m[3] * h))
            y[:, i] = m
        for warps in (1, 8):
            found = t.run(SCANS, "matrices", {"L": length}, {"x": In("i64", x), "y": Out("i64", x.shape)}, ["--warps", str(warps)])
            t.equal(f"products of {length} 2x2 matrices, {warps} warps", found["y"], y)


GUARDED = """kernel guarded(index: in i32[N], out_: out i32[M], flag: i32)
  grid (p in 0..1)
{
  for i in 0..N {
    let at = index[i + iota(1), pad = -1]
    if flag > 0 { out_[at] = full(i32, [1], 1) * i32(i + 1) }
  }
}
"""


@case("A03", "a pipelined load used under a condition")
def a03(t):
    for count in (0, 1, 2, 3, 17):
        size = max(count, 1)
        index = np.random.default_rng(count).permutation(count).astype(np.int32)
        expected = np.full(size, -1, np.int32)
        expected[index] = np.arange(1, count + 1)
        for stages in (1, 2, 3, 4):
            found = t.run(GUARDED, "guarded", {}, {"index": In("i32", index), "out_": Out("i32", (size,)), "flag": 1}, ["--stages", str(stages)])
            t.equal(f"{count} elements, {stages} stages", found["out_"], expected)


TICKET = """kernel ticket(counter: inout i32[N], y: inout i32[R, 8])
  grid (i in 0..1)
{
  let row = atomic_add(counter[0 +: 1], 1)
  y[row[:, None], iota(8)] = full(i32, [1, 8], 2)
}
"""


@case("A04", "the value of an atomic reaches every lane")
def a04(t):
    expected = np.zeros((2, 8), np.int32)
    expected[1] = 2
    for warps in (1, 2, 4, 8):
        found = t.run(TICKET, "ticket", {}, {"counter": Out("i32", (1,), [1]), "y": Out("i32", (2, 8), np.zeros((2, 8)))}, ["--warps", str(warps)])
        t.equal(f"rows, {warps} warps", found["y"], expected)
        t.equal(f"added once, {warps} warps", found["counter"], np.array([2], np.int32))


PITCH = """kernel flat<BLOCK = 1024>(x: in f32[N], y: out f32[N])
  grid (i in 0..N by BLOCK)
{
  let at = i + iota(BLOCK)
  let (r, c) = (at / 1185, at % 1185)
  y[r * 1185 + c] = x[r * 1185 + c] * 2.0 + 1.0
}
kernel rows<BC = 256>(x: in f32[R, 1185], y: out f32[R, 1185])
  grid (r in 0..R by 4, c in 0..1185 by BC)
{
  y[r +: 4, c +: BC] = x[r +: 4, c +: BC] * 2.0 + 1.0
}
"""


@case("A05", "an odd row pitch")
def a05(t):
    x = np.random.default_rng(1330).integers(-1000, 1000, (5, 1185)).astype(np.float32)
    found = t.run(PITCH, "flat", {}, {"x": In("f32", x.reshape(-1)), "y": Out("f32", (x.size,))})
    t.equal("indices from a quotient and a remainder", found["y"], x.reshape(-1) * 2 + 1)
    found = t.run(PITCH, "rows", {}, {"x": In("f32", x), "y": Out("f32", x.shape)})
    t.equal("rows of 1185", found["y"], x * 2 + 1)
    for target in TARGETS:
        # Bases are multiples of 16 bytes, rows start anywhere: no access is wider than an element.
        text = t.ptx(PITCH, "-k", "rows", "--target", target, "--any-layout")
        wide = re.findall(r"\b(?:ld|st)\.global\S*\.v[248]\S*", text)
        t.that(f"rows on {target}: no wide access", not wide and "st.global" in text, wide[:3])
        text = t.ptx(PITCH, "-k", "flat", "--target", target)
        wide = re.findall(r"\bst\.global\S*\.v[248]\S*", text)
        t.that(f"computed indices on {target}: no wide store", not wide and "st.global" in text, wide[:3])


SPREAD = """kernel spread<W: int>(d: in f32[W], x: out f32[R, W])
  grid (r in 0..R by 8)
{
  x[r +: 8, :] = broadcast((d[:] * 2.0)[None, :], [8, W])
}
"""


@case("A08", "a row spread over columns that are no power of two")
def a08(t):
    for width in (24, 40, 48, 96, 16, 32, 64, 128):
        d = np.arange(width, dtype=np.float32) - 7
        found = t.run(SPREAD, "spread", {"W": width}, {"d": In("f32", d), "x": Out("f32", (11, width))})
        t.equal(f"width {width}", found["x"], np.broadcast_to(d * 2, (11, width)))
        for target in ("sm_80", "sm_90a", "sm_120a"):
            t.that(f"width {width} compiles for {target}", "st.global" in t.ptx(SPREAD, "-D", f"W={width}", "--target", target))


PARTS = """kernel parts(x: in f32[R, C], y: out f32[R, C])
  grid (r in 0..R by 4)
{
  let t = x[r +: 4, 0 +: 8]
  %s
}
"""


@case("A12", "a part of a tile that passes its end")
def a12(t):
    wrong = {"one dimension": ("let u = t[0, :]\n  y[r, 0 +: 6] = u[6 +: 6]", "8, found a part of start 6 and width 6"),
             "the second of two dimensions": ("y[r +: 4, 0 +: 6] = t[:, 6 +: 6]", "dimension 1 .*extent 8, found a part of start 6 and width 6"),
             "the first of two dimensions": ("y[r +: 4, 0 +: 8] = t[2 +: 4, :]", "dimension 0 .*extent 4, found a part of start 2 and width 4"),
             "a step": ("y[r +: 4, 0 +: 4] = t[:, 2 +: 4 by 2]", "dimension 1 .*extent 8, found a part of start 2"),
             "a single element": ("y[r, 0] = t[0, 8]", "dimension 1 .*extent 8")}
    for name, (statement, pattern) in wrong.items():
        code, _, errors = t.compile(PARTS % statement, "-o", "-")
        t.that(name + ": exit code", code == 1, f"exit code {code}")
        t.diagnosed(name, errors, r"program\.tile:\d+:\d+: error", pattern, "T0317")
    code, _, errors = t.compile(PARTS % "t[:, 6 +: 6] = full(f32, [4, 6], 7.0)", "-o", "-")
    t.diagnosed("a store to a part: tiles are values", errors, r"program\.tile:5:3: error", "T0212")
    code, _, errors = t.compile(PARTS % "y[r +: 4, 0 +: 2] = t[:, 6 +: 2]", "-o", "-")
    t.that("the last part that fits compiles", code == 0, errors)
