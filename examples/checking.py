"""What the check.py of every example shares: data, `tessera run`, comparison with a float64 reference, the table, the last line.

A check makes its inputs with numpy, rounds them to the element type under test, computes the reference in float64 *from the rounded
inputs*, and compares.  Nothing of the compiler takes part in the reference.
"""
import os
import shutil
import subprocess
import sys


def _need_numpy():
    """The first python3 on PATH may be one without numpy; another one beside it will do."""
    try:
        import numpy  # noqa: F401
        return
    except ImportError:
        pass
    tried = os.environ.get("TESSERA_PYTHON_TRIED", "").split(os.pathsep)
    for folder in os.environ.get("PATH", "").split(os.pathsep) + ["/usr/bin", "/usr/local/bin"]:
        candidate = shutil.which("python3", path=folder)
        if not candidate or candidate in tried or os.path.realpath(candidate) == os.path.realpath(sys.executable):
            continue
        tried.append(candidate)
        found = subprocess.run([candidate, "-c", "import numpy"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if found.returncode == 0:
            os.environ["TESSERA_PYTHON_TRIED"] = os.pathsep.join(tried)
            os.execv(candidate, [candidate] + sys.argv)
    sys.exit("numpy is missing: install it (Debian and Ubuntu: apt-get install python3-numpy; elsewhere: pip install numpy)")


_need_numpy()

import argparse  # noqa: E402
import pathlib  # noqa: E402
import tempfile  # noqa: E402

import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent

#: unit roundoff of a type: half the distance from 1 to the next number
ROUNDOFF = {"f64": 2.0 ** -53, "f32": 2.0 ** -24, "f16": 2.0 ** -11, "bf16": 2.0 ** -8}


def to_bf16_bits(x):
    """float32 to the 16 bits of bf16, to nearest even; NaN stays NaN."""
    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), np.uint32(0x7FC0), rounded).astype(np.uint16)


