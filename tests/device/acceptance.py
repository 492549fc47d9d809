#!/usr/bin/env python3
"""Runs kernels of the acceptance programs on a device and compares them with float64 references computed here.

    tests/device/acceptance.py --tessera build/bin/tessera --device cuda:0 [--filter NAME] [--quick]

Every case draws fresh random data, poisons outputs, and states its tolerance.  Prints a line for each case and `N passed, N failed`.
"""
import argparse, os, subprocess, sys, tempfile
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "acceptance", "kernels.tile")
rng = np.random.default_rng(int.from_bytes(os.urandom(4), "little"))


def to_bf16(x):
    """Nearest-even bits of bf16."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


class Array:
    """A tensor of one of the language's types, as float64 values and as the bytes on disk."""

    def __init__(self, values, dtype):
        self.dtype = dtype
        if dtype == "bf16":
            self.raw = to_bf16(values)
            self.values = from_bf16(self.raw).astype(np.float64).reshape(np.shape(values))
        else:
            kind = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}[dtype]
            self.raw = np.ascontiguousarray(np.asarray(values).astype(kind))
            self.values = self.raw.astype(np.float64) if dtype[0] == "f" else self.raw


def randn(dtype, *shape):
    return Array(rng.standard_normal(shape), dtype)


class Runner:
    def __init__(self, args):
        self.args, self.passed, self.failed = args, 0, 0

    def run(self, kernel, bindings, inputs, scalars, outputs, fill="empty"):
        """Returns the outputs as float64; outputs: name -> (dtype, shape).  An output that is an input too is updated in place."""
        with tempfile.TemporaryDirectory() as folder:
            command = [self.args.tessera, "run", KERNELS, "-k", kernel, "--device", self.args.device]
            for name, value in bindings.items():
                command += ["-D", f"{name}={value}"]
            for name, array in inputs.items():
                path = os.path.join(folder, name + ".npy")
                np.save(path, array.raw)
                command += ["--arg", f"{name}={path}" + (":bf16" if array.dtype == "bf16" else "")]
            for name, value in scalars.items():
                command += ["--arg", f"{name}={value}"]
            for name, (dtype, shape) in outputs.items():
                if name not in inputs:
                    command += ["--arg", f"{name}={fill}:{dtype}:{'x'.join(map(str, shape))}"]
                command += ["--out", f"{name}={folder}/{name}.out.npy"]
            if self.args.extra:
                command += self.args.extra.split()
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()[:2000]}")
            results = {}
            for name, (dtype, shape) in outputs.items():
                raw = np.load(f"{folder}/{name}.out.npy")
                results[name] = from_bf16(raw.view(np.uint16)).astype(np.float64).reshape(shape) if dtype == "bf16" else raw.astype(np.float64)
            return results

    def case(self, label, kernel, bindings, inputs, scalars, outputs, reference, rtol, atol, fill="empty", nan_rows=None):
        """`nan_rows`: where a result must be NaN; elsewhere it must not be.  Without it, NaN in a reference is not compared."""
        if self.args.filter and self.args.filter not in label:
            return
        try:
            results = self.run(kernel, bindings, inputs, scalars, outputs, fill)
            worst, where = 0.0, ""
            for name in outputs:
                expected = np.broadcast_to(reference[name], outputs[name][1])
                got = results[name]
                both = np.isnan(expected) | (expected == got)  # NaN in a reference: this output is not compared
                with np.errstate(invalid="ignore"):
                    error = np.where(both, 0.0, np.abs(got - expected))
                    allowed = atol + rtol * np.abs(np.where(np.isfinite(expected), expected, 0))
                error = np.where(np.isnan(error), np.inf, error)
                ratio = float(np.max(error / allowed)) if error.size else 0.0
                if ratio >= worst:
                    worst, where = ratio, name
                if nan_rows is not None and not np.array_equal(np.isnan(got), np.broadcast_to(nan_rows, got.shape)):
                    worst, where = np.inf, name + " (NaN in the wrong places)"
            good = worst <= 1.0
            print(f"{'ok  ' if good else 'FAIL'} {label:58s} worst error {worst:8.3f} of the tolerance in {where}", flush=True)
        except Exception as problem:
            good = False
            print(f"FAIL {label:58s} {problem}", flush=True)
        self.passed += good
        self.failed += not good


