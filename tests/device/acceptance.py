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

    def run(self, kernel, bindings, inputs, scalars, outputs):
        """Returns the outputs as float64; outputs: name -> (dtype, shape)."""
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
                command += ["--arg", f"{name}=empty:{dtype}:{'x'.join(map(str, shape))}", "--out", f"{name}={folder}/{name}.out.npy"]
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

    def case(self, label, kernel, bindings, inputs, scalars, outputs, reference, rtol, atol):
        if self.args.filter and self.args.filter not in label:
            return
        try:
            results = self.run(kernel, bindings, inputs, scalars, outputs)
            worst, where = 0.0, ""
            for name in outputs:
                expected = np.broadcast_to(reference[name], outputs[name][1])
                got = results[name]
                both = (np.isnan(expected) & np.isnan(got)) | (expected == got)
                with np.errstate(invalid="ignore"):
                    error = np.where(both, 0.0, np.abs(got - expected))
                    allowed = atol + rtol * np.abs(np.where(np.isfinite(expected), expected, 0))
                error = np.where(np.isnan(error), np.inf, error)
                ratio = float(np.max(error / allowed)) if error.size else 0.0
                if ratio >= worst:
                    worst, where = ratio, name
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
    print(f"{r.passed} passed, {r.failed} failed")
    return r.failed != 0


if __name__ == "__main__":
    sys.exit(main())
