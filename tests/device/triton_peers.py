"""Triton kernels for the same work, written the plain way: one program a row, a blocked product, attention with an online softmax.  Peers of tools/bench-device.

Importing this fails where Triton is missing.  KERNELS[name](tensors...) gives the call to time.
"""
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax_kernel(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row + at, (e / tl.sum(e, axis=0)).to(tl.bfloat16), mask=at < columns)


@triton.jit
def norm_kernel(x, y, gamma, beta, columns, eps, CENTER: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    mask = at < columns
    v = tl.load(x + row + at, mask=mask, other=0.0).to(tl.float32)
    if CENTER:
        v = tl.where(mask, v - tl.sum(v, axis=0) / columns, 0.0)
    v = v * tl.rsqrt(tl.sum(v * v, axis=0) / columns + eps) * tl.load(gamma + at, mask=mask).to(tl.float32)
    if CENTER:
        v += tl.load(beta + at, mask=mask).to(tl.float32)
    tl.store(y + row + at, v.to(tl.bfloat16), mask=mask)


@triton.autotune(configs=[triton.Config({"BM": bm, "BN": bn, "BK": 64}, num_warps=w, num_stages=s)
                          for bm, bn, w in ((128, 128, 4), (128, 256, 8), (256, 128, 8)) for s in (3, 4)], key=["n"])
@triton.jit
def matmul_kernel(a, b, c, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # Groups of eight block rows share columns of b in the L2 cache.
    p, across, down = tl.program_id(0), n // BN, n // BM
    first = p // (8 * across) * 8
    height = tl.minimum(down - first, 8)
    i, j = first + p % (8 * across) % height, p % (8 * across) // height
    rows, cols, k = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa, pb = a + rows[:, None] * n + k[None, :], b + k[:, None] * n + cols[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, n, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * n
    tl.store(c + rows[:, None] * n + cols[None, :], acc.to(tl.bfloat16))


@triton.autotune(configs=[triton.Config({"BN": bn}, num_warps=w, num_stages=s) for bn in (64, 128) for w in (4, 8) for s in (2, 3)], key=["length", "CAUSAL"])
@triton.jit
def attention_kernel(q, k, v, o, length, scale, CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    base = tl.program_id(1).to(tl.int64) * length * D
    rows, d, cols = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    queries = tl.load(q + base + rows[:, None] * D + d[None, :])
    top, total, acc = tl.full((BM,), -float("inf"), tl.float32), tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    end = (tl.program_id(0) + 1) * BM if CAUSAL else length
    for j in range(0, end, BN):
        keys = tl.load(k + base + (j + cols)[None, :] * D + d[:, None])
        s = tl.dot(queries, keys) * (scale * 1.4426950408889634)
        if CAUSAL:
            s = tl.where(rows[:, None] >= (j + cols)[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        p, shrink = tl.exp2(s - new[:, None]), tl.exp2(top - new)
        total = total * shrink + tl.sum(p, axis=1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + base + (j + cols)[:, None] * D + d[None, :]), acc * shrink[:, None])
        top = new
    tl.store(o + base + rows[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


def _warps(block):
    return 4 if block <= 2048 else 8 if block <= 8192 else 16


def add(x, y, z):
    n = x.numel()
    return lambda: add_kernel[(triton.cdiv(n, 1024),)](x, y, z, n, BLOCK=1024)


def softmax(x, y):
    block = triton.next_power_of_2(x.shape[1])
    return lambda: softmax_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=block, num_warps=_warps(block))


def norm(center):
    def make(x, y, gamma, beta=None):
        block = triton.next_power_of_2(x.shape[1])
        return lambda: norm_kernel[(x.shape[0],)](x, y, gamma, beta if center else gamma, x.shape[1], 1e-5, CENTER=center, BLOCK=block, num_warps=_warps(block))
    return make


def matmul(a, b, c):
    n = a.shape[0]
    return lambda: matmul_kernel[lambda meta: (n // meta["BM"] * (n // meta["BN"]),)](a, b, c, n)


def attention(q, k, v, causal):
    import torch
    batch, heads, length, d = q.shape
    o = torch.empty_like(q)
    return lambda: attention_kernel[(length // 128, batch * heads)](q, k, v, o, length, d**-0.5, CAUSAL=causal, D=d, BM=128)


KERNELS = {"vector_add": add, "softmax": softmax, "layer_norm": norm(True), "rms_norm": norm(False), "matmul": matmul, "attention": attention}
