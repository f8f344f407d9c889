# SPDX-License-Identifier: Apache-2.0
# Arithmetic of libdevice with a direction of rounding: rounded to nearest, then moved by one step
# where that went the wrong way. Which way it went is the sign of what rounding has cut off, which
# can be had exactly: of f32 in f64, of f64 by fused multiplications on numbers of moderate size.


@triton.jit
def _next_up(x, up: tl.constexpr):
    """The next number above x, or below; beyond the largest one is an infinity, and back."""
    word: tl.constexpr = tl.int32 if x.dtype == tl.float32 else tl.int64
    bits = x.to(word, bitcast=True)
    smallest = tl.full((), 1, word).to(x.dtype, bitcast=True)
    if up:
        moved = tl.where(x > 0, bits + 1, bits - 1)
    else:
        moved = tl.where(x > 0, bits - 1, bits + 1)
        smallest = -smallest
    return tl.where(x == 0, smallest, moved.to(x.dtype, bitcast=True))


@triton.jit
def _moved(nearest, error, direction: tl.constexpr):
    """error has the sign of the exact result minus the nearest number; NaN where that is exact."""
    if direction == "rd":
        return tl.where(error < 0, _next_up(nearest, False), nearest)
    elif direction == "ru":
        return tl.where(error > 0, _next_up(nearest, True), nearest)
    else:
        result = tl.where((error < 0) & (nearest > 0), _next_up(nearest, False), nearest)
        return tl.where((error > 0) & (nearest < 0), _next_up(nearest, True), result)


@triton.jit
def _is_finite(x):
    return tl.abs(x) < float("inf")


@triton.jit
def _sum_error(x, y, total):
    """x + y - total, where total is x + y rounded."""
    part = total - x
    return (x - (total - part)) + (y - part)


@triton.jit
def _directed_add(x, y, direction: tl.constexpr):
    nearest = x + y
    if x.dtype == tl.float32:
        wide = x.to(tl.float64) + y.to(tl.float64)
        rest = _sum_error(x.to(tl.float64), y.to(tl.float64), wide)
        cut = wide - nearest.to(tl.float64)
        error = tl.where(cut == 0, rest, cut)
    else:
        error = _sum_error(x, y, nearest)
        is_too_large = _is_finite(x) & _is_finite(y) & (tl.abs(nearest) == float("inf"))
        error = tl.where(is_too_large, -nearest, error)
    if direction == "rd":
        # A difference of equal numbers is -0 when it is rounded down.
        has_two_signs = tl.math.signbit(x) != tl.math.signbit(y)
        is_cancelled = (nearest == 0) & (error == 0) & ((x != 0) | has_two_signs)
        nearest = tl.where(is_cancelled, -tl.abs(nearest), nearest)
    return _moved(nearest, error, direction)


@triton.jit
def _directed_mul(x, y, direction: tl.constexpr):
    nearest = x * y
    if x.dtype == tl.float32:
        error = x.to(tl.float64) * y.to(tl.float64) - nearest.to(tl.float64)
    else:
        # Small products are those of a smaller factor that is made larger.
        is_small = tl.abs(nearest) < 1e-240
        large: tl.constexpr = 2.0**600
        is_left = is_small & (tl.abs(x) < tl.abs(y))
        left = tl.where(is_left, x * large, x)
        right = tl.where(is_small & (tl.abs(x) >= tl.abs(y)), y * large, y)
        error = tl.fma(left, right, -tl.where(is_small, nearest * large, nearest))
        error = tl.where((nearest == 0) & (x != 0) & (y != 0), _sign_of(x) * _sign_of(y), error)
        is_too_large = _is_finite(x) & _is_finite(y) & (tl.abs(nearest) == float("inf"))
        error = tl.where(is_too_large, -nearest, error)
    return _moved(nearest, error, direction)


@triton.jit
def _sign_of(x):
    return tl.where(tl.math.signbit(x) != 0, -1.0, 1.0).to(x.dtype)


@triton.jit
def _mantissa(x):
    """x by the power of two that makes it at least 1 and less than 2, and that power."""
    is_usual = _is_finite(x) & (x != 0)
    power = tl.where(is_usual, tl.math.ilogb(x), 0)
    return tl.math.ldexp(x, -power), power


