# SPDX-License-Identifier: Apache-2.0
# Lengths, roots, powers of ten and trigonometric functions of multiples of pi. In float32 within
# 0.6 ulp, hypot by pairs of float32 numbers, the others in float64; in float64 within 3 ulp.


@triton.jit
def _length(a, b, c, d):
    """The square root of the sum of squares, scaled by the largest so that none overflows."""
    largest = tl.maximum(tl.maximum(a, b), tl.maximum(c, d))
    scale = tl.where((largest == 0) | (largest == float("inf")), 1.0, largest)
    a = a / scale
    b = b / scale
    c = c / scale
    d = d / scale
    length = scale * tl.sqrt(a * a + b * b + c * c + d * d)
    return tl.where(largest == float("inf"), largest, length)


@triton.jit
def _scale_of_squares(larger):
    """A power of two by which no square overflows or is lost, and its reciprocal; whether it is for small numbers."""
    is_large = larger > 4.611686018427388e+18  # 2**62
    is_small = larger < 8.673617379884035e-19  # 2**-60
    scale = tl.where(is_large, 1.3552527156068805e-20, tl.where(is_small, 7.922816251426434e+28, 1.0))
    back = tl.where(is_large, 7.378697629483821e+19, tl.where(is_small, 1.262177448353619e-29, 1.0))
    return scale, back, is_small


@triton.jit
def _hypot_single(x, y):
    """The sum of squares as a pair, scaled so that none overflows or is lost, and its root."""
    larger = tl.maximum(tl.abs(x), tl.abs(y))
    smaller = tl.minimum(tl.abs(x), tl.abs(y))
    scale, back, is_small = _scale_of_squares(larger)
    scaled = larger * scale
    first, first_low = _product(scaled, scaled)
    scaled = smaller * scale
    second, second_low = _product(scaled, scaled)
    total = first + second
    total_low = (second - (total - first)) + (first_low + second_low)
    inverse = tl.rsqrt(tl.maximum(total, 1.1754943508222875e-38))
    root = tl.math.mul_rn(total, inverse)
    root_low = (tl.fma(-root, root, total) + total_low) * (0.5 * inverse)
    # A subnormal number is rounded once, by a number with its last place.
    placed = root + 9.313225746154785e-10
    subnormal = (placed + ((root - (placed - 9.313225746154785e-10)) + root_low)) - 9.313225746154785e-10
    length = tl.where(is_small & (root < 9.313225746154785e-10), subnormal, root + root_low) * back
    length = tl.where((x != x) | (y != y), float("nan"), length)
    return tl.where(larger == float("inf"), larger, length)


@triton.jit
def _hypot_half(x, y):
    """The root of the sum of squares, scaled likewise; of infinities that is none."""
    larger = tl.maximum(tl.abs(x), tl.abs(y))
    scale, back, _ = _scale_of_squares(larger)
    first = x * scale
    second = y * scale
    total = first * first + second * second
    length = total * tl.rsqrt(tl.maximum(total, 1.1754943508222875e-38)) * back
    return tl.where(larger == float("inf"), larger, length)


@triton.jit
def hypot(x, y):
    if x.dtype == tl.float32 and y.dtype == tl.float32:
        return _for_halves(_hypot_single(x, y), _hypot_half(x, y))
    else:
        zero = tl.full((), 0.0, tl.float64)
        length = _length(tl.abs(_wide(x, "hypot")), tl.abs(_wide(y, "hypot")), zero, zero)
        return length.to(x.dtype)


@triton.jit
def rhypot(x, y):
    zero = tl.full((), 0.0, tl.float64)
    length = _length(tl.abs(_wide(x, "rhypot")), tl.abs(_wide(y, "rhypot")), zero, zero)
    return (1.0 / length).to(x.dtype)


@triton.jit
def _length_of_three(x, y, z, name: tl.constexpr):
    zero = tl.full((), 0.0, tl.float64)
    return _length(tl.abs(_wide(x, name)), tl.abs(_wide(y, name)), tl.abs(_wide(z, name)), zero)


@triton.jit
def norm3d(x, y, z):
    return _length_of_three(x, y, z, "norm3d").to(x.dtype)


@triton.jit
def rnorm3d(x, y, z):
    return (1.0 / _length_of_three(x, y, z, "rnorm3d")).to(x.dtype)


@triton.jit
def _length_of_four(x, y, z, w, name: tl.constexpr):
    a = tl.abs(_wide(x, name))
    b = tl.abs(_wide(y, name))
    c = tl.abs(_wide(z, name))
    return _length(a, b, c, tl.abs(_wide(w, name)))


@triton.jit
def norm4d(x, y, z, w):
    return _length_of_four(x, y, z, w, "norm4d").to(x.dtype)


@triton.jit
def rnorm4d(x, y, z, w):
    return (1.0 / _length_of_four(x, y, z, w, "rnorm4d")).to(x.dtype)


@triton.jit
def rcbrt(x):
    return (1.0 / tl.math.cbrt(_wide(x, "rcbrt"))).to(x.dtype)


@triton.jit
def exp10(x):
    ten = tl.full((), 10.0, tl.float64)
    return tl.math.pow(ten, _wide(x, "exp10")).to(x.dtype)


@triton.jit
def _quarter(x):
    """x in half turns as quarter turns modulo 4, and the rest between -1/4 and 1/4."""
    turns = tl.math.rint(2.0 * x)
    rest = x - 0.5 * turns
    quarter = turns - 4.0 * tl.floor(0.25 * turns)
    return quarter, 3.141592653589793 * rest


@triton.jit
def sinpi(x):
    quarter, rest = _quarter(_wide(x, "sinpi"))
    sine = tl.sin(rest)
    cosine = tl.cos(rest)
    odd = tl.where(quarter == 1, cosine, -cosine)
    even = tl.where(quarter == 2, -sine, sine)
    return tl.where((quarter == 1) | (quarter == 3), odd, even).to(x.dtype)


@triton.jit
def cospi(x):
    quarter, rest = _quarter(_wide(x, "cospi"))
    sine = tl.sin(rest)
    cosine = tl.cos(rest)
    odd = tl.where(quarter == 1, -sine, sine)
    even = tl.where(quarter == 2, -cosine, cosine)
    return tl.where((quarter == 1) | (quarter == 3), odd, even).to(x.dtype)
