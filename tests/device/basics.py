#!/usr/bin/env python3
"""The first things that must be right on a device, checked with plain Python and nothing else: a machine needs only python3.

    tests/device/basics.py --tessera build/bin/tessera [--device cpu]

Inputs are numbers that f32 holds exactly; references are computed here in float64.  Shapes are multiples of nothing.
"""
import argparse
import array
import itertools
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")


def save(path, shape, values):
    shape_text = "(" + "".join(f"{extent}, " for extent in shape) + ")"
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % shape_text
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array.array("f", values).tobytes())


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    numbers = array.array("f")
    numbers.frombytes(data[10 + struct.unpack("<H", data[8:10])[0]:])
    return list(numbers)


def softmax(row):
    top = max(row)
    powers = [math.exp(x - top) for x in row]
    return [p / math.fsum(powers) for p in powers]


def product(a, b, m, k, n):
    return [math.fsum(a[i * k + p] * b[p * n + j] for p in range(k)) for i, j in itertools.product(range(m), range(n))]


def gelu(x):
    return 0.5 * x * (1 + math.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))


def cases(numbers):
    """Name, program, kernel, bindings, inputs (name -> shape, values), scalars, outputs (name -> shape, reference), tolerance."""
    for n in (1, 1000, 1025):
        x, y = numbers(n), numbers(n)
        yield f"vector_add {n}", "vector_add", "vector_add", [], {"x": ((n,), x), "y": ((n,), y)}, {}, {"z": ((n,), [a + b for a, b in zip(x, y)])}, 0
    for kernel, (rows, columns) in itertools.product(("softmax_row", "softmax_online", "softmax_three"), ((5, 37), (3, 1029))):
        x = numbers(rows * columns)
        reference = [p for r in range(rows) for p in softmax(x[r * columns:(r + 1) * columns])]
        yield f"{kernel} {rows}x{columns}", "softmax", kernel, ["T=f32"], {"x": ((rows, columns), x)}, {}, {"y": ((rows, columns), reference)}, 2e-6
    for m, k, n in ((1, 1, 1), (37, 53, 29), (130, 70, 33)):
        a, b = numbers(m * k), numbers(k * n)
        yield f"matmul {m}x{k}x{n}", "matmul", "matmul", ["T=f32"], {"a": ((1, m, k), a), "b": ((1, k, n), b)}, {}, {"c": ((1, m, n), product(a, b, m, k, n))}, 1e-4
        w, bias = [b[p * n + j] for j in range(n) for p in range(k)], numbers(n)  # outputs x inputs
        z = product(a, b, m, k, n)
        reference = [gelu(z[i * n + j] + bias[j]) for i in range(m) for j in range(n)]
        yield f"linear_forward {m}x{k}x{n} gelu", "linear", "linear_forward", ["T=f32", "act=gelu"], {"x": ((m, k), a), "w": ((n, k), w), "bias": ((n,), bias)}, {}, {"y": ((m, n), reference)}, 1e-4
    for causal, (n, m, d) in itertools.product((False, True), ((5, 9, 32), (33, 21, 64))):
        q, k, v = numbers(n * d), numbers(m * d), numbers(m * d)
        scale, o, lse = 0.125, [], []
        for i in range(n):
            last = min(m, i + m - n + 1) if causal else m
            scores = [scale * math.fsum(q[i * d + c] * k[j * d + c] for c in range(d)) for j in range(last)]
            p = softmax(scores) if scores else []
            o += [math.fsum(p[j] * v[j * d + c] for j in range(len(p))) for c in range(d)]
            lse.append(max(scores) + math.log(math.fsum(math.exp(s - max(scores)) for s in scores)) if scores else -math.inf)
        shape = lambda extent: (1, 1, extent, d)
        yield (f"attention {n}x{m} d{d}{' causal' if causal else ''}", "attention", "attention_forward", ["T=f32", "BN=32", "BM=32", f"causal={str(causal).lower()}"],
               {"q": (shape(n), q), "k": (shape(m), k), "v": (shape(m), v)}, {"scale": scale}, {"o": (shape(n), o), "lse": ((1, 1, n), lse)}, 2e-5)


def run(options, folder, program, kernel, bindings, inputs, scalars, outputs):
    command = [options.tessera, "run", os.path.join(EXAMPLES, program, program + ".tile"), "-k", kernel, "--device", options.device]
    for binding in bindings:
        command += ["-D", binding]
    for name, (shape, values) in inputs.items():
        save(f"{folder}/{name}.npy", shape, values)
        command += ["--arg", f"{name}={folder}/{name}.npy"]
    for name, value in scalars.items():
        command += ["--arg", f"{name}={value}"]
    for name, (shape, _) in outputs.items():
        command += ["--arg", f"{name}=empty:f32:{'x'.join(map(str, shape))}", "--out", f"{name}={folder}/{name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[:1000]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/bin/tessera")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    picked = random.Random(7)
    numbers = lambda count: [picked.randint(-2048, 2048) / 1024 for _ in range(count)]
    passed = failed = 0
    largest = 0.0
    for name, program, kernel, bindings, inputs, scalars, outputs, tolerance in cases(numbers):
        with tempfile.TemporaryDirectory() as folder:
            problem = run(options, folder, program, kernel, bindings, inputs, scalars, outputs)
            for output, (_, reference) in outputs.items() if not problem else ():
                found = load(f"{folder}/{output}.npy")
                if len(found) != len(reference):
                    problem = f"{output} has {len(found)} elements, expected {len(reference)}"
                    break
                errors = [0.0 if a == b else abs(a - b) for a, b in zip(found, reference)]
                bad = [i for i, error in enumerate(errors) if not error <= tolerance * max(1.0, abs(reference[i]))]
                if bad:
                    problem = f"{len(bad)} of {len(found)} are wrong: {output}[{bad[0]}] = {found[bad[0]]!r}, expected {reference[bad[0]]!r}"
                    break
                largest = max(largest, *errors)
        passed, failed = passed + (problem is None), failed + (problem is not None)
        print(f"{'ok    ' if problem is None else 'FAILED'} {name}{'' if problem is None else ': ' + problem}", flush=True)
    print(f"maximum error {largest:.3e}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