TOL = {"f32": (2e-5, 2e-5), "f16": (2e-3, 2e-3), "bf16": (1.2e-2, 1.2e-2)}


def softmax(x):
    with np.errstate(invalid="ignore"):
        top = np.max(x, axis=-1, keepdims=True)
        e = np.exp(x - np.where(np.isfinite(top), top, 0))
        return e / e.sum(-1, keepdims=True)


def attention(q, k, v, scale, causal):
    """Bottom-right aligned; rows without a key are 0 with log-sum-exp -inf."""
    s = np.einsum("nd,md->nm", q, k) * scale
    n, m = s.shape
    if causal:
        s = np.where(np.arange(m)[None, :] <= np.arange(n)[:, None] + (m - n), s, -np.inf)
    top = s.max(axis=1, initial=-np.inf)
    safe = np.where(np.isfinite(top), top, 0)
    p = np.exp(s - safe[:, None])
    z = p.sum(axis=1)
    with np.errstate(divide="ignore"):
        return np.where(z[:, None] > 0, p @ v / np.where(z > 0, z, 1)[:, None], 0), np.where(z > 0, safe + np.log(np.where(z > 0, z, 1)), -np.inf)


def softmax_cases(r):
    for kernel in ("softmax_row", "softmax_online", "softmax_three"):
        for dtype in ("f32", "bf16", "f16"):
            for rows, columns in ((5, 37), (4, 1024), (7, 1000), (3, 1), (1, 2049)):
                if r.args.quick and (rows, columns) not in ((5, 37), (7, 1000)):
                    continue
                x = randn(dtype, rows, columns)
                # Inputs f32; results between 0 and 1.
                r.case(f"{kernel} {dtype} {rows}x{columns}", kernel, {}, {"x": x}, {}, {"y": (dtype, (rows, columns))}, {"y": softmax(x.values)}, TOL[dtype][0], TOL[dtype][1] / 10)


def matmul_cases(r):
    for dtype in ("f32", "bf16", "f16"):
        for l, m, k, n in ((1, 128, 64, 256), (2, 37, 53, 29), (1, 130, 200, 264), (1, 1, 1, 1), (1, 300, 40, 72)):
            a, b = randn(dtype, l, m, k), randn(dtype, l, k, n)
            r.case(f"matmul {dtype} {l}x{m}x{k}x{n}", "matmul", {}, {"a": a, "b": b}, {}, {"c": (dtype, (l, m, n))}, {"c": a.values @ b.values}, TOL[dtype][0], TOL[dtype][1] * np.sqrt(k))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def linear_cases(r):
    for dtype in ("f32", "bf16"):
        for batch, inputs, outs in ((37, 53, 29), (128, 64, 256), (200, 136, 80)):
            x, w, bias, dy, pre = randn(dtype, batch, inputs), randn(dtype, outs, inputs), randn(dtype, outs), randn(dtype, batch, outs), randn(dtype, batch, outs)
            rt, at = TOL[dtype]
            z = x.values @ w.values.T
            r.case(f"linear_forward {dtype} {batch},{inputs},{outs} plain", "linear_forward", {}, {"x": x, "w": w}, {}, {"y": (dtype, (batch, outs))}, {"y": z}, rt, at * np.sqrt(inputs))
            r.case(f"linear_forward {dtype} {batch},{inputs},{outs} bias gelu pre", "linear_forward", {"act": "gelu"}, {"x": x, "w": w, "bias": bias}, {},
                   {"y": (dtype, (batch, outs)), "pre": (dtype, (batch, outs))}, {"y": gelu(z + bias.values), "pre": z + bias.values}, rt, at * np.sqrt(inputs))
            r.case(f"linear_input_gradient {dtype} {batch},{inputs},{outs}", "linear_input_gradient", {}, {"dy": dy, "w": w}, {}, {"dx": (dtype, (batch, inputs))}, {"dx": dy.values @ w.values}, rt, at * np.sqrt(outs))
            relu = dy.values * (pre.values > 0)
            r.case(f"linear_input_gradient {dtype} {batch},{inputs},{outs} relu", "linear_input_gradient", {"dact": "relu_gradient"}, {"dy": dy, "w": w, "pre": pre}, {}, {"dx": (dtype, (batch, inputs))}, {"dx": relu @ w.values}, rt, at * np.sqrt(outs))
            r.case(f"linear_weight_gradient {dtype} {batch},{inputs},{outs} bias", "linear_weight_gradient", {}, {"x": x, "dy": dy}, {}, {"dw": ("f32", (outs, inputs)), "dbias": ("f32", (outs,))},
                   {"dw": dy.values.T @ x.values, "dbias": dy.values.sum(0)}, rt, 1e-4 * np.sqrt(batch))