@triton.jit
def _directed_div(x, y, direction: tl.constexpr):
    nearest = tl.div_rn(x, y)
    if x.dtype == tl.float32:
        rest = x.to(tl.float64) - nearest.to(tl.float64) * y.to(tl.float64)
        error = rest * _sign_of(y).to(tl.float64)
    else:
        above, power = _mantissa(x)
        below, power_below = _mantissa(y)
        quotient = tl.math.ldexp(nearest, power_below - power)
        error = tl.fma(-quotient, below, above) * _sign_of(y)
        error = tl.where((nearest == 0) & (x != 0), _sign_of(x) * _sign_of(y), error)
        error = tl.where(_is_finite(y), error, 0.0)
        is_too_large = _is_finite(x) & (y != 0) & (tl.abs(nearest) == float("inf"))
        error = tl.where(is_too_large, -nearest, error)
    return _moved(nearest, error, direction)


@triton.jit
def _directed_sqrt(x, direction: tl.constexpr):
    nearest = tl.sqrt_rn(x)
    if x.dtype == tl.float32:
        root = nearest.to(tl.float64)
        error = x.to(tl.float64) - root * root
    else:
        is_usual = _is_finite(x) & (x != 0)
        half = tl.where(is_usual, tl.math.ilogb(x), 0) >> 1
        root = tl.math.ldexp(nearest, -half)
        error = tl.fma(-root, root, tl.math.ldexp(x, -2 * half))
    return _moved(nearest, error, direction)


@triton.jit
def _directed_fma(x, y, z, direction: tl.constexpr):
    nearest = tl.fma(x, y, z)
    if x.dtype == tl.float32:
        product = x.to(tl.float64) * y.to(tl.float64)
        wide = product + z.to(tl.float64)
        rest = _sum_error(product, z.to(tl.float64), wide)
        cut = wide - nearest.to(tl.float64)
        error = tl.where(cut == 0, rest, cut)
        is_zero = (wide == 0) & (rest == 0)
        has_two_signs = tl.math.signbit(product) != tl.math.signbit(z)
    else:
        left, power_left = _mantissa(x)
        right, power_right = _mantissa(y)
        term, power_term = _mantissa(z)
        # Of two terms that are far apart, the smaller one only has a sign.
        apart = tl.where((x == 0) | (y == 0) | (z == 0), 0, power_left + power_right - power_term)
        near = tl.minimum(tl.maximum(apart, -300), 300)
        scale = tl.where((x == 0) | (y == 0), power_term, power_left + power_right)
        scale = tl.where(apart < -300, power_term - 300, scale)
        term = tl.math.ldexp(term, tl.where(z == 0, 0, tl.where((x == 0) | (y == 0), 0, -near)))
        # By fma, as nobody joins that with the sums that follow.
        product = tl.fma(left, right, 0.0)
        low = tl.fma(left, right, -product)
        inner = term + low
        inner_rest = _sum_error(term, low, inner)
        outer = product + inner
        outer_rest = _sum_error(product, inner, outer)
        cut = (outer - tl.math.ldexp(nearest, -scale)) + outer_rest
        error = cut + inner_rest
        is_too_large = _is_finite(x) & _is_finite(y) & _is_finite(z) & ~_is_finite(nearest)
        error = tl.where(is_too_large, -nearest, error)
        is_zero = (outer == 0) & (outer_rest == 0) & (inner_rest == 0)
        has_two_signs = (tl.math.signbit(x) ^ tl.math.signbit(y)) != tl.math.signbit(z)
    if direction == "rd":
        nearest = tl.where(is_zero & has_two_signs, -tl.abs(nearest), nearest)
    return _moved(nearest, error, direction)


@triton.jit
def add_rz(x, y):
    return _directed_add(_real(x, "add_rz"), y, "rz")


@triton.jit
def add_rd(x, y):
    return _directed_add(_real(x, "add_rd"), y, "rd")


@triton.jit
def add_ru(x, y):
    return _directed_add(_real(x, "add_ru"), y, "ru")


@triton.jit
def sub_rz(x, y):
    return _directed_add(_real(x, "sub_rz"), -y, "rz")


@triton.jit
def sub_rd(x, y):
    return _directed_add(_real(x, "sub_rd"), -y, "rd")


