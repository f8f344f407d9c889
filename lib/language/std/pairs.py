# SPDX-License-Identifier: Apache-2.0
# Arithmetic of float32 numbers with twice their digits: a pair is the unevaluated sum of a number
# and of what it lacks. For the other files of this library.


@triton.jit
def _sum(a, b):
    """a + b exactly as a pair of numbers; |a| >= |b|, or a is 0."""
    total = a + b
    return total, b - (total - a)


@triton.jit
def _product(a, b):
    """a * b exactly as a pair of numbers."""
    high = tl.math.mul_rn(a, b)
    return high, tl.fma(a, b, -high)


@triton.jit
def _power_of_two(n):
    """2**n as float32 for n between -126 and 127."""
    return ((n + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _power(high, low):
    """exp(high + low) as 2**n times a pair between 0.7 and 1.5, off by 2**-30 of itself."""
    series: tl.constexpr = (
        0.1666666567325592,
        0.041666459292173386,
        0.00833358708769083,
        0.0013935271417722106,
        0.00019733367662411183,
    )
    magic = tl.fma(high, 1.4426950216293335, 12582912.0)
    count = magic - 12582912.0
    # ln(2) in two parts; multiples of the first one leave the number exactly.
    first = tl.fma(count, -0.693145751953125, high)
    r, r_low = _sum(first, tl.fma(count, -1.428606765330187e-06, low))
    square, lost = _product(r, r)
    one, one_low = _sum(1.0, r)
    two, two_low = _sum(one, 0.5 * square)
    rest = tl.fma(lost, 0.5, tl.fma(r_low, r, r_low) + (one_low + two_low))
    power, power_low = _sum(two, tl.fma(r * square, _polynomial(r, series), rest))
    return power, power_low, magic.to(tl.int32, bitcast=True) - 0x4B400000
