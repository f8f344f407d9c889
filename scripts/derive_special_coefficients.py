#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Derives the series of lib/language/std/errors.py, gamma.py and modified_bessel.py for float32.

Minimax fits by the exchange of derive_math_coefficients.py (needs the packages mpmath and numpy),
rounded to float32, lowest power first; the error of each fit, relative to its function, stands
before it.
Usage: derive_special_coefficients.py
"""
import struct

import numpy
from derive_math_coefficients import remez
from mpmath import besseli, erfc, erfinv, euler, exp, expm1, log, loggamma, mp, mpf, pi, psi, sqrt

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


def least(residue, weight, points, powers, scale):
    """Coefficients of these powers for the least weighted maximum, by Lawson's iteration."""
    at = numpy.array([float(x) for x in points])
    weights = numpy.array([float(weight(x)) for x in points])
    wanted = numpy.array([float(r) for r in residue]) * weights
    columns = numpy.stack([(at / scale) ** k for k in powers], 1) * weights[:, None]
    share, best = numpy.ones(len(points)), None
    for _ in range(30):
        root = numpy.sqrt(share)
        c = numpy.linalg.lstsq(columns * root[:, None], wanted * root, rcond=None)[0]
        error = numpy.abs(columns @ c - wanted)
        if best is None or error.max() < best[0]:
            best = error.max(), c
        share = share * error / (share * error).mean()
    return {k: c / scale ** k for k, c in zip(powers, best[1])}


def fit_rounded(name, meaning, function, weight, low, high, order, count=300):
    """Rounded one after another, the others fitted again: what rounding a large coefficient does, the
    later ones make good."""
    low, high = float(low), float(high)
    angles = numpy.pi * (numpy.arange(count) + 0.5) / count
    points = [mpf(float(x)) for x in (low + high) / 2 + (high - low) / 2 * numpy.cos(angles)]
    values = [function(x) for x in points]
    known, powers = {}, sorted(order)

    def residue():
        return [v - sum(mpf(c) * x ** k for k, c in known.items()) for v, x in zip(values, points)]
    for k in order:
        left = [power for power in powers if power not in known]
        known[k] = single(least(residue(), weight, points, left, max(abs(low), abs(high)))[k])
    worst = max(abs(r * weight(x)) for r, x in zip(residue(), points))
    show(name, [known[k] for k in powers], worst, meaning)


# exp(x * x) * erfc(x) for x >= 0 is v * p(v) with v = 1 / (x + 7/4): a polynomial of v less the middle of
# its range, one that is near the smaller numbers.
SHIFT, MIDDLE = mpf(7) / 4, mpf(5) / 16


def complement(v):
    x = 1 / v - SHIFT
    return exp(x * x) * erfc(x) / v


def derivative_of_complement(v):
    """Of the logarithm of v * p(v) by that of v."""
    x = 1 / v - SHIFT
    return (2 / (sqrt(pi) * exp(x * x) * erfc(x)) - 2 * x) / v


def fit_complement(name, function, weight, order, count):
    fit_rounded("errors.py, _erfc_single, " + name, f"v less {float(MIDDLE)}",
                lambda u: function(u + MIDDLE), lambda u: weight(u + MIDDLE), 1 / (mpf("10.1") + SHIFT) - MIDDLE,
                1 / SHIFT - MIDDLE, order, count)


# lgamma(x) between 1 and 2 is (x - 1) (x - 2) (1/2 + r(x - 3/2)).
def gamma_ratio(s):
    x = s + mpf(3) / 2
    if abs(x - 1) < mpf("1e-20"):
        return euler
    return 1 - euler if abs(x - 2) < mpf("1e-20") else loggamma(x) / ((x - 1) * (x - 2))


def stirling(square):
    """x times what is missing to (x - 1/2) log(x) - x + log(2 pi) / 2 at x = 1 / sqrt(square)."""
    x = 1 / sqrt(square)
    return x * (loggamma(x) - (x - mpf(1) / 2) * log(x) + x - log(2 * pi) / 2)


def log_tail(f):
    """(log(1 + f) - f + f * f / 2) / f ** 3"""
    return mpf(1) / 3 - f / 4 if abs(f) < mpf("1e-8") else (log(1 + f) - f + f * f / 2) / f ** 3


def power_tail(t):
    """(exp(t) - 1 - t) / t ** 2"""
    return mpf(1) / 2 + t / 6 if abs(t) < mpf("1e-8") else (expm1(t) - t) / t ** 2