def attention_cases(r):
    shapes = [(2, 4, 2, 37, 53, 64), (1, 2, 2, 128, 128, 128), (1, 2, 1, 200, 130, 128), (1, 1, 1, 5, 2, 64), (1, 2, 2, 70, 300, 72), (1, 1, 1, 100, 100, 80), (1, 2, 2, 65, 129, 96), (1, 1, 1, 64, 200, 256)]
    for dtype in ("f16", "bf16") if not r.args.quick else ("f16",):
        for b, h, g, n, m, d in shapes:
            for causal in (False, True):
                q, k, v = randn(dtype, b, h, n, d), randn(dtype, b, g, m, d), randn(dtype, b, g, m, d)
                scale = float(np.float32(d**-0.5))
                o, lse = np.zeros((b, h, n, d)), np.zeros((b, h, n))
                for i in range(b):
                    for j in range(h):
                        o[i, j], lse[i, j] = attention(q.values[i, j], k.values[i, j // (h // g)], v.values[i, j // (h // g)], scale, causal)
                bindings = {"causal": str(causal).lower()}
                if d > 128:
                    bindings.update(BN=64, BM=64)
                rt, at = TOL[dtype]
                r.case(f"attention_forward {dtype} {b},{h}/{g},{n}x{m},{d} {'causal' if causal else 'full'}", "attention_forward", bindings, {"q": q, "k": k, "v": v}, {"scale": scale},
                       {"o": (dtype, (b, h, n, d)), "lse": ("f32", (b, h, n))}, {"o": o, "lse": lse}, rt, at)
    for causal in (False, True):
        lengths_q, lengths_k = [5, 0, 130, 17], [9, 4, 130, 0]
        cq, ck = np.concatenate([[0], np.cumsum(lengths_q)]), np.concatenate([[0], np.cumsum(lengths_k)])
        h, g, d, dtype = 4, 2, 64, "f16"
        q, k, v = randn(dtype, cq[-1], h, d), randn(dtype, ck[-1], g, d), randn(dtype, ck[-1], g, d)
        o, lse, scale = np.zeros((cq[-1], h, d)), np.zeros((h, cq[-1])), 0.125
        for s in range(len(lengths_q)):
            for j in range(h):
                one, l = attention(q.values[cq[s]:cq[s + 1], j], k.values[ck[s]:ck[s + 1], j // 2], v.values[ck[s]:ck[s + 1], j // 2], scale, causal)
                o[cq[s]:cq[s + 1], j], lse[j, cq[s]:cq[s + 1]] = one, l
        r.case(f"attention_varlen f16 {'causal' if causal else 'full'}", "attention_varlen", {"causal": str(causal).lower()},
               {"q": q, "k": k, "v": v, "cu_q": Array(cq, "i32"), "cu_k": Array(ck, "i32")}, {"scale": scale, "max_q": 130},
               {"o": (dtype, (cq[-1], h, d)), "lse": ("f32", (h, cq[-1]))}, {"o": o, "lse": lse}, *TOL[dtype])


def norm_cases(r):
    for dtype in ("f32", "bf16"):
        for rows, columns in ((5, 96), (3, 1000), (9, 37)):
            x, gamma, beta, eps = randn(dtype, rows, columns), randn(dtype, columns), randn(dtype, columns), 1e-5
            mu = x.values.mean(1)
            rstd = 1 / np.sqrt(((x.values - mu[:, None]) ** 2).mean(1) + eps)
            h = (x.values - mu[:, None]) * rstd[:, None] * gamma.values
            rt, at = TOL[dtype]
            r.case(f"layer_norm {dtype} {rows}x{columns}", "layer_norm", {}, {"x": x, "gamma": gamma, "beta": beta}, {"eps": eps},
                   {"y": (dtype, (rows, columns)), "mean": ("f32", (rows,)), "rstd": ("f32", (rows,))}, {"y": h + beta.values, "mean": mu, "rstd": rstd}, rt, at)
            r.case(f"layer_norm_wide {dtype} {rows}x{columns}", "layer_norm_wide", {}, {"x": x, "gamma": gamma}, {"eps": eps}, {"y": (dtype, (rows, columns))}, {"y": h}, rt, at)


def gradient_cases(r):
    """Sums over programs, scatter, and the gradients of attention."""
    for dtype, rows, columns in (("f32", 70, 96), ("bf16", 130, 40)):
        x, dy, gamma = randn(dtype, rows, columns), randn(dtype, rows, columns), randn(dtype, columns)
        mu = x.values.mean(1)
        rstd = 1 / np.sqrt(((x.values - mu[:, None]) ** 2).mean(1) + 1e-5)
        mean, rs = Array(mu, "f32"), Array(rstd, "f32")
        h = (x.values - mean.values[:, None]) * rs.values[:, None]
        e = dy.values * gamma.values
        dx = (e - e.mean(1, keepdims=True) - h * (e * h).mean(1, keepdims=True)) * rs.values[:, None]
        rt, at = TOL[dtype]
        r.case(f"layer_norm_backward {dtype} {rows}x{columns}", "layer_norm_backward", {}, {"x": x, "dy": dy, "gamma": gamma, "mean": mean, "rstd": rs}, {},
               {"dx": (dtype, (rows, columns)), "dgamma": ("f32", (columns,)), "dbeta": ("f32", (columns,))}, {"dx": dx, "dgamma": (dy.values * h).sum(0), "dbeta": dy.values.sum(0)}, rt, at * 4, fill="zeros")
    for m, k, n in ((37, 2100, 29), (130, 64, 136)):
        a, b = randn("bf16", m, k), randn("bf16", k, n)
        r.case(f"matmul_split {m},{k},{n}", "matmul_split", {}, {"a": a, "b": b}, {}, {"c": ("f32", (m, n))}, {"c": a.values @ b.values}, 1e-3, 1e-3 * np.sqrt(k), fill="zeros")
        part = np.stack([a.values[:, s * 704:(s + 1) * 704] @ b.values[s * 704:(s + 1) * 704] for s in range(3)])
        per = -(-(-(-k // 64)) // 3) * 64
        part = np.stack([a.values[:, s * per:(s + 1) * per] @ b.values[s * per:(s + 1) * per] for s in range(3)])
        r.case(f"matmul_partial {m},{k},{n}", "matmul_partial", {}, {"a": a, "b": b}, {}, {"part": ("f32", (3, m, n))}, {"part": part}, 1e-3, 1e-3 * np.sqrt(k))
        parts = Array(part, "f32")
        r.case(f"sum_partials {m},{n}", "sum_partials", {"T": "bf16"}, {"part": parts}, {}, {"c": ("bf16", (m, n))}, {"c": parts.values.sum(0)}, 1e-2, 1e-2)
        tiles = (-(-m // 128), -(-n // 128))
        r.case(f"matmul_ticket {m},{k},{n}", "matmul_ticket", {}, {"a": a, "b": b, "count": Array(np.zeros(tiles), "i32")}, {}, {"c": ("bf16", (m, n)), "part": ("f32", (3, m, n)), "count": ("i32", tiles)},
               {"c": a.values @ b.values, "part": part, "count": np.zeros(tiles)}, 1.2e-2, 1.2e-2 * np.sqrt(k), fill="zeros")
        r.case(f"matmul_persistent {m},{k},{n}", "matmul_persistent", {}, {"a": a, "b": b}, {"programs": 3}, {"c": ("bf16", (m, n))}, {"c": a.values @ b.values}, 1.2e-2, 1.2e-2 * np.sqrt(k))
    values = rng.integers(-3, 70, 5000)
    r.case("histogram", "histogram", {"BINS": 64}, {"x": Array(values, "i32")}, {}, {"h": ("i32", (64,))}, {"h": np.bincount(values[(values >= 0) & (values < 64)], minlength=64)}, 0, 0.1, fill="zeros")
    x, segment = randn("bf16", 300, 40), rng.integers(-1, 9, 300)
    sums = np.zeros((8, 40))
    for row, s in zip(x.values, segment):
        if 0 <= s < 8:
            sums[s] += row
    r.case("segment_sum", "segment_sum", {}, {"x": x, "segment": Array(segment, "i32")}, {}, {"y": ("f32", (8, 40))}, {"y": sums}, 1e-4, 1e-4, fill="zeros")
    for causal, (b, h, g, n, m, d) in ((False, (1, 2, 2, 70, 130, 64)), (True, (1, 4, 2, 100, 100, 64)), (True, (1, 2, 1, 37, 150, 128))):
        dtype, scale = "f16", float(np.float32(d**-0.5))
        q, k, v, do = (randn(dtype, b, hh, l, d) for hh, l in ((h, n), (g, m), (g, m), (h, n)))
        dq, dk, dv = np.zeros((b, h, n, d)), np.zeros((b, g, m, d)), np.zeros((b, g, m, d))
        lse, delta = np.zeros((b, h, n)), np.zeros((b, h, n))
        for i in range(b):
            for j in range(h):
                K, V, Q, DO = k.values[i, j // (h // g)], v.values[i, j // (h // g)], q.values[i, j], do.values[i, j]
                o, lse[i, j] = attention(Q, K, V, scale, causal)
                s = Q @ K.T * scale
                live = (np.arange(m)[None, :] <= np.arange(n)[:, None] + (m - n)) if causal else np.ones((n, m), bool)
                p = np.where(live, np.exp(s - lse[i, j][:, None]), 0)
                delta[i, j] = (DO * o).sum(1)
                ds = p * (DO @ V.T - delta[i, j][:, None])
                dq[i, j] = ds @ K * scale
                dk[i, j // (h // g)] += ds.T @ Q * scale
                dv[i, j // (h // g)] += p.T @ DO
        common = {"q": q, "k": k, "v": v, "dout": do, "lse": Array(lse, "f32"), "delta": Array(delta, "f32")}
        bind = {"causal": str(causal).lower()}
        name = f"{b},{h}/{g},{n}x{m},{d} {'causal' if causal else 'full'}"
        r.case(f"attention_backward {name}", "attention_backward", bind, common, {"scale": scale}, {"dq": ("f32", (b, h, n, d)), "dk": (dtype, (b, g, m, d)), "dv": (dtype, (b, g, m, d))}, {"dq": dq, "dk": dk, "dv": dv}, 4e-3, 4e-3, fill="zeros")
        r.case(f"attention_backward_dq {name}", "attention_backward_dq", bind, common, {"scale": scale}, {"dq": (dtype, (b, h, n, d))}, {"dq": dq}, 4e-3, 4e-3)


def op_cases(r):
    """Compositions: temporaries in a workspace, several launches, one callable."""
    for dtype in ("bf16", "f16", "f32"):
        for m, k, n in ((37, 2100, 29), (130, 64, 136), (1, 5000, 1), (128, 1024, 128), (37, 0, 29), (0, 64, 29)):
            a, b = randn(dtype, m, k), randn(dtype, k, n)
            for splits in (1, 3, 8):
                rt, at = TOL[dtype]
                r.case(f"op matmul_splitk {dtype} {m},{k},{n} S={splits}", "matmul_splitk", {"S": splits}, {"a": a, "b": b}, {}, {"c": (dtype, (m, n))}, {"c": a.values @ b.values}, rt, at * np.sqrt(max(k, 1)))
    a, b = randn("bf16", 70, 300), randn("bf16", 300, 90)
    a.raw[3, 7] = to_bf16(np.float32(np.nan)).ravel()[0]  # one poisoned row, and nothing else
    a.values[3, 7] = np.nan
    expected = a.values @ b.values
    poisoned = np.isnan(expected)
    r.case("op matmul_splitk poisoned row", "matmul_splitk", {"matmul_partial.BM": 64, "sum_partials.BN": 32}, {"a": a, "b": b}, {}, {"c": ("bf16", (70, 90))}, {"c": expected}, 1.2e-2, 0.3, nan_rows=poisoned)
    shapes = ((False, (1, 2, 2, 70, 130, 64)), (True, (1, 4, 2, 100, 100, 64)), (True, (2, 2, 1, 37, 150, 128)), (True, (1, 1, 1, 5, 2, 64)), (False, (1, 2, 2, 0, 8, 64)), (False, (1, 2, 1, 33, 40, 72)))
    for causal, (b, h, g, n, m, d) in shapes:
        dtype, scale = "f16", float(np.float32(d**-0.5))
        q, k, v, do = (randn(dtype, b, hh, l, d) for hh, l in ((h, n), (g, m), (g, m), (h, n)))
        dq, dk, dv = np.zeros((b, h, n, d)), np.zeros((b, g, m, d)), np.zeros((b, g, m, d))
        o, lse = np.zeros((b, h, n, d)), np.zeros((b, h, n))
        for i in range(b):
            for j in range(h):
                K, V, Q = k.values[i, j // (h // g)], v.values[i, j // (h // g)], q.values[i, j]
                o[i, j], lse[i, j] = attention(Q, K, V, scale, causal)
        out = Array(o, dtype)
        for i in range(b):
            for j in range(h):
                K, V, Q, DO = k.values[i, j // (h // g)], v.values[i, j // (h // g)], q.values[i, j], do.values[i, j]
                s = Q @ K.T * scale
                live = (np.arange(m)[None, :] <= np.arange(n)[:, None] + (m - n)) if causal else np.ones((n, m), bool)
                with np.errstate(over="ignore", invalid="ignore"):
                    p = np.where(live, np.exp(s - np.where(np.isfinite(lse[i, j]), lse[i, j], 0)[:, None]), 0)
                p = np.where(np.isfinite(lse[i, j])[:, None], p, 0)
                ds = p * (DO @ V.T - (DO * out.values[i, j]).sum(1)[:, None])
                dq[i, j] = ds @ K * scale
                dk[i, j // (h // g)] += ds.T @ Q * scale
                dv[i, j // (h // g)] += p.T @ DO
        inputs = {"q": q, "k": k, "v": v, "o": out, "dout": do, "lse": Array(lse, "f32")}
        r.case(f"op attention_gradient {b},{h}/{g},{n}x{m},{d} {'causal' if causal else 'full'}", "attention_gradient", {"causal": str(causal).lower()}, inputs, {"scale": scale},
               {"dq": (dtype, (b, h, n, d)), "dk": (dtype, (b, g, m, d)), "dv": (dtype, (b, g, m, d))}, {"dq": dq, "dk": dk, "dv": dv}, 4e-3, 4e-3)


def breadth_cases(r):
    """Convolution, rotary embedding, grouped products, dropout, decoding's combine, a scored attention."""
    n, h, w, c, o, kh, kw, stride, ph, pw = 2, 9, 11, 24, 40, 3, 3, 1, 1, 1
    for stride in (1, 2):
        x, wt = randn("bf16", n, h, w, c), randn("bf16", o, kh, kw, c)
        P, Q = (h + 2 * ph - kh) // stride + 1, (w + 2 * pw - kw) // stride + 1
        padded = np.zeros((n, h + 2 * ph, w + 2 * pw, c))
        padded[:, ph:ph + h, pw:pw + w] = x.values
        y = np.zeros((n, P, Q, o))
        for a in range(kh):
            for b in range(kw):
                y += np.einsum("npqc,oc->npqo", padded[:, a:a + stride * P:stride, b:b + stride * Q:stride][:, :P, :Q], wt.values[:, a, b])
        for kernel in ("conv2d", "conv2d_gather"):
            r.case(f"{kernel} stride {stride}", kernel, {"STRIDE": stride}, {"x": x, "w": wt}, {"ph": ph, "pw": pw}, {"y": ("bf16", (n, P, Q, o))}, {"y": y}, 1.2e-2, 0.1)
    for interleaved in (False, True):
        x, cos, sin = randn("bf16", 2, 37, 3, 64), Array(np.cos(np.arange(37 * 32).reshape(37, 32)), "f32"), Array(np.sin(np.arange(37 * 32).reshape(37, 32)), "f32")
        C, S = cos.values[None, :, None], sin.values[None, :, None]
        y = np.empty_like(x.values)
        if interleaved:
            e, od = x.values[..., 0::2], x.values[..., 1::2]
            y[..., 0::2], y[..., 1::2] = e * C - od * S, od * C + e * S
        else:
            a, z = x.values[..., :32], x.values[..., 32:]
            y[..., :32], y[..., 32:] = a * C - z * S, z * C + a * S
        r.case(f"rope interleaved={interleaved}", "rope", {"interleaved": str(interleaved).lower()}, {"x": x, "cosine": cos, "sine": sin}, {}, {"x": ("bf16", x.values.shape)}, {"x": y}, 1e-2, 1e-2)
    for with_rows in (False, True):
        e, i, o, a = 4, 72, 40, 210
        counts = np.array([100, 0, 47, 63])
        offsets = np.concatenate([[0], np.cumsum(counts)])
        R = 150 if with_rows else a
        x, w, rows = randn("bf16", R, i), randn("bf16", e, o, i), rng.integers(0, R, a)
        y = np.zeros((a, o))
        for expert in range(e):
            for t in range(offsets[expert], offsets[expert + 1]):
                y[t] = w.values[expert] @ x.values[rows[t] if with_rows else t]
        inputs = {"x": x, "w": w, "offsets": Array(offsets, "i32")}
        if with_rows:
            inputs["rows"] = Array(rows, "i32")
        r.case(f"grouped_linear rows={with_rows}", "grouped_linear", {}, inputs, {}, {"y": ("bf16", (a, o))}, {"y": y}, 1.2e-2, 0.1)
    x = randn("f32", 5000)
    results = None
    r.case("dropout p=0 keeps everything", "dropout", {}, {"x": x}, {"p": 0.0, "seed": 7, "offset": 0}, {"y": ("f32", (5000,))}, {"y": x.values}, 1e-6, 1e-6)
    part, lse = randn("f32", 3, 2, 2, 8, 128), randn("f32", 3, 2, 2, 8)
    lse.raw[1] = -np.inf
    lse.values[1] = -np.inf
    top = lse.values.max(0)
    wgt = np.exp(lse.values - top)
    z = wgt.sum(0)
    r.case("decode_combine", "decode_combine", {"T": "bf16"}, {"part": part, "part_lse": lse}, {}, {"o": ("bf16", (2, 2, 8, 128)), "lse": ("f32", (2, 2, 8))}, {"o": (wgt[..., None] * part.values).sum(0) / z[..., None], "lse": top + np.log(z)}, 1e-2, 1e-2)
    h, n, m, d, cap, window = 2, 70, 90, 64, 20.0, 33
    q, k, v, slopes, scale = randn("f16", 1, h, n, d), randn("f16", 1, h, m, d), randn("f16", 1, h, m, d), Array([0.1, 0.02], "f32"), 0.125
    o = np.zeros((1, h, n, d))
    for j in range(h):
        s = q.values[0, j] @ k.values[0, j].T * scale
        rr, cc = np.arange(n)[:, None] + (m - n), np.arange(m)[None, :]
        s = np.where((cc <= rr) & (rr - cc < window), cap * np.tanh(s / cap) - slopes.values[j] * (rr - cc), -np.inf)
        o[0, j] = softmax(s) @ v.values[0, j]
    r.case("attention_gemma window, cap, alibi", "attention_gemma", {"T": "f16", "BN": 64, "BM": 64}, {"q": q, "k": k, "v": v, "slopes": slopes}, {"scale": scale, "cap": cap, "window": window}, {"o": ("f16", (1, h, n, d)), "lse": ("f32", (1, h, n))}, {"o": o, "lse": np.full((1, h, n), np.nan)}, 4e-3, 4e-3)


def sequence_cases(r):
    """Running sums and the largest k."""
    for rows, columns in ((3, 37), (5, 2500), (1, 1024)):
        x = randn("f32", rows, columns)
        for block in (64, 1024):
            r.case(f"running_sum {rows}x{columns} BC {block}", "running_sum", {"BC": block}, {"x": x}, {}, {"x": ("f32", (rows, columns))}, {"x": np.cumsum(x.values, axis=1)}, 1e-4, 1e-3)
    for dtype, rows, columns in (("f32", 3, 100), ("f32", 2, 3000), ("f16", 4, 8)):
        # Many ties; plus zero, since the reference takes both zeros for equal and the language orders them (R10.7).
        x = Array(np.round(rng.standard_normal((rows, columns)) * 4) / 4 + 0.0, dtype)
        order = np.argsort(-x.values, axis=1, kind="stable")[:, :8]
        r.case(f"top_k {dtype} {rows}x{columns}", "top_k", {}, {"x": x}, {}, {"values": (dtype, (rows, 8)), "indices": ("i32", (rows, 8))}, {"values": np.take_along_axis(x.values, order, 1), "indices": order}, 0, 1e-9)


def decode_cases(r):
    """A paged cache read through its table; a hole in the table is padding."""
    b, g, gr, d, pages, P, splits = 3, 2, 8, 128, 12, 64, 3
    q, pool_k, pool_v = randn("bf16", b, g, gr, d), randn("bf16", pages, P, g, d), randn("bf16", pages, P, g, d)
    table = np.array([[3, 7, 1, 0], [5, 2, 9, 11], [4, 6, 8, 10]])
    lens, scale = np.array([200, 0, 65]), float(np.float32(d**-0.5))
    o, lse = np.zeros((splits, b, g, gr, d)), np.full((splits, b, g, gr), -np.inf)
    for i in range(b):
        n = lens[i]
        per = -(-(-(-n // 64)) // splits) * 64
        for j in range(g):
            K = np.concatenate([pool_k.values[page, :, j] for page in table[i]])[:n]
            V = np.concatenate([pool_v.values[page, :, j] for page in table[i]])[:n]
            for s in range(splits):
                lo, hi = min(s * per, n), min((s + 1) * per, n)
                if hi > lo:
                    o[s, i, j], lse[s, i, j] = attention(q.values[i, j], K[lo:hi], V[lo:hi], scale, False)
    r.case("decode_split paged", "decode_split", {}, {"q": q, "pool_k": pool_k, "pool_v": pool_v, "table": Array(table, "i32"), "lens": Array(lens, "i32")}, {"scale": scale},
           {"part": ("f32", (splits, b, g, gr, d)), "part_lse": ("f32", (splits, b, g, gr))}, {"part": o, "part_lse": lse}, 4e-3, 4e-3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default=os.path.join(HERE, "..", "..", "build", "bin", "tessera"))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--filter", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--extra", default="", help="more options for `tessera run`")
    r = Runner(parser.parse_args())
    softmax_cases(r)
    norm_cases(r)
    matmul_cases(r)
    linear_cases(r)
    attention_cases(r)
    gradient_cases(r)
    op_cases(r)
    breadth_cases(r)
    sequence_cases(r)
    decode_cases(r)
    print(f"{r.passed} passed, {r.failed} failed")
    return r.failed != 0


if __name__ == "__main__":
    sys.exit(main())
