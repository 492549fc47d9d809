#!/usr/bin/env python3
"""Checks the loss, its log-sum-exp and its gradient against float64: ragged and long rows, masked logits, ignored targets, large logits."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checking import ROUNDOFF, Checker, Input, Output, normal, np, rounded  # noqa: E402


def case(checker, name, x, target, dtype, bindings):
    rows, columns = x.shape
    top = x.max(axis=1, initial=-np.inf)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        lse = safe + np.log(np.exp(x - safe[:, None]).sum(axis=1))
    counts = (target >= 0) & (target < columns)
    loss = np.where(counts, lse - x[np.arange(rows), np.where(counts, target, 0)], 0.0)
    inputs = {"x": Input(x, dtype), "target": Input(target, "i64")}
    checker.run(name, "cross_entropy", bindings, inputs | {"loss": Output(loss, "f32", 4e-6, 2e-6), "lse": Output(lse, "f32", 4e-6, 2e-6)})
    dloss = rounded(normal(rows, rows), "f32")
    lse = rounded(lse, "f32")
    dx = (np.exp(x - lse[:, None]) - (np.arange(columns)[None, :] == target[:, None])) * np.where(counts, dloss, 0.0)[:, None]
    checker.run(name, "cross_entropy_backward", bindings, inputs | {"lse": Input(lse, "f32"), "dloss": Input(dloss, "f32"), "dx": Output(dx, dtype, 2e-6, 2e-5 + ROUNDOFF[dtype])})


checker = Checker(pathlib.Path(__file__).with_name("cross_entropy.tile"), __doc__)
shapes = [(5, 37), (3, 5000)] if checker.quick else [(1, 1), (5, 37), (7, 1000), (4, 4096), (3, 4097), (2, 50257), (0, 8)]
for dtype in ["f32", "bf16"] if checker.quick else ["f32", "f16", "bf16"]:
    for rows, columns in shapes:
        x = rounded(3.0 * normal(rows + columns, rows, columns), dtype)
        target = np.arange(rows) * 7919 % columns
        case(checker, f"{dtype} {rows}x{columns}", x, target, dtype, {"T": dtype})
x = rounded(normal(1, 6, 300), "f32")
case(checker, "f32 targets that do not count", x, np.array([-100, 5, 300, -1, 1 << 40, 299]), "f32", {"T": "f32"})
case(checker, "f32 logits that overflow without the maximum", rounded(x * 100 + 500, "f32"), np.arange(6), "f32", {"T": "f32"})
x[:, 1::3] = -np.inf
case(checker, "f32 masked logits (-inf)", x, np.array([0, 2, 3, 5, 6, 8]), "f32", {"T": "f32", "BC": 96})
sys.exit(checker.finish())
