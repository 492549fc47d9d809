"""A01, A07, A09: matrix products that other compilers got wrong."""
from harness import TARGETS, In, Out, case, np

RNG = np.random.default_rng(1162)

CHAINED = """kernel chained<N: int, D: int>(q: in f16[N, D], k: in f16[N, D], v: in f16[N, D], t: out f16[N, N], o: out f16[N, D])
  grid (i in 0..1)
{
  let p = f16(q[:, :] @ k[:, :].T)
  t[:, :] = p
  o[:, :] = f16(p @ v[:, :])
}
"""


@case("A01", "chained products of small tiles")
def a01(t):
    for n in (16, 32, 64):
        for d in (16, 32, 64):
            q, k, v = (RNG.uniform(-0.5, 0.5, (n, d)).astype(np.float16) for _ in range(3))
            first = (q.astype(np.float64) @ k.astype(np.float64).T)
            second = first.astype(np.float16).astype(np.float64) @ v.astype(np.float64)
            for warps in (1, 4):
                found = t.run(CHAINED, "chained", {"N": n, "D": d}, {"q": In("f16", q), "k": In("f16", k), "v": In("f16", v), "t": Out("f16", (n, n)), "o": Out("f16", (n, d))},
                              ["--warps", str(warps)])
                t.close(f"{n}x{d} first product, {warps} warps", found["t"], first, 1e-2)
                t.close(f"{n}x{d} second product, {warps} warps", found["o"], second, 1e-2)


# The matrices stand in larger ones whose every other element is NaN: what a product reads past an edge would show.
RAGGED = """kernel ragged<BM = 64, BN = 64, BK = 32>(a: in f16[PM, PK], b: in f16[PK2, PN], c: out f32[M, N], k1: i64)
  grid (m in 0..M by BM, n in 0..N by BN)
{
  let (av, bv) = (a[0..M, 0..k1], b[0..k1, 0..N])
  var acc = zeros(f32, [BM, BN])
  for k in 0..k1 by BK { acc += av[m +: BM, k +: BK] @ bv[k +: BK, n +: BN] }
  c[m +: BM, n +: BN] = acc
}
"""


@case("A07", "ragged products beside NaN")
def a07(t):
    for m, n, k in ((1000, 999, 1001), (65, 63, 33), (1, 1, 1)):
        a, b = (RNG.integers(-4, 5, shape).astype(np.float16) for shape in ((m, k), (k, n)))
        wide_a, wide_b = np.full((m + 70, k + 39), np.nan, np.float16), np.full((k + 39, n + 70), np.nan, np.float16)
        wide_a[:m, :k], wide_b[:k, :n] = a, b
        # Small whole numbers: every sum is exact in f32, so that the order does not matter.
        found = t.run(RAGGED, "ragged", {}, {"a": In("f16", wide_a), "b": In("f16", wide_b), "c": Out("f32", (m, n)), "k1": k})
        t.equal(f"{m}x{n}x{k}", found["c"].astype(np.float64) + 0.0, a.astype(np.float64) @ b.astype(np.float64) + 0.0)


BATCHED = """kernel batched<L: int, M: int, K: int, N: int>(a: in f32[L, M, K], b: in f32[L, K, N], c: out f32[L, M, N])
  grid (i in 0..1)
{
  c[:, :, :] = %s
}
"""


@case("A09", "batched products in full f32")
def a09(t):
    exact, tf32 = BATCHED % "a[:, :, :] @ b[:, :, :]", BATCHED % "dot(a[:, :, :], b[:, :, :], precision = tf32)"
    for length in (1, 2, 4):
        for m, k, n in ((16, 16, 16), (16, 32, 16), (32, 16, 32), (32, 32, 32)):
            a, b = RNG.standard_normal((length, m, k)).astype(np.float32), RNG.standard_normal((length, k, n)).astype(np.float32)
            sizes = {"L": length, "M": m, "K": k, "N": n}
            arguments = {"a": In("f32", a), "b": In("f32", b), "c": Out("f32", (length, m, n))}
            expected = a.astype(np.float64) @ b.astype(np.float64)
            label = f"{length}x{m}x{k}x{n}"
            # tf32 keeps 10 bits of each factor; its error would not pass for that of f32.
            bound = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
            t.that(label, (np.abs(t.run(exact, "batched", sizes, arguments)["c"] - expected) <= (k + 1) * 2.0**-24 * bound).all(), "not within the error of f32")
            t.that(label + " tf32", (np.abs(t.run(tf32, "batched", sizes, arguments)["c"] - expected) <= (2.0**-9 + k * 2.0**-23) * bound).all(), "not within the error of tf32")
    for target in TARGETS:
        flags = ["--target", target] + [part for name, value in (("L", 2), ("M", 32), ("K", 16), ("N", 32)) for part in ("-D", f"{name}={value}")]
        t.that(f"no tensor core computes exact f32 on {target}", ".tf32." not in t.ptx(exact, *flags) and "mma.sync" not in t.ptx(exact, *flags), "mma in the PTX")
        t.that(f"tf32 is legal wherever exact f32 is, on {target}", ".tf32" in t.ptx(tf32, *flags), "no tf32 in the PTX")
