#!/usr/bin/env python3
"""Checks the three softmax kernels against a float64 softmax: ragged rows and columns, large values, rows of one element, no rows."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checking import ROUNDOFF, Checker, Input, Output, normal, np, rounded  # noqa: E402


def softmax(x):
    if x.size == 0:
        return x
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


checker = Checker(pathlib.Path(__file__).with_name("softmax.tile"), __doc__)
shapes = [(5, 37), (3, 1185), (0, 16), (4, 0), (1, 1)] if checker.quick else [
    (1, 1), (5, 37), (4, 64), (7, 100), (3, 1000), (9, 1024), (3, 1185), (2, 4097), (66, 130), (0, 16), (4, 0), (129, 257)]
for kernel in ["softmax_row", "softmax_online", "softmax_three"]:
    for dtype in ["f32", "bf16"] if checker.quick else ["f32", "f16", "bf16"]:
        for rows, columns in shapes:
            x = rounded(4.0 * normal(rows * 1000 + columns, rows, columns), dtype)
            y = softmax(x)
            # exp2 and the sum err by a few units in f32; the result is rounded once more to its own type.
            checker.run(f"{dtype} {rows}x{columns}", kernel, {} if dtype == "bf16" else {"T": dtype},
                        {"x": Input(x, dtype), "y": Output(y, dtype, 1e-7, 2e-6 + ROUNDOFF[dtype])})
    x = rounded(np.where(np.arange(300)[None, :] % 7 == 0, 200.0, -200.0) + normal(5, 6, 300), "f32")
    checker.run("f32 values that overflow without the maximum", kernel, {"T": "f32"}, {"x": Input(x, "f32"), "y": Output(softmax(x), "f32", 1e-7, 4e-5)})
    x = rounded(normal(6, 5, 70), "f32")
    x[:, ::3] = -np.inf
    checker.run("f32 with masked elements (-inf)", kernel, {"T": "f32"}, {"x": Input(x, "f32"), "y": Output(softmax(x), "f32", 1e-7, 4e-6)})
    if not checker.quick:
        x = rounded(normal(7, 11, 777), "f32")
        bindings = {"T": "f32", "BR": 3} | ({} if kernel == "softmax_row" else {"BC": 96})
        checker.run("f32 11x777 tiles that are no powers of two", kernel, bindings, {"x": Input(x, "f32"), "y": Output(softmax(x), "f32", 1e-7, 4e-6)})
sys.exit(checker.finish())
