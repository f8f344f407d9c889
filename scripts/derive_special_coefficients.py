#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Derives the series of lib/language/std/errors.py and modified_bessel.py for float32.

Minimax fits by the exchange of derive_math_coefficients.py (needs the package mpmath), rounded to
float32, lowest power first; the error of each fit, relative to its function, stands before it.
Usage: derive_special_coefficients.py
"""
import struct

from derive_math_coefficients import remez
from mpmath import besseli, erf, erfc, erfinv, exp, expm1, log, mp, mpf, pi, sqrt

mp.dps = 60


def single(value):
    return struct.unpack("f", struct.pack("f", float(value)))[0]


def value_at(series, x):
    return sum(mpf(c) * x ** i for i, c in enumerate(series))


def show(name, series, worst, meaning):
    print(f"# {name}: {meaning}; 2^{mp.nstr(log(worst, 2), 4)}")
    print("(\n" + "".join(f"    {single(c)!r},\n" for c in series) + ")\n")


def fit(name, meaning, function, weight, low, high, degree):
    series, worst = remez(function, weight, low, high, degree)
    show(name, series, worst, meaning)


# erfc(x) for x >= 0.4609375 is exp(-x * x) * w(u) * v with v = 1 / (1 + 2x) and u = 4v - 1.
LINE = mpf("1.283447265625"), mpf(11) / 256, -mpf(25) / 256  # of few bits
COMPLEMENT_LOW, COMPLEMENT_HIGH = 4 / (1 + 2 * mpf("10.3")) - 1, 4 / (1 + 2 * mpf("0.468")) - 1


def scaled_complement(u):
    x = (4 / (u + 1) - 1) / 2
    return (1 + 2 * x) * exp(x * x) * erfc(x)


def complement_series():
    """Rounded from the highest power on, the three lowest fitted again; last the constant, so that
    nothing is missing at u = 1.02, where the result is just below a half and errors count most."""
    def missing(u):
        return scaled_complement(u) - value_at(LINE, u)

    def weight(u):
        return 1 / scaled_complement(u)

    def fitted(function, degree):
        return remez(function, weight, COMPLEMENT_LOW, COMPLEMENT_HIGH, degree)
    upper = [single(c) for c in fitted(missing, 14)[0][3:]]
    lower, worst = fitted(lambda u: missing(u) - u ** 3 * value_at(upper, u), 2)
    series = [single(c) for c in lower] + upper
    for _ in range(3):
        series[0] = single(series[0] - (value_at(series, mpf("1.02")) - missing(mpf("1.02"))))
    return series, worst


# erfinv(x) / x as a function of w = -log(1 - x * x).
def inverse_ratio(w):
    if w < mpf("1e-20"):
        return sqrt(pi) / 2
    x = sqrt(-expm1(-w))
    return erfinv(x) / x


def near_one(v):
    return inverse_ratio((v + 3) ** 2)


# i0(x) is exp(x) / (1 + x) times a function, up to 3; beyond exp(x) / sqrt(1 + x) times another.
def near_bessel(x):
    return exp(-x) * besseli(0, x) * (1 + x)


def far_bessel(s):
    x = 8 / s - 1
    return exp(-x) * besseli(0, x) * sqrt(1 + x)


def main():
    two_over_root = 2 / sqrt(pi)
    fit("errors.py, _erfc_single, near_series", "erf(x) / x - 2 / sqrt(pi) over z = x * x",
        lambda z: (erf(sqrt(z)) / sqrt(z) - two_over_root) / z,
        lambda z: z * sqrt(z) / erfc(sqrt(z)), mpf("1e-20"), mpf("0.47") ** 2, 4)
    series, worst = complement_series()
    show("errors.py, _erfc_single, series", series, worst, "w(u) without its first three terms")
    slope = mpf(single("0.2466"))
    fit("errors.py, _erfinv_single, near_series", "v = w - 2.5",
        lambda v: inverse_ratio(v + mpf("2.5")) - mpf("1.5") - slope * v,
        lambda v: 1 / inverse_ratio(v + mpf("2.5")), mpf("-2.5"), mpf("2.5"), 11)
    fit("errors.py, _erfinv_single, far_series", "v = sqrt(w) - 3",
        lambda v: near_one(v) - mpf("2.828125") - v, lambda v: 1 / near_one(v),
        sqrt(mpf("4.999")) - 3, mpf("1.09"), 10)
    fit("modified_bessel.py, _i0_single, near_series", "t = x - 1.5",
        lambda t: near_bessel(t + mpf("1.5")) - mpf("0.953125"),
        lambda t: 1 / near_bessel(t + mpf("1.5")), mpf("-1.5"), mpf("1.5"), 13)
    far_slope = mpf(single("0.045"))
    fit("modified_bessel.py, _i0_single, far_series", "u = 8 / (1 + x) - 1",
        lambda u: far_bessel(u + 1) - mpf("0.3984375") - far_slope * (u + 1),
        lambda u: 1 / far_bessel(u + 1), 8 / mpf(94) - 1, mpf("1.0001"), 14)


if __name__ == "__main__":
    main()
