#!/usr/bin/env python3
"""Checks the three forms of split-K against float64: ragged extents, more splits than tiles of K, no K."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checking import ROUNDOFF, Checker, InOut, Input, Output, normal, np, rounded  # noqa: E402

checker = Checker(pathlib.Path(__file__).with_name("split_k.tile"), __doc__)
shapes = [(37, 2100, 29), (130, 64, 136), (5, 0, 3)] if checker.quick else [(37, 2100, 29), (130, 64, 136), (1, 5000, 1), (256, 1024, 128), (5, 0, 3), (0, 64, 8)]
for dtype in ["bf16"] if checker.quick else ["bf16", "f16", "f32"]:
    for m, k, n in shapes:
        a, b = rounded(normal(m + k, m, k), dtype), rounded(normal(n + k, k, n), dtype)
        c = a @ b
        near = 1e-5 * max(1, k) ** 0.5
        name = f"{dtype} {m}x{k}x{n}"
        bindings = {"T": dtype, "BM": 64, "BN": 64, "BK": 32}
        checker.run(name, "split_k_atomic", bindings | {"KS": 256}, {"a": Input(a, dtype), "b": Input(b, dtype), "c": Output(c, "f32", near, 1e-5)})
        for splits in [3] if checker.quick else [1, 3, 40]:
            per = -(-(-(-k // 32)) // splits) * 32
            part = np.stack([a[:, s * per:(s + 1) * per] @ b[s * per:(s + 1) * per] for s in range(splits)])
            checker.run(f"{name} in {splits}", "matmul_partial", bindings, {"a": Input(a, dtype), "b": Input(b, dtype), "part": Output(part, "f32", near, 1e-5)})
            part = rounded(part, "f32")
            checker.run(f"{name} in {splits}", "sum_partials", {"T": dtype}, {"part": Input(part, "f32"), "c": Output(part.sum(axis=0), dtype, near, 1e-5 + ROUNDOFF[dtype])})
            tiles = (-(-m // 64), -(-n // 64))
            checker.run(f"{name} in {splits}", "split_k_ticket", bindings, {"a": Input(a, dtype), "b": Input(b, dtype), "c": Output(c, dtype, near, 1e-5 + ROUNDOFF[dtype]),
                        "part": InOut(np.full(part.shape, np.nan), part, "f32", near, 1e-5), "count": InOut(np.zeros(tiles), np.zeros(tiles), "i32", 0, 0)})
sys.exit(checker.finish())
