#!/usr/bin/env python3
"""Checks attention_forward and attention_varlen against float64: causal with unequal lengths, grouped heads, ragged lengths, head sizes."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checking import ROUNDOFF, Checker, Input, Output, normal, np, rounded  # noqa: E402


def attention(q, k, v, scale, causal):
    """One head in float64.  Query row i stands at key position i + (M - N): the mask is aligned at the bottom right.  A row that sees no key
    gives 0 and lse = -inf."""
    n, m = q.shape[0], k.shape[0]
    scores = q @ k.T * scale
    if causal:
        scores = np.where(np.arange(m)[None, :] <= np.arange(n)[:, None] + (m - n), scores, -np.inf)
    top = scores.max(axis=1, initial=-np.inf)
    p = np.exp(scores - np.where(np.isinf(top), 0.0, top)[:, None])
    z = p.sum(axis=1)
    with np.errstate(divide="ignore"):
        return p / np.where(z == 0.0, 1.0, z)[:, None] @ v, np.where(z == 0.0, -np.inf, top + np.log(z))


checker = Checker(pathlib.Path(__file__).with_name("attention.tile"), __doc__)


def outputs(o, lse, dtype):
    """P is rounded to T before the second product (relative u each, so u of the largest |v| at most, here below 5), o once more."""
    u = ROUNDOFF[dtype]
    narrow = 0.0 if dtype == "f32" else u
    return {"o": Output(o, dtype, 4e-6 + 2.5 * narrow, 4e-6 + u), "lse": Output(lse, "f32", 1e-5, 2e-6)}


def dense(shape, dtype="f16", causal=False, tiles=None, name="", one_hot=False):
    batch, heads, groups, n, m, d = shape
    q, k, v = (rounded(normal(31 + i, *extents), dtype) for i, extents in enumerate([(batch, heads, n, d), (batch, groups, m, d), (batch, groups, m, d)]))
    if one_hot:  # the output then shows which keys were attended
        q, v = np.zeros_like(q), np.broadcast_to(np.eye(m, d), v.shape)
    scale = d ** -0.5
    scale32 = float(np.float32(scale))
    o, lse = np.zeros(q.shape), np.zeros(q.shape[:3])
    for b in range(batch):
        for h in range(heads):
            g = h // (heads // groups)
            o[b, h], lse[b, h] = attention(q[b, h], k[b, g], v[b, g], scale32, causal)
    bindings = {"causal": str(causal).lower(), **({} if dtype == "f16" else {"T": dtype}), **(tiles or {})}
    arguments = {"q": Input(q, dtype), "k": Input(k, dtype), "v": Input(v, dtype), **outputs(o, lse, dtype), "scale": repr(scale32)}
    title = f"{dtype} B{batch} H{heads}/{groups} {n}x{m} d{d}{' causal' if causal else ''} {name}"
    checker.run(title.strip(), "attention_forward", bindings, arguments)


def varlen(lengths, heads, groups, d, dtype="f16", causal=False, tiles=None):
    cu_q, cu_k = (np.cumsum([0] + [pair[i] for pair in lengths]) for i in range(2))
    q, k, v = (rounded(normal(41 + i, *extents), dtype) for i, extents in enumerate([(cu_q[-1], heads, d), (cu_k[-1], groups, d), (cu_k[-1], groups, d)]))
    scale32 = float(np.float32(d ** -0.5))
    o, lse = np.zeros(q.shape), np.zeros((heads, q.shape[0]))
    for s in range(len(lengths)):
        rows, columns = slice(cu_q[s], cu_q[s + 1]), slice(cu_k[s], cu_k[s + 1])
        for h in range(heads):
            g = h // (heads // groups)
            o[rows, h], lse[h, rows] = attention(q[rows, h], k[columns, g], v[columns, g], scale32, causal)
    bindings = {"causal": str(causal).lower(), **({} if dtype == "f16" else {"T": dtype}), **(tiles or {})}
    arguments = {"q": Input(q, dtype), "k": Input(k, dtype), "v": Input(v, dtype), "cu_q": Input(cu_q, "i32"), "cu_k": Input(cu_k, "i32"),
                 **outputs(o, lse, dtype), "scale": repr(scale32), "max_q": int(max([pair[0] for pair in lengths] + [0]))}
    title = f"{dtype} {'+'.join(f'{a}:{b}' for a, b in lengths)} H{heads}/{groups} d{d}{' causal' if causal else ''}"
    checker.run(title, "attention_varlen", bindings, arguments)


small = {"BN": 32, "BM": 32}
sizes = [64, 72, 80, 96, 128, 256]
if checker.quick:
    for d in sizes:
        dense((1, 2, 1, 35, 50, d), causal=d != 80, tiles=small)
    dense((1, 1, 1, 130, 140, 128), name="default tiles")
    dense((1, 2, 2, 33, 20, 64), dtype="f32", causal=True, tiles=small)
    dense((1, 2, 2, 33, 20, 64), dtype="bf16", causal=True, tiles=small)
    dense((1, 1, 1, 5, 2, 64), dtype="f32", causal=True, tiles=small, name="rows that see nothing", one_hot=True)
    dense((1, 1, 1, 9, 0, 64), tiles=small, name="no keys")
    dense((1, 1, 1, 0, 9, 64), tiles=small, name="no queries")
    varlen([(7, 33), (0, 5), (40, 40), (3, 0)], 2, 1, 64, causal=True, tiles=small)
else:
    for dtype in ["f16", "bf16", "f32"]:
        for d in sizes:
            for causal in [False, True]:
                dense((2, 4, 2, 75, 101, d), dtype, causal, small)
                dense((1, 2, 1, 101, 75, d), dtype, causal, small)
        for n, m in [(2, 5), (5, 2), (3, 128), (128, 3), (1, 77)]:
            dense((1, 1, 1, n, m, 128), dtype, True, small, "alignment of the mask", one_hot=True)
        dense((1, 8, 1, 40, 60, 64), dtype, True, small, "one key head for all")
        dense((1, 1, 1, 9, 0, 64), dtype, False, small, "no keys")
        dense((1, 1, 1, 0, 9, 64), dtype, False, small, "no queries")
        for causal in [False, True]:
            varlen([(7, 33), (0, 5), (40, 40), (3, 0), (65, 31), (1, 1)], 4, 2, 64, dtype, causal, small)
            varlen([(100, 100)], 2, 2, 128, dtype, causal, small)
            varlen([(0, 0), (0, 0)], 2, 2, 64, dtype, causal, small)
    for d in sizes:
        dense((1, 2, 1, 300, 270, d), "bf16", True, name="default tiles", tiles={"BN": 64, "BM": 64} if d == 256 else None)
    dense((1, 1, 1, 100, 100, 72), "f16", True, {"BN": 48, "BM": 80}, "tiles that are no powers of two")
sys.exit(checker.finish())
