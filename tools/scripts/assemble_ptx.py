#!/usr/bin/env python3
"""Assembles PTX with ptxas and reports registers, spills and warnings.

    assemble_ptx.py kernel.ptx                            for the target that the file names
    assemble_ptx.py kernel.ptx --targets sm_80,sm_90a     for others: the .target line is replaced, and .version raised where it must be
    assemble_ptx.py a.ptx b.ptx --no-spills --no-perf-loss --require

ptxas is looked for in this order: --ptxas, PATH, CUDA_HOME or CUDA_PATH, /usr/local/cuda, then the Python package nvidia-cuda-nvcc (any of its
names).  Without one the script prints `skipped: no ptxas` and succeeds; with --require it fails.  Exit codes: 0 all assembled, 1 one did not or
broke a rule, 2 wrong usage, 3 no ptxas under --require.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

# The smallest PTX version of each target, as in compiler/Target/Target.cpp (TargetTest compares).
MINIMUM = {"sm_80": "7.0", "sm_86": "7.1", "sm_89": "8.4", "sm_90a": "8.4", "sm_100a": "8.6", "sm_103a": "8.8", "sm_120a": "8.7"}


def find_ptxas(explicit):
    """The path of ptxas, or None."""
    if explicit:
        return explicit if shutil.which(explicit) else None
    candidates = [shutil.which("ptxas")]
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            candidates.append(os.path.join(os.environ[variable], "bin", "ptxas"))
    candidates.append("/usr/local/cuda/bin/ptxas")
    for key in ("purelib", "platlib"):
        site = pathlib.Path(sysconfig.get_paths()[key])
        candidates += sorted(map(str, site.glob("nvidia/*/bin/ptxas")), reverse=True)
    return next((c for c in candidates if c and os.access(c, os.X_OK)), None)


def retarget(text, target):
    """The same PTX for `target`, its version no lower than the target needs."""
    text = re.sub(r"(?m)^\.target\s+\w+", f".target {target}", text, count=1)
    found = re.search(r"(?m)^\.version\s+(\d+)\.(\d+)", text)
    if found and target in MINIMUM:
        least = tuple(map(int, MINIMUM[target].split(".")))
        if tuple(map(int, found.groups())) < least:
            text = text[: found.start()] + f".version {MINIMUM[target]}" + text[found.end() :]
    return text


def assemble(ptxas, text, target, keep):
    """(exit status, log) of one run."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "kernel.ptx")
        output = keep or os.path.join(folder, "kernel.cubin")
        pathlib.Path(source).write_text(text)
        run = subprocess.run([ptxas, "-v", f"-arch={target}", source, "-o", output], capture_output=True, text=True)
        return run.returncode, (run.stdout + run.stderr).replace(source, "kernel.ptx")


def parse_log(log):
    """[(entry, registers, spill stores, spill loads, stack, shared)] in bytes, and the lines about lost performance."""
    rows, current, properties = {}, None, None
    for line in log.splitlines():
        entry = re.search(r"Compiling entry function '([^']*)'", line)
        of = re.search(r"Function properties for (\S+)", line)
        stack = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        used = re.search(r"Used (\d+) registers", line)
        if entry:
            current = properties = entry.group(1)
            rows[current] = [0, 0, 0, 0, 0]
        elif of:
            properties = of.group(1)
        elif stack and properties in rows:
            rows[properties][1:4] = int(stack.group(2)), int(stack.group(3)), int(stack.group(1))
        elif used and current in rows:
            rows[current][0] = int(used.group(1))
            shared = re.search(r"(\d+) bytes smem", line)
            rows[current][4] = int(shared.group(1)) if shared else 0
    return [(name, *values) for name, values in rows.items()], [l for l in log.splitlines() if "Potential Performance Loss" in l]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="PTX files; - is standard input")
    parser.add_argument("--targets", default="", help="comma-separated, or `all`; default: the one in the file")
    parser.add_argument("--ptxas", default="", help="which ptxas")
    parser.add_argument("--require", action="store_true", help="fail without ptxas")
    parser.add_argument("--no-spills", action="store_true", help="fail if registers spill")
    parser.add_argument("--no-perf-loss", action="store_true", help="fail on a `Potential Performance Loss` line")
    parser.add_argument("--max-registers", type=int, default=0, help="fail above this many registers a thread")
    parser.add_argument("-o", "--output", default="", help="keep the cubin (one file and one target)")
    options = parser.parse_args()

    ptxas = find_ptxas(options.ptxas)
    if not ptxas:
        print("skipped: no ptxas")
        return 3 if options.require else 0
    failures = []
    table = []
    for name in options.files:
        try:
            text = sys.stdin.read() if name == "-" else pathlib.Path(name).read_text()
        except (OSError, UnicodeDecodeError) as error:
            failures.append(f"{name}: {error}")
            continue
        declared = re.search(r"(?m)^\.target\s+(\w+)", text)
        if not declared:
            failures.append(f"{name}: expected a .target line, found none")
            continue
        targets = list(MINIMUM) if options.targets == "all" else [t for t in options.targets.split(",") if t] or [declared.group(1)]
        if options.output and (len(targets) > 1 or len(options.files) > 1):
            parser.error("--output takes one file and one target")
        for target in targets:
            status, log = assemble(ptxas, retarget(text, target), target, options.output)
            label = f"{name} for {target}"
            if status != 0:
                failures.append(f"{label}: ptxas failed\n{log.strip()}")
                continue
            rows, losses = parse_log(log)
            if not rows:
                failures.append(f"{label}: no entry function")
            for entry, registers, stores, loads, stack, shared in rows:
                table.append((target, entry, registers, stores, loads, stack, shared))
                if options.no_spills and (stores or loads):
                    failures.append(f"{label}: {entry} spills {stores} bytes of stores, {loads} of loads")
                if options.max_registers and registers > options.max_registers:
                    failures.append(f"{label}: {entry} takes {registers} registers, expected at most {options.max_registers}")
            for loss in losses:
                print(f"{label}: {loss}")
                if options.no_perf_loss:
                    failures.append(f"{label}: {loss}")
    if table:
        width = max(5, *(len(row[1]) for row in table))
        print(f"{'target':8} {'entry':{width}} {'registers':>9} {'spill st':>8} {'spill ld':>8} {'stack':>6} {'shared':>7}")
        for target, entry, *numbers in table:
            print(f"{target:8} {entry:{width}} {numbers[0]:9} {numbers[1]:8} {numbers[2]:8} {numbers[3]:6} {numbers[4]:7}")
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
