#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes test/tables/math.txt: values of mathematical functions to 64 bits, from mpmath.

Run by hand (needs mpmath); the table is committed. Each line is a function, its argument and its
value as C99 hexadecimal numbers. A value that 64 bits do not hold is rounded to odd, so that
rounding it once more, to float64 or float32, gives what rounding the true value would.
"""

import math
import random
import struct

import mpmath

mpmath.mp.prec = 2200  # the argument of sin reaches 2^1000


def float32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def odd(x):
    """Hexadecimal text of a finite number, rounded to odd at 64 bits."""
    if x == 0:
        return "0x0p+0"
    sign = "-" if x < 0 else ""
    mantissa, exponent = mpmath.frexp(abs(x))
    scaled = mpmath.ldexp(mantissa, 64)
    whole = int(mpmath.floor(scaled))
    if scaled != whole:
        whole |= 1
    return f"{sign}0x{whole:x}p{exponent - 64:+d}"


FUNCTIONS = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x),
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10,
    "log1p": mpmath.log1p,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "erf": mpmath.erf,
}
INF, NAN = math.inf, math.nan
# Values at -inf and inf; at zero every function that is zero there keeps the sign, and the
# reciprocal of the square root has it.
ENDS = {
    "exp": (0, INF), "exp2": (0, INF), "expm1": (-1, INF), "log": (NAN, INF), "log2": (NAN, INF),
    "log10": (NAN, INF), "log1p": (NAN, INF), "sqrt": (NAN, INF), "rsqrt": (NAN, 0),
    "cbrt": (-INF, INF), "sin": (NAN, NAN), "cos": (NAN, NAN), "tan": (NAN, NAN),
    "asin": (NAN, NAN), "acos": (NAN, NAN), "atan": (None, None), "sinh": (-INF, INF),
    "cosh": (INF, INF), "tanh": (-1, 1), "asinh": (-INF, INF), "acosh": (NAN, INF),
    "atanh": (NAN, NAN), "erf": (-1, 1),
}
POLES = {("log", 0), ("log2", 0), ("log10", 0), ("log1p", -1)}


def value(name, x):
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        end = ENDS[name][x > 0]
        if end is None:
            return odd(mpmath.sign(x) * mpmath.pi / 2)
        return odd(mpmath.mpf(end)) if math.isfinite(end) else str(end)
    if (name, x) in POLES:
        return "-inf"
    if name == "rsqrt" and x == 0:
        return "-inf" if math.copysign(1, x) < 0 else "inf"
    if name == "atanh" and abs(x) == 1:
        return "inf" if x > 0 else "-inf"
    if name in ("exp", "exp2", "expm1", "sinh", "cosh") and abs(x) > 20000:
        ends = {"expm1": "-0x1p+0", "sinh": "-inf", "cosh": "inf"}
        return "inf" if x > 0 else ends.get(name, "0x0p+0")
    result = FUNCTIONS[name](mpmath.mpf(x))
    if isinstance(result, mpmath.mpc) and result.imag != 0:
        return "nan"
    result = mpmath.mpf(result.real)
    if result == 0 and x == 0 and math.copysign(1, x) < 0:
        return "-0x0p+0"
    return odd(result)


def arguments(name):
    rng = random.Random(name)
    least, largest = 2.0 ** -149, float32(3.4028234663852886e38)
    fixed = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 10.0, INF, -INF, NAN, least, -least, 2.0 ** -126,
             largest, -largest, 2.0 ** -12, -(2.0 ** -30), 1 + 2.0 ** -23, 1 - 2.0 ** -24]
    inside = {"asin": 1, "acos": 1, "atanh": 1, "tanh": 9, "erf": 4, "exp": 100, "exp2": 140,
              "expm1": 90, "sinh": 90, "cosh": 90}.get(name, 1000)
    some = [float32(rng.uniform(-inside, inside)) for _ in range(12)]
    some += [float32(math.ldexp(rng.uniform(1, 2), rng.randrange(-40, 20))) for _ in range(8)]
    if name in ("sin", "cos", "tan"):
        some += [float32(k * math.pi / 2) for k in (1, 2, 3, 5, 1000, 123457)]
        some += [float32(1e10), float32(2.5e30)]
    wide = [rng.uniform(-inside, inside) for _ in range(6)]
    wide += {"exp": [709.5, -740.25], "exp2": [1023.5, -1070.25], "sin": [1e300], "cos": [1e300],
             "log": [1e-310, 1e300], "sqrt": [1e-310, 1e300]}.get(name, [])
    return fixed + some + wide


def text(x):
    return str(x) if not math.isfinite(x) else x.hex()


def main():
    lines = ["# By scripts/math_table.py; function, argument, value rounded to odd at 64 bits."]
    for name in FUNCTIONS:
        for x in arguments(name):
            lines.append(f"{name} {text(x)} {value(name, x)}")
    with open("test/tables/math.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
