# SPDX-License-Identifier: Apache-2.0
# Functions of libdevice on the bits of integers and floats.


@triton.jit
def _word(x, name: tl.constexpr):
    tl.static_assert(
        x.dtype.is_int() and (x.dtype.primitive_bitwidth == 32 or x.dtype.primitive_bitwidth == 64),
        f"'{name}' expects integers of 32 or 64 bits, but got {x.dtype}",
    )
    return x


@triton.jit
def _reinterpreted(x, wanted: tl.constexpr, result: tl.constexpr, name: tl.constexpr):
    tl.static_assert(x.dtype == wanted, f"'{name}' expects {wanted}, but got {x.dtype}")
    return x.to(result, bitcast=True)


@triton.jit
def ffs(x):
    """Position of the lowest set bit, counted from 1; 0 when none is set."""
    word = _word(x, "ffs")
    return word.dtype.primitive_bitwidth - tl.math.clz(word & (~word + 1))


@triton.jit
def brev(x):
    word = _word(x, "brev")
    if word.dtype.primitive_bitwidth == 32:
        bits = word.to(tl.uint32, bitcast=True)
        bits = ((bits >> 1) & 0x55555555) | ((bits & 0x55555555) << 1)
        bits = ((bits >> 2) & 0x33333333) | ((bits & 0x33333333) << 2)
        bits = ((bits >> 4) & 0x0F0F0F0F) | ((bits & 0x0F0F0F0F) << 4)
        bits = ((bits >> 8) & 0x00FF00FF) | ((bits & 0x00FF00FF) << 8)
        return ((bits >> 16) | (bits << 16)).to(word.dtype, bitcast=True)
    else:
        wide = word.to(tl.uint64, bitcast=True)
        wide = ((wide >> 1) & 0x5555555555555555) | ((wide & 0x5555555555555555) << 1)
        wide = ((wide >> 2) & 0x3333333333333333) | ((wide & 0x3333333333333333) << 2)
        wide = ((wide >> 4) & 0x0F0F0F0F0F0F0F0F) | ((wide & 0x0F0F0F0F0F0F0F0F) << 4)
        wide = ((wide >> 8) & 0x00FF00FF00FF00FF) | ((wide & 0x00FF00FF00FF00FF) << 8)
        wide = ((wide >> 16) & 0x0000FFFF0000FFFF) | ((wide & 0x0000FFFF0000FFFF) << 16)
        return ((wide >> 32) | (wide << 32)).to(word.dtype, bitcast=True)


@triton.jit
def byte_perm(x, y, s):
    """Four of the eight bytes of x and y, each picked by three bits of s."""
    low = _word(x, "byte_perm").to(tl.uint32, bitcast=True).to(tl.uint64)
    high = _word(y, "byte_perm").to(tl.uint32, bitcast=True).to(tl.uint64)
    pool = low | (high << 32)
    picks = _word(s, "byte_perm").to(tl.uint64)
    result = (pool >> ((picks & 7) * 8)) & 255
    for i in tl.static_range(1, 4):
        byte = (pool >> (((picks >> (4 * i)) & 7) * 8)) & 255
        result = result | (byte << (8 * i))
    return result.to(tl.uint32).to(x.dtype, bitcast=True)


@triton.jit
def sad(x, y, z):
    """|x - y| + z"""
    return tl.where(x > y, x - y, y - x) + z


@triton.jit
def hadd(x, y):
    """The mean of two integers, rounded down, without overflow."""
    return (_word(x, "hadd") & _word(y, "hadd")) + ((x ^ y) >> 1)


@triton.jit
def rhadd(x, y):
    """The mean of two integers, rounded up, without overflow."""
    return (_word(x, "rhadd") | _word(y, "rhadd")) - ((x ^ y) >> 1)


@triton.jit
def mul24(x, y):
    """The low 32 bits of the product of the low 24 bits."""
    return ((_word(x, "mul24") << 8) >> 8) * ((_word(y, "mul24") << 8) >> 8)


@triton.jit
def int_as_float(x):
    return _reinterpreted(x, tl.int32, tl.float32, "int_as_float")


@triton.jit
def float_as_int(x):
    return _reinterpreted(x, tl.float32, tl.int32, "float_as_int")


@triton.jit
def uint_as_float(x):
    return x.to(tl.uint32, bitcast=True).to(tl.float32, bitcast=True)


@triton.jit
def float_as_uint(x):
    return _reinterpreted(x, tl.float32, tl.uint32, "float_as_uint")


@triton.jit
def longlong_as_double(x):
    return _reinterpreted(x, tl.int64, tl.float64, "longlong_as_double")


@triton.jit
def double_as_longlong(x):
    return _reinterpreted(x, tl.float64, tl.int64, "double_as_longlong")


@triton.jit
def hiloint2double(high, low):
    bits = (high.to(tl.int64) << 32) | low.to(tl.uint32, bitcast=True).to(tl.int64)
    return bits.to(tl.float64, bitcast=True)


@triton.jit
def double2loint(x):
    return _reinterpreted(x, tl.float64, tl.int64, "double2loint").to(tl.int32)


@triton.jit
def double2hiint(x):
    return (_reinterpreted(x, tl.float64, tl.int64, "double2hiint") >> 32).to(tl.int32)
