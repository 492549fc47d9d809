#!/usr/bin/env python3
"""Problems of full size on a GPU against PyTorch in float64: what NumPy would take minutes for.

    tests/device/full_size.py --tessera build/bin/tessera --device cuda:0 [--quick]

Needs PyTorch with CUDA and NumPy (for .npy files).  Inputs are drawn by NumPy and rounded to the element type before the reference sees them.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
#: |found - expected| <= (atol + rtol |expected|): half a unit of the type for the store, and the sum's own error in f32
RTOL = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 1e-5}


class Checker:
    def __init__(self, options):
        self.options, self.passed, self.failed, self.worst = options, 0, 0, 0.0
        self.device = options.device

    def random(self, dtype, *shape):
        generator = torch.Generator(device=self.device).manual_seed(int.from_bytes(os.urandom(4), "little"))
        return torch.randn(*shape, generator=generator, device=self.device, dtype=torch.float32).to(TYPES[dtype])

    def save(self, path, tensor):
        raw = tensor.contiguous().cpu()
        np.save(path, raw.view(torch.uint16).numpy() if tensor.dtype == torch.bfloat16 else raw.numpy())
        return path + (":bf16" if tensor.dtype == torch.bfloat16 else "")

    def load(self, path, dtype):
        raw = np.load(path)
        tensor = torch.from_numpy(raw.view(np.int16)).view(torch.bfloat16) if dtype == "bf16" else torch.from_numpy(raw)
        return tensor.to(self.device)

    def case(self, name, program, kernel, bindings, inputs, scalars, outputs):
        """outputs: name -> (element type, reference in float64, absolute tolerance)."""
        problem, ratio = None, 0.0
        with tempfile.TemporaryDirectory() as folder:
            command = [self.options.tessera, "run", os.path.join(EXAMPLES, program, program + ".tile"), "-k", kernel, "--device", self.device]
            for binding in bindings:
                command += ["-D", binding]
            for argument, tensor in inputs.items():
                command += ["--arg", f"{argument}={self.save(f'{folder}/{argument}.npy', tensor)}"]
            for argument, value in scalars.items():
                command += ["--arg", f"{argument}={value}"]
            for argument, (dtype, reference, _) in outputs.items():
                command += ["--arg", f"{argument}=empty:{dtype}:{'x'.join(map(str, reference.shape))}", "--out", f"{argument}={folder}/{argument}.npy"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if done.returncode:
                problem = f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[:1000]}"
            for argument, (dtype, reference, atol) in outputs.items() if not problem else ():
                found = self.load(f"{folder}/{argument}.npy", dtype).double()
                error = (found - reference).abs() / (atol + RTOL[dtype] * reference.abs())
                error = torch.where(found == reference, torch.zeros_like(error), error)  # equal infinities
                largest = torch.nan_to_num(error, nan=float("inf")).max().item()
                ratio = max(ratio, largest)
                if largest > 1:
                    problem = f"{argument} is wrong in {(~(error <= 1)).sum().item()} of {error.numel()} elements"
        self.passed, self.failed, self.worst = self.passed + (problem is None), self.failed + (problem is not None), max(self.worst, ratio)
        print(f"{'ok    ' if problem is None else 'FAILED'} {name:50} {ratio:6.3f} of the tolerance{'' if problem is None else '; ' + problem}", flush=True)


def products(check, size):
    for dtype in ("bf16", "f16"):
        x, w, bias = check.random(dtype, size, size), check.random(dtype, size, size), check.random(dtype, size)
        reference = x.double() @ w.double().T
        atol = 2e-5 * size**0.5
        check.case(f"linear_forward {dtype} {size}^3", "linear", "linear_forward", [], {"x": x, "w": w}, {}, {"y": (dtype, reference, atol)})
        check.case(f"linear_forward {dtype} {size}^3 bias relu", "linear", "linear_forward", ["act=relu"], {"x": x, "w": w, "bias": bias}, {}, {"y": (dtype, (reference + bias.double()).relu(), atol)})
        check.case(f"matmul {dtype} {size}^3", "matmul", "matmul", [], {"a": x[None], "b": w[None]}, {}, {"c": (dtype, (x.double() @ w.double())[None], atol)})


def attention(check, batch, heads, length, d, causal):
    q, k, v = (check.random("f16", batch, heads, length, d) for _ in range(3))
    scale = float(np.float32(d**-0.5))
    o, lse = torch.empty(q.shape, dtype=torch.float64, device=q.device), torch.empty(q.shape[:3], dtype=torch.float64, device=q.device)
    for b in range(batch):
        for h in range(heads):
            scores = q[b, h].double() @ k[b, h].double().T * scale
            if causal:
                scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(1), -float("inf"))
            lse[b, h] = scores.logsumexp(1)
            o[b, h] = scores.softmax(1) @ v[b, h].double()
    check.case(f"attention f16 {batch}x{heads}x{length}x{d}{' causal' if causal else ''}", "attention", "attention_forward", [f"causal={str(causal).lower()}"],
               {"q": q, "k": k, "v": v}, {"scale": scale}, {"o": ("f16", o, 1e-3), "lse": ("f32", lse, 1e-4)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/bin/tessera")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--quick", action="store_true")
    check = Checker(parser.parse_args())
    quick = check.options.quick
    products(check, 1024 if quick else 4096)
    for causal in (False, True):
        attention(check, 1 if quick else 4, 2 if quick else 16, 4096, 128, causal)
        attention(check, 1, 2 if quick else 32, 4096, 64, causal)
    x = check.random("bf16", 16384, 4096)
    for kernel in ("softmax_row", "softmax_online"):
        check.case(f"{kernel} bf16 16384x4096", "softmax", kernel, [], {"x": x}, {}, {"y": ("bf16", x.double().softmax(1), 1e-6)})
    print(f"worst ratio {check.worst:.3f} of a tolerance")
    print(f"{check.passed} passed, {check.failed} failed")
    return 1 if check.failed or not check.passed else 0


if __name__ == "__main__":
    sys.exit(main())
