#!/usr/bin/env python3
"""Checks vector_add against numpy: sizes around the block, the empty vector, several element types."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checking import ROUNDOFF, Checker, Input, Output, normal, rounded  # noqa: E402

checker = Checker(pathlib.Path(__file__).with_name("vector_add.tile"), __doc__)
for dtype in ["f32", "bf16"] if checker.quick else ["f32", "f64", "f16", "bf16"]:
    for n in [0, 1, 1023, 1025, 5000] if checker.quick else [0, 1, 2, 15, 1023, 1024, 1025, 4096, 99991, 1000003]:
        x, y = rounded(normal(1, n), dtype), rounded(normal(2, n), dtype)
        checker.run(f"{dtype} N={n}", "vector_add", {}, {"x": Input(x, dtype), "y": Input(y, dtype), "z": Output(x + y, dtype, 0.0, ROUNDOFF[dtype])})
for block in [1, 7, 96, 4096]:
    x, y = rounded(normal(3, 1000), "f32"), rounded(normal(4, 1000), "f32")
    checker.run(f"f32 N=1000 BLOCK={block}", "vector_add", {"BLOCK": block},
                {"x": Input(x, "f32"), "y": Input(y, "f32"), "z": Output(x + y, "f32", 0.0, ROUNDOFF["f32"])})
sys.exit(checker.finish())
