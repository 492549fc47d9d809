"""What the field cases share: arrays of every element type, a run of a program, a compilation, and checks that count themselves.

A reference is computed by the case itself, in float64, in Python's integers or from a table; nothing of the compiler takes part in it.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))
from checking import from_bf16_bits, np, to_bf16_bits  # noqa: E402,F401  (checking finds an interpreter with numpy)

TARGETS = ("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a")
PLAIN = {"bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
         "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64}
RAW = {"bf16": np.uint16, "f8e4m3": np.uint8, "f8e5m2": np.uint8}  # held as their bits

#: number -> [(name, function)], in the order of the files
CASES = {}


def case(number, name):
    """Makes a function of a Tester the case of that number."""
    def add(function):
        CASES.setdefault(number, []).append((name, function))
        return function
    return add


class In:
    """A tensor argument.  Of bf16 and fp8 the data are bits, unless they are floats and the type is bf16."""

    def __init__(self, dtype, data):
        data = np.asarray(data)
        if dtype == "bf16" and data.dtype.kind == "f":
            data = to_bf16_bits(data.astype(np.float32)).reshape(data.shape)
        self.dtype, self.data = dtype, np.ascontiguousarray(data.astype(PLAIN.get(dtype) or RAW[dtype]))


class Out:
    """A tensor that is written: poisoned (NaN, or -1) unless `fill` is its data before."""

    def __init__(self, dtype, shape, fill=None):
        self.dtype, self.shape, self.fill = dtype, tuple(shape), fill


def values(dtype, data):
    """What stands in an array of an element type, as float64 (bf16 from its bits) or as it is."""
    return from_bf16_bits(data.view(np.uint16)).reshape(data.shape).astype(np.float64) if dtype == "bf16" else data.astype(np.float64) if dtype[0] == "f" else data


class Failure(Exception):
    pass


class Tester:
    def __init__(self, options):
        self.options, self.device, self.number = options, options.device, ""
        self.passed = self.failed = 0

    # Programs.
    def run(self, source, kernel, bindings, arguments, flags=(), expect=0):
        """Outputs by name, as arrays of their bits; `expect` other than 0 gives (exit code, text) instead."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            command = [self.options.tessera, "run", self.file(folder, source), "-k", kernel, "--device", self.device, "--cache", "off", *flags]
            for key, value in bindings.items():
                command += ["-D", f"{key}={str(value).lower() if isinstance(value, bool) else value}"]
            outputs = {}
            for key, value in arguments.items():
                if isinstance(value, In) or (isinstance(value, Out) and value.fill is not None):
                    np.save(folder / f"{key}.npy", value.data if isinstance(value, In) else In(value.dtype, value.fill).data)
                    spec = f"{folder / key}.npy" + (f":{value.dtype}" if value.dtype in RAW else "")
                elif isinstance(value, Out):
                    spec = f"empty:{value.dtype}:{'x'.join(map(str, value.shape))}"
                else:
                    spec = str(value)
                command += ["--arg", f"{key}={spec}"]
                if isinstance(value, Out):
                    outputs[key] = value
                    command += ["--out", f"{key}={folder / key}.out.npy"]
            done = self.call(command)
            if expect:
                return done.returncode, done.stdout + done.stderr
            if done.returncode:
                raise Failure(f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[:1500]}")
            found = {}
            for key, value in outputs.items():
                data = np.load(f"{folder / key}.out.npy")
                found[key] = data.view(RAW[value.dtype]).reshape(value.shape) if value.dtype in RAW else data
            return found

    def compile(self, source, *flags, name="program.tile"):
        """(exit code, standard output, standard error) of `tessera compile`."""
        with tempfile.TemporaryDirectory() as folder:
            done = self.call([self.options.tessera, "compile", self.file(pathlib.Path(folder), source, name), *flags])
            return done.returncode, done.stdout, done.stderr

    def ptx(self, source, *flags):
        code, text, errors = self.compile(source, "-o", "-", *flags)
        if code:
            raise Failure(f"does not compile ({' '.join(flags)}): {errors.strip()[:1500]}")
        return text

    def call(self, command, timeout=240, **options):
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
                              **{"env": {**os.environ, "NO_COLOR": "1"}, **options})
        # However wrong a program is, the tool never falls over.
        if done.returncode < 0 or done.returncode == 70 or "Stack dump" in done.stderr or "LLVM ERROR" in done.stderr:
            raise Failure(f"{' '.join(map(str, command))} fell over (exit code {done.returncode}): {done.stderr.strip()[:1500]}")
        return done

    @staticmethod
    def file(folder, source, name="program.tile"):
        if isinstance(source, pathlib.Path):
            return str(source)
        (folder / name).write_text(source)
        return str(folder / name)

    # Checks.
    def that(self, label, condition, why=""):
        self.passed, self.failed = self.passed + bool(condition), self.failed + (not condition)
        if not condition:
            print(f"FAILED {self.number} {label}: {why}", flush=True)
        elif self.options.verbose:
            print(f"ok     {self.number} {label}", flush=True)

    def equal(self, label, found, expected):
        """Every element the same value; NaN equals NaN, and zeros have their sign."""
        found, expected = np.asarray(found), np.asarray(expected)
        if found.shape != expected.shape:
            return self.that(label, False, f"shape {found.shape}, expected {expected.shape}")
        same = found == expected
        if found.dtype.kind == "f" and expected.dtype.kind == "f":
            same = (same & (np.signbit(found) == np.signbit(expected))) | (np.isnan(found) & np.isnan(expected))
        return self.that(label, same.all(), "" if same.all() else self.first(~same, found, expected))

    def close(self, label, found, expected, atol, rtol=0.0):
        """Within a tolerance; infinities exactly, and a NaN in the reference is a failure of the case."""
        found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
        if found.shape != expected.shape or np.isnan(expected).any():
            return self.that(label, False, f"shape {found.shape}, expected {expected.shape}, {int(np.isnan(expected).sum())} NaN in the reference")
        with np.errstate(invalid="ignore"):
            good = (found == expected) | (np.abs(found - expected) <= atol + rtol * np.where(np.isfinite(expected), np.abs(expected), 0.0))
        return self.that(label, good.all(), "" if good.all() else self.first(~good, found, expected))

    @staticmethod
    def first(wrong, found, expected):
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        return f"{int(wrong.sum())} of {wrong.size} are wrong: at {list(place)} {found[place]!r}, expected {expected[place]!r}"

    def diagnosed(self, label, text, *patterns):
        """A message of ours: every pattern, and a place in the program."""
        missing = [pattern for pattern in patterns if not re.search(pattern, text)]
        self.that(label, not missing, f"not found: {missing} in\n{text.strip()[:1500]}")
