# SPDX-License-Identifier: Apache-2.0
# Kernels of which one, and a config of which one, writes where no memory is, for test/gpu/faults.py.
import triton
import triton.language as tl


@triton.jit
def double(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) * 2)


@triton.jit
def write_nowhere(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + (1 << 45) + i, tl.load(x + i) * 2)


@triton.jit
def triple(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) * 3)


@triton.autotune(
    configs=[
        triton.Config({"FAR": 0}, num_warps=4),
        triton.Config({"FAR": 1 << 45}, num_warps=4),
        triton.Config({"FAR": 0}, num_warps=8),
    ],
    key=[],
)
@triton.jit
def searched(x, out, BLOCK: tl.constexpr, FAR: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + FAR + i, tl.load(x + i) * 2)
