#!/usr/bin/env python3
"""The command line from outside: exit codes and what the messages say, for right and for wrong use.

Exit codes: 0 right, 1 the program or its data is wrong (also an unreadable input), 2 usage, 3 the machine, 70 our own fault (never here).
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ADD = str(ROOT / "examples" / "vector_add" / "vector_add.tile")
LINEAR = str(ROOT / "examples" / "linear" / "linear.tile")
ATTENTION = str(ROOT / "examples" / "attention" / "attention.tile")
ARGS = ["--arg", "x=arange:f32:5", "--arg", "y=arange:f32:5", "--arg", "z=empty:f32:5"]
CPU = ["run", ADD, "--device", "cpu"]

#: name, arguments, exit code, patterns that standard output and standard error together must match; %T is a scratch folder
CASES = [
    ("help", ["--help"], 0, ["check", "compile", "run", "explain", "doctor", "bench", "version", "Exit codes"]),
    ("help of a command", ["run", "--help"], 0, ["SPEC", "randn", "--device"]),
    ("version", ["version"], 0, [r"tessera \d+\.\d+\.\d+", r"LLVM 22"]),
    ("bench", ["bench", "--device", "cpu", "--json"], 0, ['"warm_ns": ', '"prepared_ns": ']),
    ("an image with machine code by what is no ptxas", ["compile", ADD, "--ptxas", "/bin/true", "-o", "%T/add.tessera"], 3, ["/bin/true", "T0625"]),
    ("no machine code for the host", ["compile", ADD, "--target", "host", "--emit", "cubin", "-o", "%T/add.cubin"], 2, ["T0505"]),
    ("cache folder", ["cache", "path", "--cache", "%T/cache"], 0, ["/cache$"]),
    ("a cache's limit", ["cache", "trim", "--cache", "%T/cache", "--cache-limit", "2MB"], 0, ["0 bytes of at most 2097152"]),
    ("a cache's limit that is none", ["cache", "size", "--cache-limit", "2 barrels"], 2, ["--cache-limit", "barrels"]),
    ("no cache folder", ["cache", "size", "--cache", "off"], 2, ["T0643"]),
    ("doctor", ["doctor"], 0, ["sm_80", "sm_90a", "sm_120a", "host", "driver"]),
    ("explain", ["explain", "T0604"], 0, ["dimensions disagree", "--arg"]),
    ("an unknown code", ["explain", "T9999"], 2, ["T9999"]),
    ("no command", [], 2, ["."]),
    ("an unknown command", ["frobnicate"], 2, ["."]),
    ("an unknown option", ["run", ADD, "--frobnicate"], 2, ["frobnicate"]),
    ("check", ["check", ADD], 0, []),
    ("check of all acceptance programs", ["check", str(ROOT / "tests/acceptance/kernels.tile")], 0, []),
    ("a missing file", ["check", "%T/nothing.tile"], 1, ["nothing.tile", "T0644"]),
    ("a folder for a file", ["check", "%T"], 1, ["T0644"]),
    ("a right sum", CPU + ARGS + ["--print", "z"], 0, [r"\[0, 2, 4, 6, 8\]"]),
    ("a wrong element type", CPU + ["--arg", "x=arange:f32:5", "--arg", "y=arange:i32:5", "--arg", "z=empty:f32:5"], 1, ["y", "i32", "f32"]),
    ("a wrong shape", CPU + ["--arg", "x=arange:f32:5", "--arg", "y=arange:f32:6", "--arg", "z=empty:f32:5"], 1, ["N", "5", "6", "T0604"]),
    ("a wrong rank", CPU + ["--arg", "x=arange:f32:5x1", "--arg", "y=arange:f32:5", "--arg", "z=empty:f32:5"], 1, ["x", "1 dimension", "2"]),
    ("a missing argument", CPU + ["--arg", "x=arange:f32:5", "--arg", "y=arange:f32:5"], 1, ["z"]),
    ("an argument that nobody asked for", CPU + ARGS + ["--arg", "w=arange:f32:5"], 1, ["w"]),
    ("a malformed argument", CPU + ["--arg", "x=foo:f32:5"], 2, ["T0643"]),
    ("a missing .npy", CPU + ["--arg", "x=%T/none.npy", "--arg", "y=arange:f32:5", "--arg", "z=empty:f32:5"], 1, ["none.npy"]),
    ("a file that is no .npy", CPU + ["--arg", "x=%T/bad.npy", "--arg", "y=arange:f32:5", "--arg", "z=empty:f32:5"], 1, ["bad.npy"]),
    ("no such kernel", ["run", ADD, "-k", "vector_sub", "--device", "cpu", *ARGS], 1, ["vector_sub", "vector_add"]),
    ("several kernels", ["run", LINEAR, "--device", "cpu"], 2, ["linear_forward", "-k"]),
    ("no such device", ["run", ADD, "--device", "tpu", *ARGS], 2, ["tpu", "cpu"]),
    ("a GPU that is not there", ["run", ADD, "--device", "cuda:99", *ARGS], 3, ["."]),
    ("no such target", ["compile", ADD, "--target", "sm_90"], 2, ["sm_90a", "T0504"]),
    ("an unwritable output", ["compile", ADD, "-o", "%T/no/such/folder/a.ptx"], 3, ["a.ptx"]),
    ("an unwritable result", CPU + ARGS + ["--out", "z=%T/no/such/folder/z.npy"], 3, ["z.npy"]),
    ("a binding that nothing asks for", ["compile", ADD, "-D", "FOO=3", "-o", "-"], 1, ["FOO", "T0403"]),
    ("a binding of the wrong kind", ["compile", ADD, "-D", "BLOCK=bf16", "-o", "-"], 1, ["BLOCK"]),
    ("a block of nothing", ["compile", ADD, "-D", "BLOCK=0", "-o", "-"], 1, ["T0\\d\\d\\d"]),
    ("a requirement that fails", ["run", ATTENTION, "-k", "attention_forward", "--device", "cpu", "--arg", "q=zeros:f16:1x3x4x64", "--arg", "k=zeros:f16:1x2x4x64",
                                  "--arg", "v=zeros:f16:1x2x4x64", "--arg", "o=empty:f16:1x3x4x64", "--arg", "lse=empty:f32:1x3x4", "--arg", "scale=1.0"],
     1, [r"H % G == 0"]),
    ("a check that fails", CPU + ARGS + ["--check", "z=%T/five.npy"], 1, ["FAILED", "T0640"]),
    ("a check that holds", CPU + ["--arg", "x=%T/five.npy", "--arg", "y=zeros:f32:5", "--arg", "z=empty:f32:5", "--check", "z=%T/five.npy"], 0, ["ok"]),
    ("a header without a file", ["compile", ADD, "--emit", "header"], 2, ["T0643", "-o FILE.h"]),
    ("a header for no such target", ["compile", ADD, "--target", "host,sm_91", "-o", "%T/add.h"], 2, ["sm_91", "T0504"]),
    ("a header with no such optional tensor", ["compile", LINEAR, "--target", "host", "--with", "biass", "-o", "%T/linear.h"], 2, ["biass", "bias", "T0616"]),
    ("a header in no namespace", ["compile", ADD, "--target", "host", "--namespace", "a::class", "-o", "%T/add.h"], 2, ["a::class", "T0643"]),
    ("a header and its report", ["compile", LINEAR, "--target", "host,sm_90a", "--with", "bias", "--report", "-o", "%T/linear.hpp"], 0, ["sm_90a, any layout"]),
    ("source from standard input", ["check", "-"], 1, ["<stdin>"]),
    ("a tile too large for the machine", ["compile", str(ROOT / "examples/matmul/matmul.tile"), "-D", "BM=4096", "-D", "BN=4096", "-o", "-"], 1, ["T0\\d\\d\\d"]),
]


def npy(path, values):
    """A file of little-endian f32, written by hand so that this script needs no numpy."""
    import struct
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values))


def run(tessera, arguments, folder):
    arguments = [part.replace("%T", str(folder)) for part in arguments]
    return subprocess.run([tessera, *arguments], input="kernel {\n", capture_output=True, text=True, timeout=60, cwd=folder, env={**os.environ, "NO_COLOR": "1"})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default=os.environ.get("TESSERA", str(ROOT / "build" / "bin" / "tessera")))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join("cli: " + case[0] for case in CASES))
        return 0
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        npy(folder / "five.npy", [1, 2, 3, 4, 5])
        (folder / "bad.npy").write_bytes(b"not an array")
        for name, arguments, code, patterns in CASES:
            done = run(options.tessera, arguments, folder)
            text = done.stdout + done.stderr
            wrong = [pattern for pattern in patterns if not re.search(pattern, text)]
            # Every message of an error that is ours has a remedy or a usage line, and no stack dump ever shows.
            if "Stack dump" in text or "LLVM ERROR" in text:
                wrong.append("a stack dump")
            good = done.returncode == code and not wrong
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"FAILED {name}: exit code {done.returncode}, expected {code}; not found: {wrong}\n{text[:1500]}")
        # Diagnostics as JSON are one object on standard output.
        done = run(options.tessera, ["check", "-", "--json"], folder)
        try:
            parsed = json.loads(done.stdout)
            good = done.returncode == 1 and parsed["diagnostics"][0]["code"].startswith("T0")
        except (ValueError, KeyError, IndexError):
            good = False
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"FAILED --json: {done.stdout[:500]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
