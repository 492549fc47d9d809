#!/usr/bin/env python3
"""No special cases: an example whose kernels, parameters, dimensions and locals are renamed gives the same PTX but for the kernel's name.

Renames every identifier that a program declares (kernels, fns, compile-time and run-time parameters, dimensions, grid coordinates, locals) to one
that says nothing, compiles both, puts the old names back into the text, and compares byte by byte.  Line information is off: columns move.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: words of the language and its builtins; everything else that a program mentions was declared by it
LANGUAGE = set("""
kernel fn op tune let var for in by if else while return requires grid and or not true false None temp import with static
out inout accum int bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 f8e4m3 f8e5m2
zeros full iota sum max min any all argmax argmin exp exp2 log log2 sqrt rsqrt sin cos tanh erf pow floor ceil round abs fma where clamp inside
reshape permute broadcast concat split stack take dot sum_type ceildiv axis pad precision inf nan log2e ln2 assert static_assert assume uniform
maxnum minnum cumsum T warps stages cluster roles raster persistent
""".split()) - {"T"}
CASES = [
    ("vector_add", "vector_add", {}),
    ("softmax", "softmax_online", {}),
    ("softmax", "softmax_row", {"C": "1000"}),
    ("matmul", "matmul", {"BM": "64", "BN": "128"}),
    ("linear", "linear_forward", {"act": "gelu"}),
    ("linear", "linear_input_gradient", {"BM": "64", "BI": "128"}),
    ("linear", "linear_weight_gradient", {}),
    ("attention", "attention_forward", {"causal": "true"}),
    ("attention", "attention_varlen", {"causal": "true", "BN": "64", "BM": "64"}),
]


def rename(text):
    """The renamed text and the map from old names to new ones."""
    names = {}

    def one(match):
        word = match.group(0)
        if match.group(0).startswith(("//", '"')):
            return word
        if word in LANGUAGE or not re.match(r"[A-Za-z_]", word):
            return word
        # .T is an operator and not the type parameter T
        if word == "T" and match.start() > 0 and text[match.start() - 1] == "." and not text[match.start() - 2] == ".":
            return word
        # order among names must stay: dimensions are passed in alphabetical order or in order of appearance, whichever the compiler chose
        return names.setdefault(word, f"{'Q' if word[0].isupper() else 'q'}{len(names):03d}")

    return re.sub(r'//[^\n]*|"[^"\n]*"|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_]\w*', one, text), names


def compile_text(tessera, text, kernel, bindings, target):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.tile"
        path.write_text(text)
        command = [tessera, "compile", str(path), "-k", kernel, "--target", target, "--no-lineinfo", "-o", "-"]
        for name, value in bindings.items():
            command += ["-D", f"{name}={value}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}\n{done.stderr}")
        return done.stdout


def run_case(tessera, program, kernel, bindings, target):
    text = (ROOT / "examples" / program / f"{program}.tile").read_text()
    renamed, names = rename(text)
    if len(names) < 5 or kernel not in names:
        return f"only {len(names)} names were found"
    old = compile_text(tessera, text, kernel, bindings, target)
    new = compile_text(tessera, renamed, names[kernel], {names[k]: names.get(v, v) for k, v in bindings.items()}, target)
    # Whole words and mangled parts: the kernel's name stands in the entry, its parameters and its shared memory.  Comments are aligned behind it.
    old, new = (re.sub(r" +//", " //", text.replace(name, "KERNEL")) for text, name in ((old, kernel), (new, names[kernel])))
    if old == new:
        return None
    for number, (a, b) in enumerate(zip(old.splitlines(), new.splitlines()), 1):
        if a != b:
            return f"line {number} differs:\n    {a}\n    {b}"
    return "one text is longer"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default=os.environ.get("TESSERA", str(ROOT / "build" / "bin" / "tessera")))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    passed = failed = 0
    for program, kernel, bindings in CASES:
        for target in ("sm_80", "sm_90a"):
            name = f"rename: {kernel} {target}"
            if options.list:
                print(name)
                continue
            try:
                error = run_case(options.tessera, program, kernel, bindings, target)
            except RuntimeError as reason:
                error = str(reason)
            passed, failed = passed + (error is None), failed + (error is not None)
            print(f"{'ok    ' if error is None else 'FAILED'} {name}{'' if error is None else ': ' + error}", flush=True)
    if options.list:
        return 0
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
