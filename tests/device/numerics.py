#!/usr/bin/env python3
"""Functions, conversions and integer rules give the same bits on two devices.

    tests/device/numerics.py --tessera build/bin/tessera --device cuda:0

Runs the same kernels on the cpu and on the device over floats of every size, NaN and infinities, and compares the outputs bit by bit (any NaN equals any NaN).
exp2 and rsqrt, which each device has in hardware, may differ by the ulps that the language allows.  Standard library only.
"""
import argparse
import os
import random
import struct
import subprocess
import sys
import tempfile

ULPS = {"exp2": 4, "rsqrt": 4}
FUNCTIONS = ["exp", "exp2", "log", "log2", "tanh", "erf", "sin", "cos", "sqrt", "rsqrt", "floor", "ceil", "round", "trunc"]
F32 = """kernel test(x: in f32[N], z: in f32[N], {outs}) grid (i in 0..N by 1024) {{
  let a = x[i +: 1024]
  let b = z[i +: 1024]
{body}}}
"""
#: name, type of the output, expression of a and b (f32)
CASES = [(f, "f32", f"{f}(a)") for f in FUNCTIONS]
CASES += [("pow", "f32", "pow(a, b)"), ("div", "f32", "a / b"), ("max", "f32", "max(a, b)"), ("minnum", "f32", "minnum(a, b)"),
          ("f64", "f32", "f32(exp(f64(a)) + tanh(f64(b)) + log(abs(f64(a))))")]
CASES += [(f"to_{t}", t, f"{t}(a)") for t in ("f16", "i8", "u8", "i32", "u32", "i64", "u64")]
CASES += [(f"via_{t}", "f32", f"f32({t}(a))") for t in ("bf16", "f8e4m3", "f8e5m2")]
CASES += [("from_i64", "f32", "f32(bf16(i64(a)))"), ("from_i32", "f32", "f32(f16(i32(a)))"), ("quotient", "i32", "i32(a) / i32(b)"),
          ("remainder", "i32", "i32(a) % i32(b)"), ("ceildiv", "i64", "ceildiv(i64(a), i64(b))"), ("shifted", "i32", "i32(a) << i32(b) >> i32(b)"),
          ("narrow", "f32", "f32(f16(a) * f16(b) + f16(b))"), ("bfloat", "f32", "f32(bf16(a) * bf16(b) - bf16(b))")]
FORMATS = {"f16": ("<f2", "H"), "f32": ("<f4", "I"), "i8": ("|i1", "B"), "u8": ("|u1", "B"), "i32": ("<i4", "I"), "u32": ("<u4", "I"), "i64": ("<i8", "Q"),
           "u64": ("<u8", "Q")}


def save(path, bits):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(bits)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(bits)}I", *bits))


def load(path, kind):
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    letter = FORMATS[kind][1]
    return struct.unpack(f"<{(len(data) - start) // struct.calcsize(letter)}{letter}", data[start:])


def is_nan(bits, kind):
    return (kind == "f32" and bits & 0x7FFFFFFF > 0x7F800000) or (kind == "f16" and bits & 0x7FFF > 0x7C00)


def distance(x, y):
    order = lambda bits: bits if bits < 0x80000000 else 0x80000000 - bits
    return abs(order(x) - order(y))


def tiny(bits):
    return bits & 0x7FFFFFFF < 0x00800000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/bin/tessera")
    parser.add_argument("--device", default="cuda:0")
    options = parser.parse_args()
    special = [0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0x4F000000, 0xCF000000]
    picked = random.Random(1)
    x = list(range(0, 1 << 32, 40009)) + [a for a in special for _ in special] + [struct.unpack("<I", struct.pack("<f", picked.uniform(-300, 300)))[0] for _ in range(50000)]
    z = [struct.unpack("<I", struct.pack("<f", picked.choice([picked.uniform(-40, 40), picked.randint(-9, 9)])))[0] for _ in x]
    at = len(range(0, 1 << 32, 40009))
    z[at:at + len(special) ** 2] = special * len(special)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        save(f"{folder}/x.npy", x)
        save(f"{folder}/z.npy", z)
        for name, kind, expression in CASES:
            with open(f"{folder}/test.tile", "w") as file:
                file.write(F32.format(outs=f"y: out {kind}[N]", body=f"  y[i +: 1024] = where(b == 0.125, {kind}(0), {expression})\n"))
            outputs = []
            for device in ("cpu", options.device):
                command = [options.tessera, "run", f"{folder}/test.tile", "-k", "test", "--device", device, "--arg", f"x={folder}/x.npy", "--arg", f"z={folder}/z.npy",
                           "--arg", f"y=empty:{kind}:{len(x)}", "--out", f"y={folder}/y.npy"]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode:
                    print(f"{name}: {device} failed: {done.stdout[-500:]}{done.stderr[-500:]}")
                    break
                outputs.append(load(f"{folder}/y.npy", kind))
            if len(outputs) < 2:
                failures += 1
                continue
            wrong = []
            for i, (a, b) in enumerate(zip(*outputs)):
                if a == b or (is_nan(a, kind) and is_nan(b, kind)):
                    continue
                if name in ULPS and (distance(a, b) <= ULPS[name] or (tiny(a) and tiny(b)) or tiny(x[i])):
                    continue
                wrong.append(i)
            print(f"{name}: {'same' if not wrong else f'{len(wrong)} of {len(x)} differ, first x = {x[wrong[0]]:08x}, z = {z[wrong[0]]:08x}: {outputs[0][wrong[0]]:x} and {outputs[1][wrong[0]]:x}'}")
            failures += bool(wrong)
    print(f"{len(CASES) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
