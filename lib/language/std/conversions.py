# SPDX-License-Identifier: Apache-2.0
# Conversions of libdevice between floats and integers with a direction of rounding. What lies
# beyond the integer type becomes its nearest number, and NaN becomes 0.


@triton.jit
def _rounded(x, direction: tl.constexpr):
    if direction == "rn":
        return tl.math.rint(x)
    elif direction == "rz":
        return tl.math.trunc(x)
    elif direction == "rd":
        return tl.floor(x)
    else:
        return tl.ceil(x)


@triton.jit
def _to_integer(x, given: tl.constexpr, wanted: tl.constexpr, direction: tl.constexpr):
    tl.static_assert(x.dtype == given, f"the conversion expects {given}, but got {x.dtype}")
    whole = _rounded(x.to(tl.float64), direction)
    bits: tl.constexpr = wanted.primitive_bitwidth
    is_signed: tl.constexpr = wanted.is_int_signed()
    low: tl.constexpr = -(2 ** (bits - 1)) if is_signed else 0
    high: tl.constexpr = 2 ** (bits - 1) - 1 if is_signed else 2**bits - 1
    limit: tl.constexpr = 2.0 ** (bits - 1) if is_signed else 2.0**bits
    is_inside = (whole >= low) & (whole < limit)
    result = tl.where(is_inside, whole, 0.0).to(wanted)
    result = tl.where(whole >= limit, tl.full((), high, wanted), result)
    return tl.where(whole < low, tl.full((), low, wanted), result)


@triton.jit
def _narrowed(x, direction: tl.constexpr):
    """f64 to f32: rounded to nearest, then corrected by one step where that went the wrong way."""
    nearest = x.to(tl.float32)
    back = nearest.to(tl.float64)
    if direction == "rn":
        return nearest
    else:
        below = _stepped(nearest, False)
        above = _stepped(nearest, True)
        if direction == "rd":
            return tl.where(back > x, below, nearest)
        elif direction == "ru":
            return tl.where(back < x, above, nearest)
        else:
            result = tl.where((x > 0) & (back > x), below, nearest)
            return tl.where((x < 0) & (back < x), above, result)


@triton.jit
def _stepped(x, up: tl.constexpr):
    bits = x.to(tl.int32, bitcast=True)
    if up:
        moved = tl.where(x > 0, bits + 1, bits - 1)
        at_zero: tl.constexpr = 1
    else:
        moved = tl.where(x > 0, bits - 1, bits + 1)
        at_zero: tl.constexpr = -2147483647
    return tl.where(x == 0, at_zero, moved).to(tl.float32, bitcast=True)


@triton.jit
def _from_integer(x, given: tl.constexpr, wanted: tl.constexpr, direction: tl.constexpr):
    tl.static_assert(x.dtype == given, f"the conversion expects {given}, but got {x.dtype}")
    if direction == "rn":
        return x.to(wanted)
    else:
        return _narrowed(x.to(tl.float64), direction)


@triton.jit
def double2int_rn(x):
    return _to_integer(x, tl.float64, tl.int32, "rn")


@triton.jit
def double2int_rz(x):
    return _to_integer(x, tl.float64, tl.int32, "rz")


@triton.jit
def double2int_rd(x):
    return _to_integer(x, tl.float64, tl.int32, "rd")


@triton.jit
def double2int_ru(x):
    return _to_integer(x, tl.float64, tl.int32, "ru")


@triton.jit
def double2uint_rn(x):
    return _to_integer(x, tl.float64, tl.uint32, "rn")


@triton.jit
def double2uint_rz(x):
    return _to_integer(x, tl.float64, tl.uint32, "rz")


@triton.jit
def double2uint_rd(x):
    return _to_integer(x, tl.float64, tl.uint32, "rd")


@triton.jit
def double2uint_ru(x):
    return _to_integer(x, tl.float64, tl.uint32, "ru")


@triton.jit
def double2ll_rn(x):
    return _to_integer(x, tl.float64, tl.int64, "rn")


@triton.jit
def double2ll_rz(x):
    return _to_integer(x, tl.float64, tl.int64, "rz")


@triton.jit
def double2ll_rd(x):
    return _to_integer(x, tl.float64, tl.int64, "rd")


@triton.jit
def double2ll_ru(x):
    return _to_integer(x, tl.float64, tl.int64, "ru")


@triton.jit
def double2ull_rn(x):
    return _to_integer(x, tl.float64, tl.uint64, "rn")


@triton.jit
def double2ull_rz(x):
    return _to_integer(x, tl.float64, tl.uint64, "rz")


