#!/usr/bin/env python3
"""Checks the rotary embedding and its gradient against complex multiplication in float64."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checking import ROUNDOFF, Checker, InOut, Input, normal, np, rounded  # noqa: E402


def turn(x, angle, interleaved):
    """Pairs as complex numbers, times e^(i angle)."""
    d = x.shape[-1]
    z = x[..., 0::2] + 1j * x[..., 1::2] if interleaved else x[..., :d // 2] + 1j * x[..., d // 2:]
    z = z * angle[None, :, None, :]
    y = np.empty_like(x)
    if interleaved:
        y[..., 0::2], y[..., 1::2] = z.real, z.imag
    else:
        y[..., :d // 2], y[..., d // 2:] = z.real, z.imag
    return y


checker = Checker(pathlib.Path(__file__).with_name("rotary.tile"), __doc__)
shapes = [(2, 37, 3, 64), (1, 5, 1, 2)] if checker.quick else [(2, 37, 3, 64), (1, 130, 2, 128), (1, 5, 1, 2), (1, 64, 4, 80), (0, 5, 2, 16), (1, 1, 1, 256)]
for dtype in ["f32", "bf16"] if checker.quick else ["f32", "f16", "bf16"]:
    for b, n, h, d in shapes:
        x = rounded(normal(b + n, b, n, h, d), dtype)
        theta = (1000 + np.arange(n))[:, None] * 10000.0 ** (-np.arange(d // 2)[None, :] / (d / 2))
        cosine, sine = rounded(np.cos(theta), "f32"), rounded(np.sin(theta), "f32")
        for interleaved in (False, True):
            bindings = {"T": dtype, "interleaved": str(interleaved).lower()}
            for kernel, tensor, angle in (("rotary", "x", cosine + 1j * sine), ("rotary_backward", "dx", cosine - 1j * sine)):
                checker.run(f"{dtype} {b}x{n}x{h}x{d} {'interleaved' if interleaved else 'halves'}", kernel, bindings,
                            {tensor: InOut(x, turn(x, angle, interleaved), dtype, 4e-7, 4e-7 + ROUNDOFF[dtype]), "cosine": Input(cosine, "f32"), "sine": Input(sine, "f32")})
sys.exit(checker.finish())