@triton.jit
def sub_ru(x, y):
    return _directed_add(_real(x, "sub_ru"), -y, "ru")


@triton.jit
def mul_rz(x, y):
    return _directed_mul(_real(x, "mul_rz"), y, "rz")


@triton.jit
def mul_rd(x, y):
    return _directed_mul(_real(x, "mul_rd"), y, "rd")


@triton.jit
def mul_ru(x, y):
    return _directed_mul(_real(x, "mul_ru"), y, "ru")


@triton.jit
def div_rz(x, y):
    return _directed_div(_real(x, "div_rz"), y, "rz")


@triton.jit
def div_rd(x, y):
    return _directed_div(_real(x, "div_rd"), y, "rd")


@triton.jit
def div_ru(x, y):
    return _directed_div(_real(x, "div_ru"), y, "ru")


@triton.jit
def fma_rz(x, y, z):
    return _directed_fma(_real(x, "fma_rz"), y, z, "rz")


@triton.jit
def fma_rd(x, y, z):
    return _directed_fma(_real(x, "fma_rd"), y, z, "rd")


@triton.jit
def fma_ru(x, y, z):
    return _directed_fma(_real(x, "fma_ru"), y, z, "ru")


@triton.jit
def sqrt_rz(x):
    return _directed_sqrt(_real(x, "sqrt_rz"), "rz")


@triton.jit
def sqrt_rd(x):
    return _directed_sqrt(_real(x, "sqrt_rd"), "rd")


@triton.jit
def sqrt_ru(x):
    return _directed_sqrt(_real(x, "sqrt_ru"), "ru")


@triton.jit
def rcp_rz(x):
    return _directed_div(tl.full((), 1, x.dtype), _real(x, "rcp_rz"), "rz")


@triton.jit
def rcp_rd(x):
    return _directed_div(tl.full((), 1, x.dtype), _real(x, "rcp_rd"), "rd")


@triton.jit
def rcp_ru(x):
    return _directed_div(tl.full((), 1, x.dtype), _real(x, "rcp_ru"), "ru")


@triton.jit
def _directed_from(x, given: tl.constexpr, wanted: tl.constexpr, direction: tl.constexpr):
    """An integer of 64 bits, as the sum of its halves."""
    tl.static_assert(x.dtype == given, f"the conversion expects {given}, but got {x.dtype}")
    high = (x >> 32).to(tl.float64) * 4294967296.0
    low = (x & 0xFFFFFFFF).to(tl.float64)
    wide = high + low
    rest = _sum_error(high, low, wide)
    if wanted == tl.float64:
        return _moved(wide, rest, direction)
    else:
        nearest = x.to(tl.float32)
        cut = wide - nearest.to(tl.float64)
        return _moved(nearest, tl.where(cut == 0, rest, cut), direction)


@triton.jit
def ll2float_rz(x):
    return _directed_from(x, tl.int64, tl.float32, "rz")


@triton.jit
def ll2float_rd(x):
    return _directed_from(x, tl.int64, tl.float32, "rd")


@triton.jit
def ll2float_ru(x):
    return _directed_from(x, tl.int64, tl.float32, "ru")


@triton.jit
def ll2double_rz(x):
    return _directed_from(x, tl.int64, tl.float64, "rz")


@triton.jit
def ll2double_rd(x):
    return _directed_from(x, tl.int64, tl.float64, "rd")


@triton.jit
def ll2double_ru(x):
    return _directed_from(x, tl.int64, tl.float64, "ru")


@triton.jit
def ull2float_rz(x):
    return _directed_from(x, tl.uint64, tl.float32, "rz")


@triton.jit
def ull2float_rd(x):
    return _directed_from(x, tl.uint64, tl.float32, "rd")


@triton.jit
def ull2float_ru(x):
    return _directed_from(x, tl.uint64, tl.float32, "ru")


@triton.jit
def ull2double_rz(x):
    return _directed_from(x, tl.uint64, tl.float64, "rz")


@triton.jit
def ull2double_rd(x):
    return _directed_from(x, tl.uint64, tl.float64, "rd")


@triton.jit
def ull2double_ru(x):
    return _directed_from(x, tl.uint64, tl.float64, "ru")
