#!/usr/bin/env python3
"""Installs into a fresh prefix and builds two strangers' projects against it: one with the compiler inside, one that only runs ready images.

    install_package.py --build build

The second must link without any symbol of LLVM.  Everything that the default build makes must have been built.
"""
import argparse
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
        symbols = subprocess.run(["nm", "-C", str(folder / "runs-build" / "runs")], capture_output=True, text=True).stdout
        clean = bool(symbols) and " llvm::" not in symbols and " mlir::" not in symbols
        results.append(clean)
        print(f"{'ok    ' if clean else 'FAILED'} the runtime's application has no symbol of LLVM")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
