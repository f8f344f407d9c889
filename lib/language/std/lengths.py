# SPDX-License-Identifier: Apache-2.0
# Lengths, roots, powers of ten and trigonometric functions of multiples of pi. In float32 within
# 0.6 ulp, computed in float64; in float64 within 3 ulp.


@triton.jit
def _wide(x, name: tl.constexpr):
    tl.static_assert(
        x.dtype == tl.float32 or x.dtype == tl.float64,
        f"'{name}' expects fp32 or fp64, but got {x.dtype}",
    )
    return x.to(tl.float64)


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
def hypot(x, y):
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
