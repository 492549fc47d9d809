#!/usr/bin/env python3
"""Time from source to PTX on one core: the whole process of `tessera compile`, median of several runs.

    bench_compile.py [--tessera build/bin/tessera] [--target sm_90a] [--runs 9]

Also prints the size of the PTX; CI gates on instruction counts and byte identity (tests), never on this clock.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = [
    ("attention", "attention_forward", ["causal=true"]),
    ("attention", "attention_forward", ["D=64"]),
    ("attention", "attention_varlen", ["causal=true"]),
    ("linear", "linear_forward", ["act=gelu"]),
    ("matmul", "matmul", []),
    ("softmax", "softmax_online", []),
    ("vector_add", "vector_add", []),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default=str(ROOT / "build" / "bin" / "tessera"))
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    one_core = ["taskset", "-c", "0"] if hasattr(os, "sched_setaffinity") else []
    print(f"source to PTX for {options.target}, one core, median and range of {options.runs} runs of the whole process")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ptx")
        for program, kernel, bindings in CASES:
            command = [*one_core, options.tessera, "compile", str(ROOT / "examples" / program / f"{program}.tile"), "-k", kernel, "--target", options.target,
                       "-o", path]
            for binding in bindings:
                command += ["-D", binding]
            times = []
            for _ in range(options.runs + 1):  # the first warms the file cache
                begin = time.perf_counter()
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                times.append(time.perf_counter() - begin)
            times = sorted(times[1:])
            text = pathlib.Path(path).read_text()
            instructions = len(re.findall(r"^\s+(?:@!?%p\d+\s+)?[a-z][\w.:]*\s[^;]*;", text, re.M))
            print(f"  {kernel:20} {' '.join(bindings):14} {statistics.median(times) * 1e3:7.0f} ms  ({times[0] * 1e3:.0f} to {times[-1] * 1e3:.0f})"
                  f"  {instructions:6} instructions, {len(text) / 1024:.0f} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