def from_bf16_bits(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def store(path, x, dtype):
    """Writes float64 data as .npy of an element type; returns the SPEC of `--arg`."""
    if dtype == "bf16":
        np.save(path, to_bf16_bits(np.asarray(x, np.float32)))
        return f"{path}:bf16"
    np.save(path, np.asarray(x).astype({"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}[dtype]))
    return str(path)


def rounded(x, dtype):
    """The values that a kernel sees when x is stored in an element type, as float64."""
    if dtype == "bf16":
        return from_bf16_bits(to_bf16_bits(np.asarray(x, np.float32))).astype(np.float64)
    return np.asarray(x).astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[dtype]).astype(np.float64)


def read(path, dtype):
    x = np.load(path)
    return from_bf16_bits(x).astype(np.float64) if dtype == "bf16" else x.astype(np.float64)


class Input:
    """A tensor argument: the data and its element type."""

    def __init__(self, data, dtype):
        self.data, self.dtype = data, dtype


class Output:
    """A tensor that the kernel writes: the reference, the element type, and the tolerance |found - expected| <= atol + rtol * |expected|."""

    def __init__(self, expected, dtype, atol, rtol):
        self.expected, self.dtype, self.atol, self.rtol = np.asarray(expected, np.float64), dtype, atol, rtol


class InOut(Output):
    """A tensor that the kernel updates in place: its data before, and what an Output has."""

    def __init__(self, data, expected, dtype, atol, rtol):
        super().__init__(expected, dtype, atol, rtol)
        self.data = data


class Checker:
    """Runs cases and counts them.  `quick` asks for few cases that still meet every kernel and every kind of edge."""

    def __init__(self, program, description):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--device", default="cpu", help="cpu or cuda:N (default: cpu)")
        parser.add_argument("--quick", action="store_true", help="fewer cases, for every change; all of them take longer")
        parser.add_argument("--filter", default="", help="only cases whose name contains this")
        parser.add_argument("--list", action="store_true", help="print the names of the cases and run nothing")
        parser.add_argument("--tessera", default=os.environ.get("TESSERA", str(ROOT / "build" / "bin" / "tessera")), help="the command line tool")
        self.options = parser.parse_args()
        self.program = pathlib.Path(program).resolve()
        self.quick, self.device = self.options.quick, self.options.device
        self.passed = self.failed = 0
        self.worst = 0.0
        if not self.options.list:
            if not pathlib.Path(self.options.tessera).exists():
                sys.exit(f"{self.options.tessera} does not exist: build it (cmake --build build --target tessera) or name it with --tessera")
            print(f"{self.program.parent.name} on {self.device}: maximum errors against float64")

    def run(self, name, kernel, bindings, arguments):
        """One case: `arguments` maps parameter names to Input, Output, or a number."""
        if self.options.filter not in name:
            return
        if self.options.list:
            print(f"{self.program.parent.name}: {kernel}: {name}")
            return
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            command = [self.options.tessera, "run", str(self.program), "-k", kernel, "--device", self.device]
            for key, value in bindings.items():
                command += ["-D", f"{key}={value}"]
            outputs = {}
            for key, value in arguments.items():
                if isinstance(value, Input):
                    command += ["--arg", f"{key}={store(folder / (key + '.npy'), value.data, value.dtype)}"]
                elif isinstance(value, Output):
                    shape = "x".join(str(extent) for extent in value.expected.shape)
                    outputs[key] = (folder / (key + ".out.npy"), value)
                    before = store(folder / (key + ".npy"), value.data, value.dtype) if isinstance(value, InOut) else f"empty:{value.dtype}:{shape}"
                    command += ["--arg", f"{key}={before}", "--out", f"{key}={outputs[key][0]}"]
                else:
                    command += ["--arg", f"{key}={value}"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            except subprocess.TimeoutExpired:
                self._report(False, kernel, name, "did not end within 300 s")
                return
            if done.returncode != 0:
                self._report(False, kernel, name, f"exit code {done.returncode}\n    {' '.join(command)}\n{done.stdout}{done.stderr}")
                return
            errors = [self._compare(key, read(path, output.dtype), output) for key, (path, output) in outputs.items()]
        self._report(all(good for good, _ in errors), kernel, name, ", ".join(text for _, text in errors))

    def _compare(self, key, found, output):
        expected = output.expected
        if np.isnan(expected).any():
            return False, f"{key}: the reference itself has a NaN"
        if found.shape != expected.shape:
            return False, f"{key}: shape {found.shape}, expected {expected.shape}"
        if found.size == 0:
            return True, f"{key} empty"
        infinite = np.isinf(expected)
        if (found[infinite] != expected[infinite]).any() or np.isnan(found).any() or np.isinf(found[~infinite]).any():
            place = np.argwhere(~((found == expected) | (np.isfinite(found) & ~infinite)))[0]
            place = tuple(int(i) for i in place)
            return False, f"{key}{list(place)} = {found[place]}, expected {expected[place]}"
        error = np.abs(np.where(infinite, 0.0, found - np.where(infinite, 0.0, expected)))
        error[infinite] = 0.0
        allowed = output.atol + output.rtol * np.abs(np.where(infinite, 0.0, expected))
        worst = float(error.max())
        self.worst = max(self.worst, worst)
        text = f"{key} {worst:.2e}"
        if (error <= allowed).all():
            return True, text
        place = tuple(int(i) for i in np.unravel_index(int((error - allowed).argmax()), error.shape))
        return False, (f"{text}: {key}{list(place)} = {found[place]!r}, expected {expected[place]!r} within {allowed[place]:.2e}; "
                       f"{int((error > allowed).sum())} of {error.size} are wrong")

    def _report(self, good, kernel, name, text):
        self.passed, self.failed = self.passed + good, self.failed + (not good)
        print(f"  {'ok    ' if good else 'FAILED'} {kernel:24} {name:44} {text}", flush=True)

    def finish(self):
        """Prints the closing line; the exit code for sys.exit."""
        if self.options.list:
            return 0
        print(f"maximum error {self.worst:.3e}")
        print(f"{self.passed} passed, {self.failed} failed")
        if self.passed + self.failed == 0:
            print("no case was run", file=sys.stderr)
            return 1
        return 1 if self.failed else 0


def normal(seed, *shape):
    """Normal numbers of a shape; the same on every machine."""
    return np.random.Generator(np.random.PCG64(seed)).standard_normal(shape)
