# SPDX-License-Identifier: Apache-2.0
# Running sums and products along one dimension. bfloat16 is computed in float32. Sums of integers
# narrower than 32 bits are widened first, as in the reduction; `dtype` overrides both.


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def _multiply(a, b):
    return a * b


@triton.constexpr_function
def _sum_type(given, wanted):
    if wanted is not None:
        return wanted
    if given.is_bf16():
        return tl.float32
    if given.is_int() and given.primitive_bitwidth < 32:
        return tl.uint32 if given.is_int_unsigned() else tl.int32
    return given


@triton.jit
def cumsum(input, axis: tl.constexpr = 0, reverse: tl.constexpr = False, dtype: tl.constexpr = None):
    tl.static_assert(len(input.shape) > 0, "'cumsum' expects a tile, but got a scalar")
    widened = input.to(_sum_type(input.dtype, dtype))
    return tl.associative_scan(widened, axis, _add, reverse=reverse)


@triton.jit
def cumprod(input, axis: tl.constexpr = 0, reverse: tl.constexpr = False):
    tl.static_assert(len(input.shape) > 0, "'cumprod' expects a tile, but got a scalar")
    factors = input.to(tl.float32) if input.dtype.is_bf16() else input
    return tl.associative_scan(factors, axis, _multiply, reverse=reverse)
