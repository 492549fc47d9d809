#!/usr/bin/env python3
"""Checks the three kernels of the fully-connected layer against float64: optional bias, activation and `pre`, ragged and empty extents."""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checking import ROUNDOFF, Checker, Input, Output, normal, np, rounded  # noqa: E402

SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)


def gelu(x):
    return 0.5 * x * (1.0 + np.tanh(SQRT_2_OVER_PI * (x + 0.044715 * x ** 3)))


def gelu_gradient(x, step=1e-6):
    """By central differences, so that the derivative in linear.tile is checked against the function and not against a copy of itself."""
    return (gelu(x + step) - gelu(x - step)) / (2 * step)


ACTIVATIONS = {"identity": lambda x: x, "relu": lambda x: np.maximum(x, 0.0), "gelu": gelu}
GRADIENTS = {"identity": np.ones_like, "relu": lambda x: (x > 0.0).astype(np.float64), "gelu": gelu_gradient}

checker = Checker(pathlib.Path(__file__).with_name("linear.tile"), __doc__)


def bound(dtype, **bindings):
    return bindings if dtype == "bf16" else {"T": dtype, **bindings}


def tolerance(length, dtype, extra=0.0):
    """A sum of `length` products of normal numbers accumulated in f32, then rounded to dtype."""
    accumulated = ROUNDOFF["f32"] * 8 * (length + 1)
    return {"atol": accumulated + extra, "rtol": ROUNDOFF[dtype] + accumulated + extra}


def forward(shape, dtype, act, bias, pre, tiles):
    batch, inputs, outputs = shape
    x, w, b = rounded(normal(21, batch, inputs), dtype), rounded(normal(22, outputs, inputs) / max(inputs, 1) ** 0.5, dtype), rounded(normal(23, outputs), dtype)
    z = x @ w.T + (b if bias else 0.0)
    arguments = {"x": Input(x, dtype), "w": Input(w, dtype)}
    if bias:
        arguments["bias"] = Input(b, dtype)
    arguments["y"] = Output(ACTIVATIONS[act](z), dtype, **tolerance(inputs, dtype, 4e-7))
    if pre:
        arguments["pre"] = Output(z, dtype, **tolerance(inputs, dtype))
    name = f"{dtype} {batch}x{inputs}->{outputs} {act}{' bias' if bias else ''}{' pre' if pre else ''}"
    checker.run(name, "linear_forward", bound(dtype, act=act, **tiles), arguments)


def input_gradient(shape, dtype, act, tiles):
    batch, inputs, outputs = shape
    dy, w, pre = rounded(normal(24, batch, outputs), dtype), rounded(normal(25, outputs, inputs) / max(outputs, 1) ** 0.5, dtype), rounded(normal(26, batch, outputs), dtype)
    arguments = {"dy": Input(dy, dtype), "w": Input(w, dtype)}
    g = dy
    if act != "identity":
        arguments["pre"] = Input(pre, dtype)
        g = rounded(dy * GRADIENTS[act](pre), dtype)  # the kernel rounds the product to T before it multiplies
    # A product that falls on a rounding border may round to the other side: a unit of dtype of a few of its terms.
    slack = 0.0 if act == "identity" else ROUNDOFF[dtype] * 2
    arguments["dx"] = Output(g @ w, dtype, **tolerance(outputs, dtype, slack))
    checker.run(f"{dtype} {batch}x{inputs}->{outputs} {act}", "linear_input_gradient", bound(dtype, dact=act + "_gradient", **tiles), arguments)


def weight_gradient(shape, dtype, dbias, tiles):
    batch, inputs, outputs = shape
    x, dy = rounded(normal(27, batch, inputs), dtype), rounded(normal(28, batch, outputs), dtype)
    arguments = {"x": Input(x, dtype), "dy": Input(dy, dtype), "dw": Output(dy.T @ x, "f32", **tolerance(batch, "f32"))}
    if dbias:
        arguments["dbias"] = Output(dy.sum(axis=0), "f32", **tolerance(batch, "f32"))
    checker.run(f"{dtype} {batch}x{inputs}->{outputs}{' dbias' if dbias else ''}", "linear_weight_gradient", bound(dtype, **tiles), arguments)


quick = checker.quick
small = {"BM": 64, "BN": 64, "BK": 32}
for dtype in ["f32", "bf16"] if quick else ["f32", "f16", "bf16"]:
    for shape in [(37, 41, 53), (0, 8, 8)] if quick else [(37, 41, 53), (1, 1, 1), (130, 70, 66), (65, 200, 129), (0, 8, 8), (5, 0, 7), (4, 9, 0)]:
        forward(shape, dtype, "gelu", True, True, small)
        forward(shape, dtype, "relu", False, False, small)
        input_gradient(shape, dtype, "gelu", {"BM": 64, "BI": 64, "BO": 32})
        input_gradient(shape, dtype, "identity", {"BM": 64, "BI": 64, "BO": 32})
        weight_gradient(shape, dtype, shape[1] > 0, {"BO": 64, "BI": 64, "BB": 32})  # dbias needs inputs: see `requires`
    forward((37, 41, 53), dtype, "identity", True, False, small)
    input_gradient((37, 41, 53), dtype, "relu", {"BM": 32, "BI": 64, "BO": 32})
    weight_gradient((37, 41, 53), dtype, False, {"BO": 64, "BI": 64, "BB": 32})
forward((150, 100, 300), "bf16", "gelu", True, False, {})
input_gradient((150, 300, 100), "bf16", "gelu", {})
weight_gradient((100, 300, 150), "bf16", True, {})
if not quick:
    for tiles in [(16, 16, 16), (48, 80, 24), (96, 72, 40)]:
        forward((100, 190, 170), "bf16", "gelu", True, True, dict(zip(("BM", "BN", "BK"), tiles)))
        weight_gradient((190, 100, 170), "bf16", True, dict(zip(("BO", "BI", "BB"), tiles)))
sys.exit(checker.finish())
