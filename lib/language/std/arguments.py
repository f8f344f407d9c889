# SPDX-License-Identifier: Apache-2.0
# What functions of float32 and float64 expect of an argument, for all files of this library.


@triton.jit
def _real(x, name: tl.constexpr):
    tl.static_assert(
        x.dtype == tl.float32 or x.dtype == tl.float64,
        f"'{name}' expects fp32 or fp64, but got {x.dtype}",
    )
    return x


@triton.jit
def _wide(x, name: tl.constexpr):
    return _real(x, name).to(tl.float64)
