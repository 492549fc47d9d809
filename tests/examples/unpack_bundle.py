#!/usr/bin/env python3
"""Unpacks tessera-gpu.tar.xz as a GPU machine would, verifies its checksums, and runs its checks on the CPU.

    unpack_bundle.py --bundle build-static/tessera-gpu.tar.xz

Also: the archive is 40 MB or less, names no machine's paths in its scripts, and its compiler needs no library beyond those of any Linux.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

SYSTEM = ("libc.so", "libm.so", "libz.so", "libzstd.so", "libpthread.so", "libdl.so", "librt.so", "libgcc_s.so", "ld-linux", "linux-vdso")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", required=True, type=pathlib.Path)
    options = parser.parse_args()
    results = []

    def report(name, good, text=""):
        results.append(good)
        print(f"{'ok    ' if good else 'FAILED'} {name}{'' if good else ': ' + text}", flush=True)

    size = options.bundle.stat().st_size / 1e6
    report(f"{size:.1f} MB", size <= 40, "more than 40 MB")
    digest = subprocess.run(["sha256sum", "-c", options.bundle.name + ".sha256"], cwd=options.bundle.parent, capture_output=True, text=True)
    report("the archive's checksum", digest.returncode == 0, digest.stderr)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(options.bundle) as archive:
            archive.extractall(folder)
        root = pathlib.Path(folder) / "tessera-gpu"
        sums = subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=root, capture_output=True, text=True)
        report("the files' checksums", sums.returncode == 0, sums.stdout)
        libraries = subprocess.run(["ldd", root / "bin" / "tessera"], capture_output=True, text=True).stdout
        foreign = [line.split()[0] for line in libraries.splitlines() if not any(name in line.split()[0] for name in SYSTEM)]
        report("libraries of any Linux only", bool(libraries) and not foreign, " ".join(foreign))
        done = subprocess.run([root / "run", "--device", "cpu", "--quick"], cwd="/", capture_output=True, text=True)
        last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
        checked = re.fullmatch(r"(\d+) passed, 0 failed", last)
        print("    " + done.stdout.replace("\n", "\n    ").rstrip().removesuffix(last).rstrip())
        report(f"./run --device cpu --quick: {last}", done.returncode == 0 and bool(checked) and int(checked.group(1)) >= 20, done.stdout[-2000:] + done.stderr)
        none = subprocess.run([root / "run", "--device", "cpu", "--only", "peers"], capture_output=True, text=True)
        report("./run that checks nothing is no success", none.returncode != 0, none.stdout)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
