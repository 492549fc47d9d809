#!/usr/bin/env python3
"""Installs into a fresh prefix and builds three strangers' projects against it: one with the compiler inside, one that only runs ready images, and
examples/embedding, whose kernels are compiled when it is built.

    install_package.py --build build

The second and the third must link without any symbol or library of LLVM; the third must be built without reading a header of LLVM, without
finding its packages, and be smaller than 2 MB.  Everything that the default build makes must have been built.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = """cmake_minimum_required(VERSION 3.24)
project(Stranger LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(Tessera REQUIRED COMPONENTS compiler)
add_executable(compiles compiles.cpp)
target_link_libraries(compiles PRIVATE tessera::tessera)
"""
RUNTIME_PROJECT = """cmake_minimum_required(VERSION 3.24)
project(Stranger LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(Tessera REQUIRED)
add_executable(runs runs.cpp)
target_link_libraries(runs PRIVATE tessera::runtime)
"""
RUNS = """#include "runtime/Image/KernelImage.h"
#include "runtime/Launch/Device.h"
int main() {
  auto device = tessera::Device::open("cpu");
  auto image = tessera::KernelImage::deserialize("no image");
  return device && !image ? 0 : 1;
}
"""


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode:
        print(f"FAILED {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.returncode == 0


def free_of_llvm(program):
    symbols = subprocess.run(["nm", "-C", str(program)], capture_output=True, text=True).stdout
    libraries = subprocess.run(["ldd", str(program)], capture_output=True, text=True).stdout
    return bool(symbols) and " llvm::" not in symbols and " mlir::" not in symbols and bool(libraries) and "LLVM" not in libraries and "MLIR" not in libraries


def embedding(folder, compilers, report):
    """The example from its installed copy, as on a machine that has no LLVM to build with."""
    source, build = next((folder / "prefix").glob("share/tessera/examples/embedding")), folder / "embedding-build"
    environment = {name: value for name, value in os.environ.items() if name not in ("LLVM_DIR", "MLIR_DIR", "CPATH", "CPLUS_INCLUDE_PATH")}
    hidden = ["-DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON"]
    good = (run(["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}", *hidden, *compilers], env=environment)
            and run(["cmake", "--build", build], env=environment))
    report("embedding builds without LLVM's packages", good)
    if not good:
        return
    headers = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True).stdout
    foreign = [line.strip() for line in headers.splitlines() if "/llvm/" in line or "/mlir/" in line or "/llvm-c/" in line]
    report("embedding reads no header of LLVM", "embedded.hpp" in headers and not foreign)
    done = subprocess.run([str(build / "embedding")], capture_output=True, text=True)
    print("    " + (done.stdout + done.stderr).strip().replace("\n", "\n    "))
    report("embedding runs and its values are right", done.returncode == 0 and done.stdout.count("maximum error") == 3 and "refused as it should be" in done.stdout)
    report("embedding has no symbol and no library of LLVM", free_of_llvm(build / "embedding"))
    size = (build / "embedding").stat().st_size
    report(f"embedding is smaller than 2 MB: {size / 1e6:.2f} MB", size < 2_000_000)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"))
    options = parser.parse_args()
    compilers = [f"-D{variable}={line.split('=', 1)[1]}" for line in (pathlib.Path(options.build) / "CMakeCache.txt").read_text().splitlines()
                 for variable in ("CMAKE_CXX_COMPILER", "CMAKE_C_COMPILER") if line.startswith(variable + ":")]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if not run(["cmake", "--install", options.build, "--prefix", folder / "prefix"]):
            print("0 passed, 1 failed")
            return 1
        code = folder / "readme.cpp"
        run([sys.executable, ROOT / "tools" / "scripts" / "run_readme.py", "--extract-cpp", code])
        for name, project, text in [("compiles", PROJECT, code.read_text()), ("runs", RUNTIME_PROJECT, RUNS)]:
            source, build = folder / name, folder / (name + "-build")
            source.mkdir()
            (source / "CMakeLists.txt").write_text(project)
            (source / f"{name}.cpp").write_text(text)
            good = (run(["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}", *compilers])
                    and run(["cmake", "--build", build]) and run([build / name]))
            results.append(good)
            print(f"{'ok    ' if good else 'FAILED'} {name}")

        def report(name, good):
            results.append(good)
            print(f"{'ok    ' if good else 'FAILED'} {name}")

        report("the runtime's application has no symbol and no library of LLVM", free_of_llvm(folder / "runs-build" / "runs"))
        embedding(folder, compilers, report)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
