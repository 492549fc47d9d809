#!/usr/bin/env python3
"""Checks the transposition, exactly: types of every width, ragged edges, one row, one column, nothing."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checking import Checker, Input, Output, normal, np, rounded  # noqa: E402

checker = Checker(pathlib.Path(__file__).with_name("transpose.tile"), __doc__)
shapes = [(64, 64), (65, 130), (1, 37), (0, 8)] if checker.quick else [
    (64, 64), (65, 130), (1, 37), (37, 1), (0, 8), (8, 0), (128, 256), (257, 63), (1000, 33)]
for dtype in ["bf16", "f32"] if checker.quick else ["bf16", "f16", "f32", "f64", "i32", "i64"]:
    for rows, columns in shapes:
        x = normal(rows * 1000 + columns, rows, columns)
        x = np.floor(x * 1000) if dtype[0] == "i" else rounded(x, dtype)
        checker.run(f"{dtype} {rows}x{columns}", "transpose", {"T": dtype}, {"x": Input(x, dtype), "y": Output(x.T, dtype, 0, 0)})
x = rounded(normal(1, 50, 70), "f32")
checker.run("f32 50x70 tiles that are no powers of two", "transpose", {"T": "f32", "BR": 24, "BC": 48}, {"x": Input(x, "f32"), "y": Output(x.T, "f32", 0, 0)})
sys.exit(checker.finish())
