# SPDX-License-Identifier: Apache-2.0
# Kernels of which one writes where no memory is, for test/gpu/faults.py.
import triton
import triton.language as tl


@triton.jit
def double(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) * 2)


@triton.jit
def write_nowhere(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + (1 << 45) + i, tl.load(x + i) * 2)


@triton.jit
def triple(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) * 3)
