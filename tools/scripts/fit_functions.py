#!/usr/bin/env python3
"""Computes the constants of compiler/Numerics that are not plain fractions, and prints them as they stand in the source.

    tools/scripts/fit_functions.py            all of them (needs mpmath; seconds)
    tools/scripts/fit_functions.py erf64      those whose name begins so

Polynomials are minimax: Remez' exchange at 200 bits, weighted by what an error costs in the function's result; the figure behind each is log2 of the largest weighted error before
its coefficients are rounded to the type.  Whether the function as a whole is within 2 ulp is measured elsewhere (tests/unit/NumericsUlpTest.cpp, tests/device/ulp.py).
"""
import sys

import mpmath as mp

mp.mp.prec = 200
ONE = mp.mpf(1)


def remez(wanted, weight, low, high, degree, rounds=15):
    """Coefficients from the lowest, and the largest of |weight * (polynomial - wanted)| on low..high."""
    count = degree + 2
    at = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / (count - 1)) for i in range(count)]
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / (40 * count)) for i in range(40 * count + 1)]
    targets = [(wanted(x), weight(x)) for x in grid]
    for _ in range(rounds):
        system, right = mp.matrix(count, count), mp.matrix(count, 1)
        for i, x in enumerate(at):
            for j in range(degree + 1):
                system[i, j] = x ** j
            system[i, degree + 1] = (-1) ** i / weight(x)
            right[i] = wanted(x)
        solved = mp.lu_solve(system, right)
        coefficients = [solved[j] for j in range(degree + 1)]
        errors = [w * (mp.polyval(coefficients[::-1], x) - f) for x, (f, w) in zip(grid, targets)]
        # The largest error of every stretch of one sign; the smaller end goes where there are too many.
        peaks, best = [], 0
        for i in range(1, len(grid)):
            if mp.sign(errors[i]) != mp.sign(errors[best]):
                peaks.append(best)
                best = i
            elif abs(errors[i]) > abs(errors[best]):
                best = i
        peaks.append(best)
        while len(peaks) > count:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        if len(peaks) < count:
            raise SystemExit("no alternation: the polynomial is exact to this precision")
        largest = max(abs(errors[i]) for i in peaks)
        at = [grid[i] for i in peaks]
        if largest - abs(solved[degree + 1]) < largest / 1000:
            break
    return coefficients, largest


def polynomial(name, wanted, weight, low, high, degree, digits):
    coefficients, error = remez(wanted, weight, mp.mpf(low), mp.mpf(high), degree)
    print(f"{name}: degree {degree}, 2^{mp.nstr(mp.log(error, 2), 4)}")
    print("  " + ", ".join(mp.nstr(c, digits) for c in reversed(coefficients)))


def parts(name, value, *, bits=None):
    """A number as a sum of two doubles; the first of `bits` bits where products with it shall be exact."""
    exponent = int(mp.floor(mp.log(abs(value), 2)))
    high = mp.mpf(float(value)) if bits is None else mp.floor(value * 2 ** (bits - 1 - exponent)) / mp.mpf(2) ** (bits - 1 - exponent)
    print(f"{name}: {float(high).hex()} ({float(high)!r}) + {float(value - high)!r}")


def two_over_pi():
    with mp.workprec(1400):
        fraction = int(mp.floor(2 / mp.pi * mp.mpf(2) ** 1216))
    print("two_over_pi: the binary fraction in words of 64 bits")
    print("  " + ", ".join(f"0x{fraction >> 64 * (18 - i) & (1 << 64) - 1:016x}" for i in range(19)))


def erf_near(z):
    """erf(x) / x - 1 as a function of x^2."""
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1 if z > 0 else 2 / mp.sqrt(mp.pi) - 1


def erf_far_argument(t):
    return 3 * (1 + t) / (1 - t)


CONSTANTS = {
    "two_over_pi": two_over_pi,
    "half_pi": lambda: parts("half_pi", mp.pi / 2),
    "ln2": lambda: parts("ln2", mp.log(2)),
    "two_over_ln2": lambda: parts("two_over_ln2", 2 / mp.log(2)),
    "third": lambda: parts("third", ONE / 3),
    "erf64_near": lambda: polynomial("erf64_near", erf_near, lambda z: ONE, 0, 1, 12, 20),
    # exp(x^2) erfc(x) on 1..6 as a function of t = (x - 3) / (x + 3); an error counts as much as it moves erf.
    "erf64_far": lambda: polynomial("erf64_far", lambda t: mp.exp(erf_far_argument(t) ** 2) * mp.erfc(erf_far_argument(t)),
                                    lambda t: mp.exp(-min(erf_far_argument(t), mp.mpf(3.5)) ** 2), -ONE / 2, ONE / 3, 12, 20),
}


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    for name, compute in CONSTANTS.items():
        if name.startswith(wanted):
            compute()
    return 0


if __name__ == "__main__":
    sys.exit(main())
