#!/usr/bin/env python3
"""Checks the norms and their gradients against float64: ragged rows and columns, a mean much larger than the deviation, no rows."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checking import ROUNDOFF, Checker, Input, Output, normal, np, rounded  # noqa: E402

EPS = float(np.float32(1e-5))


def statistics(x):
    mean = x.mean(axis=1) if x.shape[1] else np.zeros(x.shape[0])
    return mean, 1 / np.sqrt(((x - mean[:, None]) ** 2).mean(axis=1) + EPS)


checker = Checker(pathlib.Path(__file__).with_name("norms.tile"), __doc__)
shapes = [(5, 37), (3, 1185), (0, 16), (1, 1)] if checker.quick else [
    (1, 1), (5, 37), (4, 64), (7, 100), (3, 1000), (9, 1024), (3, 1185), (2, 4097), (66, 130), (0, 16), (129, 257)]
for dtype in ["f32", "bf16"] if checker.quick else ["f32", "f16", "bf16"]:
    bindings = {} if dtype == "bf16" else {"T": dtype}
    for rows, columns in shapes:
        seed = rows * 10000 + columns
        x, dy = (rounded(normal(seed + i, rows, columns), dtype) for i in range(2))
        gamma, beta = (rounded(normal(seed + 2 + i, columns), dtype) for i in range(2))
        mean, rstd = statistics(x)
        h = (x - mean[:, None]) * rstd[:, None]
        near = 2e-5 + ROUNDOFF[dtype]
        name = f"{dtype} {rows}x{columns}"
        # One column: the variance is 0, rstd is 1 / sqrt(eps), and the error of the mean is multiplied by it.
        small = 1e-5 if columns > 1 else 1e-3
        checker.run(name, "layer_norm", bindings, {"x": Input(x, dtype), "gamma": Input(gamma, dtype), "beta": Input(beta, dtype), "eps": EPS,
                    "y": Output(h * gamma + beta, dtype, small, near), "mean": Output(mean, "f32", 1e-6, 1e-5), "rstd": Output(rstd, "f32", 1e-6, 1e-5)})
        checker.run(f"{name} without beta, mean, rstd", "layer_norm", bindings, {"x": Input(x, dtype), "gamma": Input(gamma, dtype), "eps": EPS,
                    "y": Output(h * gamma, dtype, small, near)})
        rms = 1 / np.sqrt((x * x).mean(axis=1) + EPS)
        checker.run(name, "rms_norm", bindings, {"x": Input(x, dtype), "gamma": Input(gamma, dtype), "eps": EPS,
                    "y": Output(x * rms[:, None] * gamma, dtype, 1e-6, near), "rstd": Output(rms, "f32", 1e-6, 1e-5)})
        if columns == 1:
            continue
        # The gradients take mean and rstd as the forward pass stored them, in f32.
        mean, rstd, rms = (rounded(value, "f32") for value in (mean, rstd, rms))
        e = dy * gamma
        h = (x - mean[:, None]) * rstd[:, None]
        dx = (e - e.mean(axis=1, keepdims=True) - h * (e * h).mean(axis=1, keepdims=True)) * rstd[:, None]
        sums = 1e-5 * max(1.0, rows ** 0.5)
        checker.run(name, "layer_norm_backward", bindings, {"x": Input(x, dtype), "dy": Input(dy, dtype), "gamma": Input(gamma, dtype), "mean": Input(mean, "f32"), "rstd": Input(rstd, "f32"),
                    "dx": Output(dx, dtype, 2e-5, near), "dgamma": Output((dy * h).sum(axis=0), "f32", sums, 1e-5), "dbeta": Output(dy.sum(axis=0), "f32", sums, 1e-5)})
        h = x * rms[:, None]
        dx = (e - h * (e * h).mean(axis=1, keepdims=True)) * rms[:, None]
        checker.run(name, "rms_norm_backward", bindings, {"x": Input(x, dtype), "dy": Input(dy, dtype), "gamma": Input(gamma, dtype), "rstd": Input(rms, "f32"),
                    "dx": Output(dx, dtype, 2e-5, near), "dgamma": Output((dy * h).sum(axis=0), "f32", sums, 1e-5)})
x = rounded(normal(3, 6, 500) + 1000.0, "f32")
mean, rstd = statistics(x)
# x - mean keeps about 2^-24 * 1000 of absolute error.
checker.run("f32 a mean of a thousand deviations", "layer_norm", {"T": "f32"}, {"x": Input(x, "f32"), "gamma": Input(np.ones(500), "f32"), "eps": EPS,
            "y": Output((x - mean[:, None]) * rstd[:, None], "f32", 5e-4, 1e-5)})
x = rounded(normal(4, 7, 96), "f32")
checker.run("f32 four rows a program", "rms_norm", {"T": "f32", "BR": 4}, {"x": Input(x, "f32"), "gamma": Input(np.ones(96), "f32"), "eps": EPS,
            "y": Output(x / np.sqrt((x * x).mean(axis=1, keepdims=True) + EPS), "f32", 1e-6, 1e-5)})
sys.exit(checker.finish())
