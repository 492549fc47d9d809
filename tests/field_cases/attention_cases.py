"""A06, A24, A25: which keys a query sees."""
from harness import ROOT, In, Out, case, np

KERNELS = ROOT / "tests" / "acceptance" / "kernels.tile"
ATTENTION = ROOT / "examples" / "attention" / "attention.tile"
RNG = np.random.default_rng(39408)


@case("A06", "sliding window")
def a06(t):
    """Scores are equal (scale 0) and values one-hot: an output is 1 / count at the keys that were seen and 0 elsewhere."""
    length, depth = 37, 64
    q, k = (RNG.standard_normal((1, 1, length, depth)).astype(np.float32) for _ in range(2))
    v = np.eye(length, depth, dtype=np.float32)[None, None]
    rows, columns = np.arange(length)[:, None], np.arange(depth)[None, :]
    for window in (1, 2, 5, length - 1, length, length + 1):
        found = t.run(KERNELS, "attention_gemma", {"T": "f32", "D": depth, "BN": 16, "BM": 16},
                      {"q": In("f32", q), "k": In("f32", k), "v": In("f32", v), "o": Out("f32", (1, 1, length, depth)), "lse": Out("f32", (1, 1, length)),
                       "scale": "0.0", "cap": "30.0", "window": window})
        seen = (columns <= rows) & (rows - columns < window) & (columns < length)
        t.equal(f"keys seen with window {window}", found["o"][0, 0] > 0, seen)
        t.close(f"weights with window {window}", found["o"][0, 0], seen / seen.sum(axis=1, keepdims=True), 1e-6)
        t.close(f"log-sum-exp with window {window}", found["lse"][0, 0], np.log(seen.sum(axis=1)), 1e-6)


# One body for a mask of any kind: the mask is data.
MASKED = """kernel masked<T = f32, D: int, BN = 16, BM = 16>(q: in T[N, D], k: in T[M, D], v: in T[M, D], mask: in bool[N, M], o: out T[N, D], lse: out f32[N], scale: f32)
  grid (i in 0..N by BN)
{
  let qi = q[i +: BN, :]
  var acc = zeros(f32, [BN, D])
  var top = full(f32, [BN], -inf)
  var total = zeros(f32, [BN])
  for j in 0..M by BM {
    let s = where(mask[i +: BN, j +: BM], qi @ k[j +: BM, :].T * scale, -inf)
    let next = max(top, max(s, axis = 1))
    let safe = where(next == -inf, 0.0, next)
    let p = exp(s - safe[:, None])
    let alpha = exp(top - safe)
    total = total * alpha + sum(p, axis = 1)
    acc = acc * alpha[:, None] + T(p) @ v[j +: BM, :]
    top = next
  }
  let none = total == 0.0
  o[i +: BN, :] = T(where(none[:, None], 0.0, acc / where(none, 1.0, total)[:, None]))
  lse[i +: BN] = where(none, -inf, top + log(total))
}
"""


def softmax_rows(scores):
    """Rows of -inf alone give zeros and a log-sum-exp of -inf."""
    top = scores.max(axis=1, initial=-np.inf)
    safe = np.where(np.isneginf(top), 0.0, top)
    p = np.exp(scores - safe[:, None])
    z = p.sum(axis=1)
    with np.errstate(divide="ignore"):
        return p / np.where(z == 0, 1, z)[:, None], np.where(z == 0, -np.inf, safe + np.log(z))


@case("A24", "rows with every key masked")
def a24(t):
    n, m, scale = 40, 50, 0.125
    masks = {"first": np.arange(n) < 3, "in the middle": (np.arange(n) > 14) & (np.arange(n) < 20), "last": np.arange(n) >= 37, "the whole first tile": np.arange(n) < 16,
             "all": np.arange(n) >= 0}
    for depth in (64, 72):
        q, k, v = (RNG.standard_normal((rows, depth)).astype(np.float32) for rows in (n, m, m))
        for name, dead in masks.items():
            mask = RNG.random((n, m)) < 0.7
            mask[:, 5] = True
            mask[dead] = False
            p, lse = softmax_rows(np.where(mask, q.astype(np.float64) @ k.astype(np.float64).T * scale, -np.inf))
            found = t.run(MASKED, "masked", {"D": depth}, {"q": In("f32", q), "k": In("f32", k), "v": In("f32", v), "mask": In("bool", mask), "o": Out("f32", (n, depth)),
                                                           "lse": Out("f32", (n,)), "scale": scale})
            t.equal(f"d{depth}, {name}: zeros, exactly", found["o"][dead], np.zeros((int(dead.sum()), depth), np.float32))
            t.equal(f"d{depth}, {name}: log-sum-exp", found["lse"][dead], np.full(int(dead.sum()), -np.inf, np.float32))
            t.close(f"d{depth}, {name}: all rows", found["o"], p @ v.astype(np.float64), 1e-5)
            t.close(f"d{depth}, {name}: all log-sum-exps", found["lse"], lse, 1e-5)


@case("A25", "causal masks of unequal lengths")
def a25(t):
    """Aligned at the bottom right: query i stands at key i + (Tk - Tq).  Scores are equal and values one-hot."""
    depth = 128
    for n, m in ((2, 5), (5, 2), (3, 128), (128, 3), (1, 77)):
        q = np.zeros((1, 1, n, depth), np.float32)
        k = RNG.standard_normal((1, 1, m, depth)).astype(np.float32)
        v = np.eye(m, depth, dtype=np.float32)[None, None]
        found = t.run(ATTENTION, "attention_forward", {"T": "f32", "D": depth, "BN": 32, "BM": 32, "causal": True},
                      {"q": In("f32", q), "k": In("f32", k), "v": In("f32", v), "o": Out("f32", (1, 1, n, depth)), "lse": Out("f32", (1, 1, n)), "scale": "1.0"})
        rows, columns = np.arange(n)[:, None], np.arange(depth)[None, :]
        seen = (columns <= rows + (m - n)) & (columns < m)
        count = seen.sum(axis=1)
        t.equal(f"keys seen, {n} queries and {m} keys", found["o"][0, 0] > 0, seen)
        t.close(f"weights, {n} queries and {m} keys", found["o"][0, 0], seen / np.maximum(count, 1)[:, None], 1e-6)
        t.equal(f"the first {max(n - m, 0)} rows are zero", found["o"][0, 0][: max(n - m, 0)], np.zeros((max(n - m, 0), depth), np.float32))
        with np.errstate(divide="ignore"):
            t.close(f"log-sum-exp, {n} queries and {m} keys", found["lse"][0, 0], np.log(count), 1e-6)
