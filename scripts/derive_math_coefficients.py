#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Derives the polynomial coefficients of lib/lowering/math/Coefficients.h.

Each entry is a weighted minimax fit by Remez exchange at 50 digits (needs the package mpmath):
the polynomial q of the given degree that makes max |weight(x) * (q(x) - f(x))| least. The weight
is chosen so that this is the relative error of the whole function; it is written beside each table.
Usage: derive_math_coefficients.py > lib/lowering/math/Coefficients.h
"""
from mpmath import (asin, atan, cos, cosh, erf, erfc, exp, expm1, log, log1p,
                    lu_solve, matrix, mp, mpf, sin, sinh, sqrt, tan, tanh)
import struct

mp.dps = 60


def chebyshev_points(low, high, count):
    from mpmath import pi
    return [(low + high) / 2 + (high - low) / 2 * cos(pi * (count - 1 - i) / (count - 1))
            for i in range(count)]


def remez(function, weight, low, high, degree):
    """Coefficients, lowest first, and the largest weighted error."""
    low, high = mpf(low), mpf(high)
    count = degree + 2
    points = chebyshev_points(low, high, count)
    grid = chebyshev_points(low, high, 60 * count)
    values = [(x, function(x), weight(x)) for x in grid]
    coefficients, worst = None, None
    for _ in range(30):
        system, right = matrix(count, count), matrix(count, 1)
        for i, x in enumerate(points):
            for j in range(degree + 1):
                system[i, j] = x ** j
            system[i, count - 1] = (-1) ** i / weight(x)
            right[i] = function(x)
        solution = lu_solve(system, right)
        coefficients = [solution[j] for j in range(degree + 1)]

        def horner(x):
            total = mpf(0)
            for c in reversed(coefficients):
                total = total * x + c
            return total
        errors = [(x, w * (horner(x) - f)) for x, f, w in values]
        extremes = []  # the largest error of every run of equal sign
        for x, e in errors:
            if extremes and (extremes[-1][1] > 0) == (e > 0):
                if abs(e) > abs(extremes[-1][1]):
                    extremes[-1] = (x, e)
            else:
                extremes.append((x, e))
        while len(extremes) > count:
            extremes.pop(0 if abs(extremes[0][1]) < abs(extremes[-1][1]) else -1)
        worst = max(abs(e) for _, e in errors)
        if len(extremes) < count:
            break
        points = [x for x, _ in extremes]
        if worst / min(abs(e) for _, e in extremes) < mpf("1.001"):
            break
    return coefficients, worst


def near_zero(function, series):
    """`function` with its limit where the closed form cancels or divides by zero."""
    return lambda x: series(x) if abs(x) < mpf("1e-12") else function(x)


LN2_HALF = log(2) / 2 * mpf("1.0005")
LOG_LOW, LOG_HIGH = sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1
QUARTER = atan(mpf(1)) * mpf("1.0005")
HALF_TURN = 2 * QUARTER
S_MAX = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.001")
T_MAX = (sqrt(mpf(2)) - 1) ** 2 * mpf("1.001")

exp_tail = near_zero(lambda r: (exp(r) - 1 - r) / r ** 2, lambda r: mpf(1) / 2 + r / 6)
exp_weight = near_zero(lambda r: r ** 2 / exp(r), lambda r: mpf("1e-24"))
expm1_weight = near_zero(lambda r: abs(r ** 2 / expm1(r)), lambda r: mpf("1e-12"))
exp2_tail = near_zero(lambda r: (mpf(2) ** r - 1) / r, lambda r: log(2))
exp2_weight = lambda r: (abs(r) + mpf("1e-12")) / mpf(2) ** r
log_tail = near_zero(lambda f: (log1p(f) - f + f ** 2 / 2) / f ** 3, lambda f: mpf(1) / 3 - f / 4)
log_weight = near_zero(lambda f: abs(f ** 3 / log1p(f)), lambda f: mpf("1e-24"))


def atanh_tail(first):
    """(log((1+s)/(1-s)) - the terms below z^first) / (s z^first) with z = s*s, by its series."""
    def tail(z):
        total, power, n = mpf(0), mpf(1), first
        while power > mpf("1e-58"):
            total += 2 * power / (2 * n + 1)
            power *= z
            n += 1
            if n > 400:
                break
        return total
    return tail


def even_series(function, terms):
    """function(z) with cancellation near zero replaced by its power series `terms`."""
    return lambda z: function(z) if z > mpf("1e-8") else sum(t * z ** i for i, t in
                                                             enumerate(terms))


sin_tail = even_series(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z,
                       [-mpf(1) / 6, mpf(1) / 120, -mpf(1) / 5040, mpf(1) / 362880])
cos_tail = even_series(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z ** 2,
                       [mpf(1) / 24, -mpf(1) / 720, mpf(1) / 40320, -mpf(1) / 3628800])
atan_tail = even_series(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z,
                        [-mpf(1) / 3, mpf(1) / 5, -mpf(1) / 7, mpf(1) / 9])
asin_tail = even_series(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z,
                        [mpf(1) / 6, mpf(3) / 40, mpf(5) / 112, mpf(35) / 1152])
sinh_tail = even_series(lambda z: (sinh(sqrt(z)) / sqrt(z) - 1) / z,
                        [mpf(1) / 6, mpf(1) / 120, mpf(1) / 5040])
cosh_tail = even_series(lambda z: (cosh(sqrt(z)) - 1) / z,
                        [mpf(1) / 2, mpf(1) / 24, mpf(1) / 720])
tan_tail = even_series(lambda z: (tan(sqrt(z)) / sqrt(z) - 1) / z,
                       [mpf(1) / 3, mpf(2) / 15, mpf(17) / 315, mpf(62) / 2835])
TAN32_THIRD = mpf(float.fromhex("0x1.555556p-2"))  # 1/3 as float32: the fit makes its error good
tan_third = lambda z: (tan_tail(max(z, mpf("1e-4"))) - TAN32_THIRD) / max(z, mpf("1e-4"))
from_zero = lambda z: z + mpf("1e-9")
LOG32_LOW, LOG32_HIGH = mpf("-0.310001"), mpf("0.380001")
TWO_OVER_SQRT_PI = 2 / sqrt(4 * atan(mpf(1)))
erf_ratio = even_series(lambda z: erf(sqrt(z)) / sqrt(z),
                        [TWO_OVER_SQRT_PI, -TWO_OVER_SQRT_PI / 3, TWO_OVER_SQRT_PI / 10])
erf_tail = lambda z: erf_ratio(z) - 1
erf_weight = lambda z: 1 / erf_ratio(z)

tanh_tail = even_series(lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z,
                        [-mpf(1) / 3, mpf(2) / 15, -mpf(17) / 315, mpf(62) / 2835])
TANH32_SPLIT = mpf("0.55")

ERF32_SPLIT, ERF32_END = mpf("0.921875"), mpf("3.9375")
ERF64_END, ERF64_CENTRE = mpf(6), mpf(2)


def erfc_scaled(t):
    """erfc(x) exp(x^2) for t = (x - 2) / (x + 2)."""
    x = ERF64_CENTRE * (1 + t) / (1 - t)
    return erfc(x) * exp(x * x)


def erfc_scaled_weight(t):
    x = ERF64_CENTRE * (1 + t) / (1 - t)
    return exp(-x * x) / erf(x)


fits = [
    # name, float type, function, weight, low, high, degree, comment
    ("exp32", "float", exp_tail, exp_weight, -LN2_HALF, LN2_HALF, 4,
     "exp(r) = 1 + r + r^2 q(r), |r| <= ln(2)/2; relative to exp(r)"),
    ("expm1_32", "float", exp_tail, expm1_weight, -LN2_HALF, LN2_HALF, 4,
     "expm1(r) = r + r^2 q(r), |r| <= ln(2)/2; relative to expm1(r)"),
    ("exp2_32", "float", exp2_tail, exp2_weight, mpf("-0.5005"), mpf("0.5005"), 5,
     "2^r = 1 + r q(r), |r| <= 1/2; relative to 2^r"),
    ("expm1_64", "double", exp_tail, expm1_weight, -LN2_HALF, LN2_HALF, 10,
     "expm1(r) = r + r^2 q(r), |r| <= ln(2)/2; relative to expm1(r)"),
    ("log32", "float", log_tail, log_weight, LOG_LOW, LOG_HIGH, 7,
     "log(1+f) = f - f^2/2 + f^3 q(f), 1+f in [sqrt(1/2), sqrt(2)]; relative to log(1+f)"),
    ("log64", "double", atanh_tail(1), lambda z: z / 2 + mpf("1e-9"), mpf(0), S_MAX, 6,
     "log((1+s)/(1-s)) = 2s + s z q(z), z = s^2; relative to 2s"),
    ("log2Tail32", "float", lambda z: atanh_tail(1)(z) / log(2), lambda z: z * log(2) / 2 + mpf("1e-9"),
     mpf(0), S_MAX, 3, "log2((1+s)/(1-s)) = s (2 / ln(2) + z q(z)), z = s^2; relative"),
    ("log64Tail", "double", atanh_tail(2), lambda z: z * z / 2 + mpf("1e-9"), mpf(0), S_MAX, 6,
     "log((1+s)/(1-s)) = 2s + 2/3 s z + s z^2 q(z), z = s^2; relative to 2s"),
    ("log32Pair", "float", log_tail, log_weight, LOG32_LOW, LOG32_HIGH, 9,
     "log(1+f) = f - f^2/2 + f^3 q(f), 1+f in [0.69, 1.38]; relative to log(1+f)"),
    ("sinh32Small", "float", sinh_tail, from_zero, mpf(0), LN2_HALF ** 2, 2,
     "sinh(x) = x + x z q(z), z = x^2, |x| <= ln(2)/2; relative to x"),
    ("cosh32Small", "float", cosh_tail, lambda z: z + mpf("1e-9"), mpf(0), LN2_HALF ** 2, 2,
     "cosh(x) = 1 + z q(z), z = x^2, |x| <= ln(2)/2; absolute"),
    ("atanhHalf32", "float", lambda v: atanh_tail(1)(v / 4) / 8, from_zero, mpf(0),
     4 * S_MAX, 2, "2 atanh(y / 2) = y + y v q(v), v = y^2, |y| <= 0.344; relative to y"),
    ("atanh32", "float", lambda z: atanh_tail(1)(z) / 2, from_zero, mpf(0), mpf("0.2501") ** 2, 3,
     "atanh(x) = x + x z q(z), z = x^2, |x| <= 1/4; relative to x"),
    ("asin32", "float", asin_tail, from_zero, mpf(0), mpf("0.53126") ** 2, 5,
     "asin(x) = x + x z q(z), z = x^2, |x| <= 17/32; relative to x"),
    ("tan32Pair", "float", tan_third, lambda z: z ** 2 / (1 + z * tan_tail(z)) + mpf("1e-12"), mpf(0),
     QUARTER ** 2, 6, "tan(r) = r + r z (0x1.555556p-2 + z q(z)), |r| <= pi/4; relative"),
    ("tanToHalf", "float", tan_tail, lambda z: z / (1 + z * tan_tail(z)) + mpf("1e-9"), mpf(0),
     QUARTER ** 2, 3, "tan(r) = r + r z q(z), z = r^2, |r| <= pi/4; relative"),
    ("asinToHalf", "float", asin_tail, from_zero, mpf(0), mpf("0.2501"), 2,
     "asin(x) = x + x z q(z), z = x^2, |x| <= 1/2; relative to x"),
    ("sin32", "double", sin_tail, lambda z: z + mpf("1e-9"), mpf(0), QUARTER ** 2, 3,
     "sin(r) = r + r z q(z), z = r^2, |r| <= pi/4; relative to r"),
    ("sinHalfTurn32", "double", sin_tail, lambda z: z + mpf("1e-9"), mpf(0), HALF_TURN ** 2, 4,
     "sin(r) = r + r z q(z), z = r^2, |r| <= pi/2; relative to r"),
    ("cos32", "double", cos_tail, lambda z: z * z + mpf("1e-9"), mpf(0), QUARTER ** 2, 2,
     "cos(r) = 1 - z/2 + z^2 q(z), z = r^2, |r| <= pi/4; absolute"),
    ("sin64", "double", sin_tail, lambda z: z + mpf("1e-9"), mpf(0), QUARTER ** 2, 5,
     "sin(r) = r + r z q(z), z = r^2, |r| <= pi/4; relative to r"),
    ("cos64", "double", cos_tail, lambda z: z * z + mpf("1e-9"), mpf(0), QUARTER ** 2, 5,
     "cos(r) = 1 - z/2 + z^2 q(z), z = r^2, |r| <= pi/4; absolute"),
    ("atan64", "double", atan_tail, lambda z: z + mpf("1e-9"), mpf(0), T_MAX, 10,
     "atan(t) = t + t z q(z), z = t^2, |t| <= sqrt(2) - 1; relative to t"),
    ("atan32", "float", atan_tail, lambda z: z + mpf("1e-9"), mpf(0), mpf(1), 7,
     "atan(t) = t + t z q(z), z = t^2, |t| <= 1; relative to t"),
    ("atan32Third", "float", atan_tail, lambda z: z + mpf("1e-9"), mpf(0), mpf("0.1112"), 4,
     "atan(t) = t + t z q(z), z = t^2, |t| <= 1/3; relative to t"),
    ("asin64", "double", asin_tail, lambda z: z + mpf("1e-9"), mpf(0), mpf("0.2501"), 12,
     "asin(x) = x + x z q(z), z = x^2, |x| <= 1/2; relative to x"),
    ("tanh32Small", "float", tanh_tail, lambda z: z / (1 + z * tanh_tail(z)) + mpf("1e-9"), mpf(0),
     TANH32_SPLIT ** 2, 4, "tanh(x) = x + x z q(z), z = x^2, |x| <= 0.55; relative"),
    ("erf32Small", "float", erf_tail, erf_weight, mpf(0), ERF32_SPLIT ** 2, 5,
     "erf(x) = x + x q(x^2), |x| <= 0.921875; relative"),
    ("erf32Large", "float", lambda a: -log(erfc(a)), lambda a: erfc(a) / erf(a), ERF32_SPLIT,
     ERF32_END, 6, "erf(x) = 1 - exp(-q(x)), 0.921875 <= x <= 3.9375; relative"),
    ("erf64Small", "double", erf_tail, erf_weight, mpf(0), mpf(1), 12,
     "erf(x) = x + x q(x^2), |x| <= 1; relative"),
    ("erf64Large", "double", erfc_scaled, erfc_scaled_weight, (1 - ERF64_CENTRE) /
     (1 + ERF64_CENTRE), (ERF64_END - ERF64_CENTRE) / (ERF64_END + ERF64_CENTRE), 13,
     "erf(x) = 1 - exp(-x^2) q((x-2)/(x+2)), 1 <= x <= 6; relative"),
]


# erf for vectors of sixteen: sixteen intervals of this width around its multiples, the first one
# around 0. Among the multiples of 2^-14 from 0.2537 to 0.26 it is the one with the least error of
# the evaluation in float32 (1.21 ulp): erf of its first multiples is nearly a float32 number.
ERF32_STEP = mpf(float.fromhex("0x1.04bp-2"))
ERF32_DEGREE = 4


def erf_interval(index):
    """Value at the centre, and q with erf(centre + t) = value + t q(t); in the first interval
    erf(t) = t + t q(t), relative to erf."""
    centre = ERF32_STEP * index
    half = ERF32_STEP / 2 * mpf("1.0001")
    slope = TWO_OVER_SQRT_PI * exp(-centre * centre)

    def change(t):
        if abs(t) < mpf("1e-20"):
            return slope - (1 if index == 0 else 0)
        return (erf(centre + t) - erf(centre) - (t if index == 0 else 0)) / t

    def weight(t):
        return (abs(t) + mpf("1e-12")) / (abs(erf(centre + t)) + mpf("1e-12"))
    coefficients, worst = remez(change, weight, -half, half, ERF32_DEGREE)
    return [erf(centre)] + coefficients, worst


# tanh for vectors of sixteen: two intervals to an octave, from 2^-3 on; number 0 lies around 0.
TANH32_STARTS = [mpf(s) for s in
                 ("0", ".125", ".1875", ".25", ".375", ".5", ".75", "1", "1.5", "2", "3", "4", "6",
                  "8")]
TANH32_END = mpf("9.5") # 1 to float32 from 9.0109 on
TANH32_DEGREE = 5


def as_float32(value):
    return mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def tanh_centre(low, high):
    """Near the middle, and tanh of it is nearly a float32 number."""
    middle = float((low + high) / 2)
    best, least = None, None
    for k in range(-300, 301):
        centre = as_float32(middle * (1 + k * 2.0 ** -18))
        value = tanh(centre)
        error = abs(value - as_float32(value)) / value
        if least is None or error < least:
            best, least = centre, error
    return best


def tanh_interval(index):
    """Centre, value there, and q as for erf."""
    low = TANH32_STARTS[index]
    high = TANH32_STARTS[index + 1] if index + 1 < len(TANH32_STARTS) else TANH32_END
    centre = tanh_centre(low, high) if index else mpf(0)
    low = low if index else -high

    def change(t):
        if abs(t) < mpf("1e-20"):
            return 1 / cosh(centre) ** 2 - (1 if index == 0 else 0)
        return (sinh(t) / (cosh(centre) * cosh(centre + t)) - (t if index == 0 else 0)) / t

    def weight(t):
        return (abs(t) + mpf("1e-12")) / (abs(tanh(centre + t)) + mpf("1e-12"))
    coefficients, worst = remez(change, weight, low - centre, high - centre, TANH32_DEGREE)
    return [centre, tanh(centre)] + coefficients, worst


def print_tanh_table():
    intervals = [tanh_interval(i) for i in range(len(TANH32_STARTS))]
    worst = max(error for _, error in intervals)
    # The position is that of the low bits of (exponent, first bit of the mantissa), which are 1001
    # for 0.125 on; what lies below is brought to the place before.
    columns = [None] * 16
    for number, (row, _) in enumerate(intervals):
        columns[(247 + number) % 16] = row
    empty = [mpf(0)] * len(intervals[0][0])
    print("/// tanh(c + t) = first + t q(t) by intervals of half an octave from 0.125 on; below, c = 0")
    print("/// and t takes the place of the first. Rows: c, first, powers of q; columns: bits of the")
    print("/// exponent and the first one of the mantissa; relative.")
    print(f"/// Error {mp.nstr(worst, 3)} = 2^{mp.nstr(log(worst, 2), 4)}.")
    print(f"inline constexpr float tanh32Table[{len(empty)}][16] = {{")
    for power in range(len(empty)):
        row = [literal((c or empty)[power], "float") for c in columns]
        print("    {")
        for i in range(0, 16, 4):
            print("        " + " ".join(f"{entry}," for entry in row[i:i + 4]))
        print("    },")
    print("};\n")


def print_erf_table():
    intervals = [erf_interval(i) for i in range(16)]
    worst = max(error for _, error in intervals)
    print("/// erf(n s + t) = first + t q(t) for n = 0 .. 15 and s = erf32Step, |t| <= s/2; for n = 0 t")
    print("/// takes the place of the first. One row for each power, one column for each n; relative.")
    print(f"/// Error {mp.nstr(worst, 3)} = 2^{mp.nstr(log(worst, 2), 4)}.")
    print(f"inline constexpr float erf32Step = {literal(ERF32_STEP, 'float')};")
    print(f"inline constexpr float erf32Table[{ERF32_DEGREE + 2}][16] = {{")
    for power in range(ERF32_DEGREE + 2):
        row = [literal(c[power], "float") for c, _ in intervals]
        print("    {")
        for i in range(0, 16, 4):
            print("        " + " ".join(f"{entry}," for entry in row[i:i + 4]))
        print("    },")
    print("};\n")


# A fit of q(f) in log(1+f) = f - f^2/2 + f^3 (1/3 + f q(f)) for 1+f in [3/4, 3/2], 1/3 as float32,
# of error 2^-32; then the last digits were moved, by trial, until the largest error of the
# evaluation in float32 went from 0.609 ulp to 0.593.
LOG1P32_TAIL = ["-0x1.00000cp-2", "0x1.999a4p-3", "-0x1.554faap-3", "0x1.24574cp-3",
                "-0x1.001bc8p-3", "0x1.d11c7cp-4", "-0x1.ad06b8p-4", "0x1.470d14p-4",
                "-0x1.04ea38p-5"]


def print_log1p_tail():
    print("/// log(1+f) = f - f^2/2 + f^3 (0x1.555556p-2 + f q(f)), 1+f in [3/4, 3/2]; relative.")
    print("/// The last digits are those of the least error of the evaluation in float32.")
    print("inline constexpr float log1p32Tail[] = {")
    for c in LOG1P32_TAIL:
        print(f"    {float.fromhex(c).hex()}f,")
    print("};\n")


def literal(value, kind):
    if kind == "float":
        rounded = struct.unpack("f", struct.pack("f", float(value)))[0]
        return rounded.hex() + "f"
    return float(value).hex()


def piece_table():
    """2/pi in base 2^24, one digit per double, each digit with its own weight: for the argument
    reduction of huge angles. Entry i is digit i times 2^(-24 (i + 1))."""
    mp.prec = 1400
    rest = 1 / (2 * atan(mpf(1)))
    digits = []
    for _ in range(52):
        rest *= 2 ** 24
        digit = int(rest)
        rest -= digit
        digits.append(digit)
    mp.dps = 60
    return digits


def main():
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Written by scripts/derive_math_coefficients.py; change that and run it again.")
    print("// Minimax polynomials, lowest power first. The error is the fit's, before rounding of the")
    print("// coefficients and of the evaluation; docs/math.md states the bounds of the functions.")
    print("// clang-format off\n#pragma once\n\n#include <cstdint>\n\nnamespace nereid::lowering::coefficients {\n")
    for name, kind, function, weight, low, high, degree, comment in fits:
        coefficients, worst = remez(function, weight, low, high, degree)
        print(f"/// {comment}.\n/// Error {mp.nstr(worst, 3)} = 2^{mp.nstr(log(worst, 2), 4)}.")
        print(f"inline constexpr {kind} {name}[] = {{")
        for c in coefficients:
            print(f"    {literal(c, kind)},")
        print("};\n")
        if name == "log32Pair":
            print_log1p_tail()
    print_erf_table()
    print_tanh_table()
    print("/// Digits of 2/pi in base 2^24, most significant first.")
    print("inline constexpr int32_t twoOverPiDigits[] = {")
    digits = piece_table()
    for i in range(0, len(digits), 8):
        print("    " + " ".join(f"{d}," for d in digits[i:i + 8]))
    print("};\n\n} // namespace nereid::lowering::coefficients")


if __name__ == "__main__":
    main()