@triton.jit
def double2ull_rd(x):
    return _to_integer(x, tl.float64, tl.uint64, "rd")


@triton.jit
def double2ull_ru(x):
    return _to_integer(x, tl.float64, tl.uint64, "ru")


@triton.jit
def float2int_rn(x):
    return _to_integer(x, tl.float32, tl.int32, "rn")


@triton.jit
def float2int_rz(x):
    return _to_integer(x, tl.float32, tl.int32, "rz")


@triton.jit
def float2int_rd(x):
    return _to_integer(x, tl.float32, tl.int32, "rd")


@triton.jit
def float2int_ru(x):
    return _to_integer(x, tl.float32, tl.int32, "ru")


@triton.jit
def float2uint_rn(x):
    return _to_integer(x, tl.float32, tl.uint32, "rn")


@triton.jit
def float2uint_rz(x):
    return _to_integer(x, tl.float32, tl.uint32, "rz")


@triton.jit
def float2uint_rd(x):
    return _to_integer(x, tl.float32, tl.uint32, "rd")


@triton.jit
def float2uint_ru(x):
    return _to_integer(x, tl.float32, tl.uint32, "ru")


@triton.jit
def float2ll_rn(x):
    return _to_integer(x, tl.float32, tl.int64, "rn")


@triton.jit
def float2ll_rz(x):
    return _to_integer(x, tl.float32, tl.int64, "rz")


@triton.jit
def float2ll_rd(x):
    return _to_integer(x, tl.float32, tl.int64, "rd")


@triton.jit
def float2ll_ru(x):
    return _to_integer(x, tl.float32, tl.int64, "ru")


@triton.jit
def float2ull_rn(x):
    return _to_integer(x, tl.float32, tl.uint64, "rn")


@triton.jit
def float2ull_rz(x):
    return _to_integer(x, tl.float32, tl.uint64, "rz")


@triton.jit
def float2ull_rd(x):
    return _to_integer(x, tl.float32, tl.uint64, "rd")


@triton.jit
def float2ull_ru(x):
    return _to_integer(x, tl.float32, tl.uint64, "ru")


@triton.jit
def double2float_rn(x):
    tl.static_assert(x.dtype == tl.float64, f"the conversion expects fp64, but got {x.dtype}")
    return _narrowed(x, "rn")


@triton.jit
def double2float_rz(x):
    tl.static_assert(x.dtype == tl.float64, f"the conversion expects fp64, but got {x.dtype}")
    return _narrowed(x, "rz")


@triton.jit
def double2float_rd(x):
    tl.static_assert(x.dtype == tl.float64, f"the conversion expects fp64, but got {x.dtype}")
    return _narrowed(x, "rd")


@triton.jit
def double2float_ru(x):
    tl.static_assert(x.dtype == tl.float64, f"the conversion expects fp64, but got {x.dtype}")
    return _narrowed(x, "ru")


@triton.jit
def int2double_rn(x):
    return _from_integer(x, tl.int32, tl.float64, "rn")


@triton.jit
def int2float_rn(x):
    return _from_integer(x, tl.int32, tl.float32, "rn")


@triton.jit
def int2float_rz(x):
    return _from_integer(x, tl.int32, tl.float32, "rz")


@triton.jit
def int2float_rd(x):
    return _from_integer(x, tl.int32, tl.float32, "rd")


@triton.jit
def int2float_ru(x):
    return _from_integer(x, tl.int32, tl.float32, "ru")


@triton.jit
def uint2double_rn(x):
    return _from_integer(x, tl.uint32, tl.float64, "rn")


@triton.jit
def uint2float_rn(x):
    return _from_integer(x, tl.uint32, tl.float32, "rn")


@triton.jit
def uint2float_rz(x):
    return _from_integer(x, tl.uint32, tl.float32, "rz")


@triton.jit
def uint2float_rd(x):
    return _from_integer(x, tl.uint32, tl.float32, "rd")


@triton.jit
def uint2float_ru(x):
    return _from_integer(x, tl.uint32, tl.float32, "ru")


@triton.jit
def ll2float_rn(x):
    return _from_integer(x, tl.int64, tl.float32, "rn")


@triton.jit
def ll2double_rn(x):
    return _from_integer(x, tl.int64, tl.float64, "rn")


@triton.jit
def ull2float_rn(x):
    return _from_integer(x, tl.uint64, tl.float32, "rn")


@triton.jit
def ull2double_rn(x):
    return _from_integer(x, tl.uint64, tl.float64, "rn")
