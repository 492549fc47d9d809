#!/usr/bin/env python3
"""Checks matmul against a float64 product: ragged extents, batches, empty extents, element and result types, tile sizes."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checking import ROUNDOFF, Checker, Input, Output, normal, rounded  # noqa: E402

checker = Checker(pathlib.Path(__file__).with_name("matmul.tile"), __doc__)
small = {"BM": 64, "BN": 64, "BK": 32}


def case(shape, dtype, result=None, bindings=None, name=""):
    """|error| of a sum of K products in f32 is at most about K units of the sum of their sizes; normal data cancels to its square root."""
    batch, m, n, k = shape
    result = result or dtype
    a, b = rounded(normal(11, batch, m, k), dtype), rounded(normal(12, batch, k, n), dtype)
    bindings = dict(bindings or {})
    if dtype != "bf16":
        bindings["T"] = dtype
    if result != dtype:
        bindings["TO"] = result
    accumulated = ROUNDOFF["f64" if dtype == "f64" else "f32"] * 8 * (k + 1)
    checker.run(f"{dtype}->{result} {batch}x{m}x{n}x{k} {name}".strip(), "matmul", bindings,
                {"a": Input(a, dtype), "b": Input(b, dtype), "c": Output(a @ b, result, accumulated, ROUNDOFF[result] + accumulated)})


for dtype in ["f32", "bf16"] if checker.quick else ["f32", "f16", "bf16", "f64"]:
    tiles = {"BM": 32, "BN": 32, "BK": 16} if dtype == "f64" else small
    for shape in [(1, 37, 53, 29), (3, 65, 33, 130), (2, 0, 5, 7)] if checker.quick else [
            (1, 1, 1, 1), (1, 37, 53, 29), (3, 65, 33, 130), (1, 128, 256, 64), (2, 129, 257, 65), (1, 200, 72, 1001), (2, 0, 5, 7), (0, 4, 5, 7), (2, 5, 3, 0)]:
        case(shape, dtype, bindings=tiles)
case((1, 70, 90, 50), "bf16", result="f32", bindings=small)
case((1, 70, 90, 50), "f16", result="f32", bindings=small)
case((1, 150, 300, 100), "bf16", name="default tiles")
if not checker.quick:
    for tiles in [(16, 16, 16), (48, 80, 24), (100, 72, 40), (128, 64, 64)]:
        case((1, 150, 170, 190), "bf16", bindings=dict(zip(("BM", "BN", "BK"), tiles)), name="tiles " + "x".join(map(str, tiles)))
        case((1, 150, 170, 190), "f32", bindings=dict(zip(("BM", "BN", "BK"), tiles)), name="tiles " + "x".join(map(str, tiles)))
sys.exit(checker.finish())
