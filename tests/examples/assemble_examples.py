#!/usr/bin/env python3
"""Compiles every example kernel for every GPU target and has ptxas assemble it; also: the same bytes from run to run.

    assemble_examples.py [--tessera build/bin/tessera] [--targets sm_80,sm_90a] [--require] [--list]

Without ptxas the script says `skipped` and succeeds; `--require` (or CI=true in the environment) makes that a failure.  A spill fails the case,
unless SPILLS allows that many bytes.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "scripts"))
import assemble_ptx  # noqa: E402

#: (program, kernel, bindings); a binding of `layout` to `any` leaves alignment and strides open, as for odd row pitches
CASES = [
    ("vector_add", "vector_add", {}),
    ("vector_add", "vector_add", {"T": "bf16", "BLOCK": "4096"}),
    ("softmax", "softmax_row", {"C": "1000"}),
    ("softmax", "softmax_row", {"C": "2049", "layout": "any"}),
    ("softmax", "softmax_online", {}),
    ("softmax", "softmax_online", {"layout": "any"}),
    ("softmax", "softmax_three", {}),
    ("matmul", "matmul", {}),
    ("matmul", "matmul", {"T": "f16", "TO": "f32", "BM": "64", "BN": "64"}),
    ("matmul", "matmul", {"T": "f32", "BM": "64", "BN": "64", "BK": "32"}),
    ("linear", "linear_forward", {"act": "gelu"}),
    ("linear", "linear_forward", {"act": "gelu", "layout": "any"}),
    ("linear", "linear_input_gradient", {"BM": "64", "BI": "128"}),
    ("linear", "linear_weight_gradient", {"BO": "64", "BI": "128"}),
    ("attention", "attention_forward", {"causal": "true"}),
    ("attention", "attention_forward", {"D": "64", "T": "bf16"}),
    ("attention", "attention_forward", {"D": "72", "BN": "64", "BM": "64"}),
    ("attention", "attention_forward", {"D": "80", "BN": "64", "BM": "64"}),
    ("attention", "attention_forward", {"D": "96", "BN": "64", "BM": "64", "causal": "true"}),
    ("attention", "attention_forward", {"D": "64", "layout": "any"}),
    ("attention", "attention_forward", {"D": "256", "BN": "64", "BM": "64"}),
    ("attention", "attention_varlen", {"causal": "true", "BN": "64", "BM": "64"}),
]

#: Bytes that a case may spill for now: head dimensions whose tiles fill the registers of a warp.  Everything else must not spill.
SPILLS = {
    ("attention_forward", "D", "256"): 64,
    ("attention_forward", "D", "96"): 64,
    ("attention_forward", "causal", "true"): 64,
}


def label(case, target):
    program, kernel, bindings = case
    return f"{kernel} {' '.join(f'{k}={v}' for k, v in bindings.items())} {target}".replace("  ", " ")


def compile_case(tessera, case, target, path):
    program, kernel, bindings = case
    command = [tessera, "compile", str(ROOT / "examples" / program / f"{program}.tile"), "-k", kernel, "--target", target, "-o", path]
    for name, value in bindings.items():
        command += ["--any-layout"] if name == "layout" else ["-D", f"{name}={value}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def run_case(tessera, ptxas, case, target):
    """An error text, or None."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ptx")
        done = compile_case(tessera, case, target, path)
        if done.returncode:
            return f"does not compile (exit code {done.returncode})\n{done.stdout}{done.stderr}"
        text = pathlib.Path(path).read_text()
        if target == "sm_90a":
            compile_case(tessera, case, target, path + ".again")
            if pathlib.Path(path + ".again").read_text() != text:
                return "another run of the compiler gives other bytes"
        if not ptxas:
            return None
        status, log = assemble_ptx.assemble(ptxas, text, target, None)
        if status:
            return f"ptxas rejects it\n{log}"
        rows, losses = assemble_ptx.parse_log(log)
        if not rows:
            return f"ptxas found no entry\n{log}"
        for entry, registers, stores, loads, _, _ in rows:
            allowed = max((SPILLS.get((case[1], name, value), 0) for name, value in case[2].items()), default=0)
            if max(stores, loads) > allowed:
                return f"{entry} spills {stores} bytes of stores and {loads} of loads with {registers} registers"
        return "\n".join(losses) or None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default=os.environ.get("TESSERA", str(ROOT / "build" / "bin" / "tessera")))
    parser.add_argument("--targets", default=",".join(assemble_ptx.MINIMUM))
    parser.add_argument("--require", action="store_true", default=os.environ.get("CI") == "true", help="fail without ptxas")
    parser.add_argument("--filter", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    work = [(case, target) for case in CASES for target in options.targets.split(",") if options.filter in label(case, target)]
    if options.list:
        print("\n".join("ptx: " + label(*item) for item in work))
        return 0
    ptxas = assemble_ptx.find_ptxas("")
    if not ptxas:
        print("skipped: no ptxas; only compiling")
        if options.require:
            print("0 passed, 1 failed")
            return 1
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for item, error in zip(work, pool.map(lambda item: run_case(options.tessera, ptxas, *item), work)):
            passed, failed = passed + (error is None), failed + (error is not None)
            if error is not None:
                print(f"FAILED {label(*item)}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
