# SPDX-License-Identifier: Apache-2.0
# Kernels that double a tensor: with a mask, without one, and without a length to choose.
import triton
import triton.language as tl


@triton.jit
def doubled(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2.0, mask=at < n)


@triton.jit
def unmasked(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * 2.0)


@triton.jit
def one(x, out):
    tl.store(out, tl.load(x) * 2.0)
