"""The same bytes for every number of stages, every level of optimization, and every number of warps that leaves the order of sums alone."""
import re

from harness import ROOT, In, Out, case, np

EXAMPLES = ROOT / "examples"
RNG = np.random.default_rng(20)


def f32(*shape):
    return In("f32", RNG.standard_normal(shape).astype(np.float32))


def f16(*shape):
    return In("f16", RNG.standard_normal(shape).astype(np.float16))


def programs():
    """Label, program, kernel, bindings, arguments, and whether a row's sum is spread over warps."""
    yield "vector_add", EXAMPLES / "vector_add/vector_add.tile", "vector_add", {"T": "f32"}, {"x": f32(1031), "y": f32(1031), "z": Out("f32", (1031,))}, False
    for k in (0, 1, 31, 64, 100):  # trip counts 0 to 4
        yield (f"matmul, k = {k}", EXAMPLES / "matmul/matmul.tile", "matmul", {"T": "f16", "TO": "f32", "BM": 64, "BN": 64, "BK": 32},
               {"a": f16(1, 70, k), "b": f16(1, k, 66), "c": Out("f32", (1, 70, 66))}, False)
    yield ("attention", EXAMPLES / "attention/attention.tile", "attention_forward", {"T": "f16", "D": 64, "BN": 32, "BM": 32, "causal": True},
           {"q": f16(1, 2, 45, 64), "k": f16(1, 1, 70, 64), "v": f16(1, 1, 70, 64), "o": Out("f16", (1, 2, 45, 64)), "lse": Out("f32", (1, 2, 45)), "scale": 0.125}, True)
    for kernel in ("softmax_row", "softmax_online", "softmax_three"):
        yield kernel, EXAMPLES / "softmax/softmax.tile", kernel, {"T": "f32"}, {"x": f32(5, 1000), "y": Out("f32", (5, 1000))}, True


def bytes_of(t, program, flags):
    path, kernel, bindings, arguments = program[1:5]
    return {name: data.tobytes() for name, data in t.run(path, kernel, bindings, arguments, flags).items()}


@case("schedules", "the same bytes for every number of stages, and of warps where no sum changes its order")
def schedules(t):
    for program in programs():
        label, spread = program[0], program[5]
        first = bytes_of(t, program, ["--stages", "1"])
        for stages in (2, 3, 4):
            t.that(f"{label}: {stages} stages", bytes_of(t, program, ["--stages", str(stages)]) == first, "other bytes than with one stage")
        if not spread:
            one = bytes_of(t, program, ["--warps", "1"])
            for warps in (2, 4, 8):
                t.that(f"{label}: {warps} warps", bytes_of(t, program, ["--warps", str(warps)]) == one, "other bytes than with one warp")


#: what changes a value: arithmetic of floats, products, functions, conversions.  Copies, addresses, predicates and barriers are the schedule's own.
ARITHMETIC = re.compile(r"\b((?:add|sub|mul|fma|div|sqrt|rcp|ex2|max|min|neg|abs)(?:\.\w+)*\.(?:f16x2|bf16x2|f16|bf16|f32|f64)|mma\.sync[\w.]*|cvt\.\w+(?:\.\w+)*\.f32)\b")


def arithmetic(text):
    """The float instructions of a kernel in order."""
    return ARITHMETIC.findall("\n".join(line.split("//")[0] for line in text.splitlines()))


@case("schedules", "the same arithmetic in the PTX for every number of stages")
def schedules_ptx(t):
    kernels = [("matmul/matmul.tile", "matmul", ["-D", "BM=64", "-D", "BN=64"]), ("linear/linear.tile", "linear_forward", ["-D", "BM=64", "-D", "BN=64", "-D", "act=gelu"]),
               ("attention/attention.tile", "attention_forward", ["-D", "D=64", "-D", "BN=64", "-D", "BM=32", "-D", "causal=true"])]
    for path, kernel, flags in kernels:
        for target in ("sm_80", "sm_90a"):
            sequences = {}
            for stages in (1, 2, 3, 4):
                sequences[stages] = arithmetic(t.ptx(EXAMPLES / path, "-k", kernel, "--target", target, "--warps", "4", "--stages", str(stages), "--no-lineinfo", *flags))
            t.that(f"{kernel} on {target} has products", any(word.startswith("mma") for word in sequences[1]), "no mma found")
            for stages in (2, 3, 4):
                t.that(f"{kernel} on {target}: {stages} stages", sequences[stages] == sequences[1], f"{len(sequences[stages])} float instructions, {len(sequences[1])} with one stage")


@case("levels", "the same bytes from host code with and without LLVM's optimizations")
def levels(t):
    if t.device != "cpu":
        return t.that("the levels are those of host code", True)
    for program in programs():
        t.that(f"{program[0]}: -O0", bytes_of(t, program, ["-O0"]) == bytes_of(t, program, ["-O2"]), "other bytes than with -O2")
    x = RNG.standard_normal(5000).astype(np.float32) * 30
    bits = RNG.integers(0, 2**32, 5000, dtype=np.uint32).view(np.float32)
    for name in ("exp", "exp2", "log", "log2", "tanh", "erf", "sin", "cos", "sqrt", "rsqrt", "round"):
        source = f"kernel f(x: in f32[N], y: out f32[N], n: out i32[N], h: out f16[N]) grid (i in 0..N by 256) {{\n  let v = {name}(x[i +: 256])\n  y[i +: 256] = v * 0.1 + v / 3.0\n" \
                 "  n[i +: 256] = i32(v) / 7\n  h[i +: 256] = f16(v)\n}\n"
        for label, data in (("normal", x), ("any bits", bits)):
            arguments = {"x": In("f32", data), "y": Out("f32", data.shape), "n": Out("i32", data.shape), "h": Out("f16", data.shape)}
            low, high = (t.run(source, "f", {}, arguments, [level]) for level in ("-O0", "-O2"))
            for key in low:
                t.equal(f"{name} of {label} numbers, {key}", low[key], high[key])