def fit_beside_zero(name, guess, low, high):
    """log(abs(gamma(zero + s))) / s less the slope at the zero."""
    def value(x):
        return log(abs(mp.gamma(x)))
    zero = mp.findroot(value, guess)
    nearest, slope = single(zero), single(psi(0, zero))
    print(f"# zero {nearest!r}, then {single(zero - nearest)!r}, slope {slope!r}, "
          f"less what is missing at the first {single(slope * (nearest - zero))!r}")

    def rest(s):
        return (value(zero + s) / s if abs(s) > mpf("1e-12") else psi(0, zero)) - slope
    fit_rounded("gamma.py, _lgamma_rare, " + name, "s", rest, lambda s: 1 / (rest(s) + slope),
                low, high, range(7))


def gamma_series():
    fit_beside_zero("right_series", mpf("-2.457"), "-0.0301", "0.0256")
    fit_beside_zero("left_series", mpf("-2.7477"), "-0.0196", "0.0246")
    fit_rounded("gamma.py, _lgamma_single, near_series", "s = x - 3/2",
                lambda s: gamma_ratio(s) - mpf(1) / 2, lambda s: 1 / gamma_ratio(s), mpf("-0.5"),
                mpf("0.5"), [1, 2, 0] + list(range(3, 11)))
    fit("gamma.py, _lgamma_single, far_series", "1 / x ** 2", stirling,
        lambda q: sqrt(q) / loggamma(1 / sqrt(q)), mpf("1e-6"), mpf(1) / 9, 3)
    fit("gamma.py, _lgamma_single, log_series", "f", log_tail,
        lambda f: abs(f ** 3 / log(1 + f)) if f else mpf(0), mpf("-0.3115"), mpf("0.3802"), 9)


# erfinv(x) / x as a function of w = -log(1 - x * x).
def inverse_ratio(w):
    if w < mpf("1e-20"):
        return sqrt(pi) / 2
    x = sqrt(-expm1(-w))
    return erfinv(x) / x


def beside_root(u):
    root = u + mpf("3.5")
    return inverse_ratio(root * root) - root


# i0(x) is a series in z = x * x / 4 up to 3; beyond exp(x) / sqrt(1 + x) times a function.
def near_bessel(z):
    return (besseli(0, 2 * sqrt(z)) - 1 - z) / z ** 2 - mpf(1) / 4


def far_bessel(s):
    x = 8 / s - 1
    return exp(-x) * besseli(0, x) * sqrt(1 + x)


def main():
    gamma_series()
    fit_complement("series", complement, lambda v: 1 / complement(v), range(11), 300)
    fit_complement("slope_series", derivative_of_complement, lambda v: mpf(1), range(2), 80)
    fit_rounded("errors.py, _erfc_single, power_series", "t", power_tail, lambda t: t * t / exp(t),
                mpf("-0.34675"), mpf("0.34675"), range(5))
    slope = mpf(single("0.24"))
    fit_rounded("errors.py, _erfinv_single, series", "v = w - 1",
                lambda v: inverse_ratio(v + 1) - mpf("1.125") - slope * v, lambda v: 1 / inverse_ratio(v + 1),
                mpf(-1), mpf("6.5"), range(12))
    fit_rounded("errors.py, _erfinv_single, log_series", "f", lambda f: f * log_tail(f) - mpf(1) / 2, lambda f: f * f,
                mpf("-0.3115"), mpf("0.3802"), range(8))
    fit("errors.py, _erfinv_half, series", "w", inverse_ratio, lambda w: 1 / inverse_ratio(w), mpf("1e-9"), mpf("16.7"), 10)
    fit("errors.py, _erfinv_half, log_series", "f", lambda f: f * log_tail(f) - mpf(1) / 2, lambda f: f * f,
        mpf("-0.3115"), mpf("0.3802"), 3)
    fit_rounded("errors.py, _erfinv_far, series", "u = sqrt(w) - 3.5",
                beside_root, lambda u: 1 / (beside_root(u) + u + mpf("3.5")),
                sqrt(mpf("7.49")) - mpf("3.5"), mpf("0.59"), range(8))
    fit_rounded("modified_bessel.py, _i0_single, series", "z, behind the first, which is nothing",
                near_bessel, lambda z: z * z / besseli(0, 2 * sqrt(z)), mpf("1e-6"), mpf("2.25"),
                range(7), 600)
    far_slope = mpf(single("0.045"))
    fit("modified_bessel.py, _i0_far, far_series", "u = 8 / (1 + x) - 1",
        lambda u: far_bessel(u + 1) - mpf("0.3984375") - far_slope * (u + 1),
        lambda u: 1 / far_bessel(u + 1), 8 / mpf(94) - 1, mpf("1.0001"), 14)


if __name__ == "__main__":
    main()
