# SPDX-License-Identifier: Apache-2.0
# Functions of libdevice that classify, scale and round floats: exact, or rounded once.


@triton.jit
def signbit(x):
    if _real(x, "signbit").dtype == tl.float32:
        return (x.to(tl.uint32, bitcast=True) >> 31).to(tl.int32)
    else:
        return (x.to(tl.uint64, bitcast=True) >> 63).to(tl.int32)


@triton.jit
def finitef(x):
    return tl.abs(_real(x, "finitef")) < float("inf")


@triton.jit
def isfinited(x):
    return tl.abs(_real(x, "isfinited")) < float("inf")


@triton.jit
def nextafter(x, y):
    """The next number after x towards y: one step of the bits read as an integer."""
    word: tl.constexpr = tl.int32 if _real(x, "nextafter").dtype == tl.float32 else tl.int64
    bits = x.to(word, bitcast=True)
    grows = (x < y) == (x > 0)
    stepped = tl.where(grows, bits + 1, bits - 1).to(x.dtype, bitcast=True)
    smallest = tl.full((), 1, word).to(x.dtype, bitcast=True)
    result = tl.where(x == 0, tl.where(y > 0, smallest, -smallest), stepped)
    result = tl.where(x == y, y, result)
    return tl.where((x != x) | (y != y), x + y, result)


@triton.jit
def fdim(x, y):
    return tl.where(_real(x, "fdim") <= y, 0.0, x - y)


@triton.jit
def saturatef(x):
    return tl.minimum(tl.maximum(_real(x, "saturatef"), 0.0), 1.0)


@triton.jit
def llrint(x):
    return tl.math.rint(_real(x, "llrint")).to(tl.int64)


@triton.jit
def llround(x):
    return tl.math.round(_real(x, "llround")).to(tl.int64)


@triton.jit
def remainder(x, y):
    """x minus the nearest multiple of y (ties to even multiples), which is exact."""
    size = tl.abs(_real(y, "remainder"))
    rest = tl.math.fmod(tl.abs(x), size + size)
    rest = tl.where(rest + rest > size, rest - size, rest)
    rest = tl.where(rest + rest >= size, rest - size, rest)
    rest = tl.where(size == 0, float("nan"), rest)
    return tl.where(signbit(x) != 0, -rest, rest)


@triton.jit
def _double_power_of_two(n):
    """2**n as f64 for n between -1022 and 1023."""
    return ((n + 1023).to(tl.int64) << 52).to(tl.float64, bitcast=True)


@triton.jit
def ldexp(x, n):
    """x * 2**n, rounded once."""
    if _real(x, "ldexp").dtype == tl.float32:
        steps = tl.minimum(tl.maximum(n, -400), 400)
        return (x.to(tl.float64) * _double_power_of_two(steps)).to(tl.float32)
    else:
        # Two steps down stop above the subnormals, so that only the last one rounds.
        rest = tl.minimum(tl.maximum(n, -2200), 2200)
        result = x
        for _ in tl.static_range(2):
            step = tl.where(rest > 1023, 1023, tl.where(rest < -1022, -969, 0))
            result = result * _double_power_of_two(step)
            rest = rest - step
        return result * _double_power_of_two(tl.minimum(tl.maximum(rest, -1022), 1023))


@triton.jit
def scalbn(x, n):
    return ldexp(x, n)


@triton.jit
def _exponent(x):
    """floor(log2(|x|)) of a finite x that is not 0."""
    wide = tl.abs(x.to(tl.float64))
    is_tiny = wide < 2.2250738585072014e-308
    scaled = tl.where(is_tiny, wide * 18014398509481984.0, wide)
    exponent = (scaled.to(tl.int64, bitcast=True) >> 52).to(tl.int32) - 1023
    return tl.where(is_tiny, exponent - 54, exponent)


@triton.jit
def ilogb(x):
    exponent = _exponent(_real(x, "ilogb"))
    exponent = tl.where(tl.abs(x) == float("inf"), 2147483647, exponent)
    return tl.where((x == 0) | (x != x), -2147483648, exponent)


@triton.jit
def logb(x):
    exponent = _exponent(_real(x, "logb")).to(x.dtype)
    exponent = tl.where(x == 0, float("-inf"), exponent)
    special = tl.abs(x)
    return tl.where((special == float("inf")) | (x != x), special, exponent)


@triton.jit
def rcp_rn(x):
    return 1.0 / _real(x, "rcp_rn")


@triton.jit
def rcp64h(x):
    """1 / x without the low 32 bits."""
    tl.static_assert(x.dtype == tl.float64, f"'rcp64h' expects fp64, but got {x.dtype}")
    bits = (1.0 / x).to(tl.int64, bitcast=True)
    return ((bits >> 32) << 32).to(tl.float64, bitcast=True)


@triton.jit
def rsqrt_rn(x):
    tl.static_assert(x.dtype == tl.float32, f"'rsqrt_rn' expects fp32, but got {x.dtype}")
    return (1.0 / tl.sqrt(x.to(tl.float64))).to(tl.float32)
