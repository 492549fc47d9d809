#!/usr/bin/env python3
"""Unpacks the release archive and uses it: checksums, the command line, and libtessera.so in a process that has the distribution's LLVM too.

    unpack_release.py --archive build-static/tessera-0.1.0-x86_64-linux.tar.xz [--llvm /usr/lib/llvm-22/lib]
"""
import argparse
import pathlib
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", required=True, type=pathlib.Path)
    parser.add_argument("--llvm", default="/usr/lib/llvm-22/lib")
    parser.add_argument("--compiler", default="clang++-22")
    options = parser.parse_args()
    results = []

    def report(name, good, text=""):
        results.append(bool(good))
        print(f"{'ok    ' if good else 'FAILED'} {name}{'' if good else ': ' + text}", flush=True)

    digest = run("sha256sum", "-c", options.archive.name + ".sha256", cwd=options.archive.parent)
    report("the archive's checksum", digest.returncode == 0, digest.stderr)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(options.archive) as archive:
            archive.extractall(folder)
        root = next(pathlib.Path(folder).iterdir())
        sums = run("sha256sum", "-c", "--quiet", "SHA256SUMS", cwd=root)
        report("the files' checksums", sums.returncode == 0, sums.stdout)
        version = run(root / "bin" / "tessera", "version")
        report("bin/tessera runs", version.returncode == 0 and "LLVM 22" in version.stdout, version.stderr)
        library = root / "lib" / "libtessera.so"
        needed = [line.split("[")[1].rstrip("]") for line in run("readelf", "-d", library).stdout.splitlines() if "(NEEDED)" in line]
        foreign = [name for name in needed if any(part in name for part in ("LLVM", "MLIR", "fmt", "stdc++"))]
        report("libtessera.so needs no LLVM, MLIR, fmt or libstdc++", needed and not foreign, " ".join(foreign))
        shown = [line.split(maxsplit=2)[-1] for line in run("nm", "-DC", "--defined-only", library).stdout.splitlines()]
        stray = [name for name in shown if "tessera::" not in name]
        report(f"libtessera.so shows {len(shown)} symbols, all of them tessera's", len(shown) > 10 and not stray, "; ".join(stray[:5]))
        program = pathlib.Path(folder) / "beside_llvm"
        # LLVM first, so that its symbols would win if any of libtessera's were open to it.
        built = run(options.compiler, "-std=c++20", "-O1", f"-I{root}/include", f"-I{root}/include/tessera", HERE / "beside_llvm.cpp", "-o", program,
                    "-Wl,--no-as-needed", f"-L{options.llvm}", "-lLLVM-22", f"-L{root}/lib", "-ltessera", f"-Wl,-rpath,{options.llvm}:{root}/lib")
        report("a program builds against the archive and the distribution's LLVM", built.returncode == 0, built.stderr[-1500:])
        if built.returncode == 0:
            done = run(program)
            report(f"it runs: {done.stdout.strip()}", done.returncode == 0, done.stderr + f"exit code {done.returncode}")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
