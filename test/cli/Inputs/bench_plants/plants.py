# SPDX-License-Identifier: Apache-2.0
# Kernels that must not be timed as if they were right; right is out = x + 1.
import triton
import triton.language as tl


@triton.jit
def right(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) + 1.0, mask=offsets < n)


@triton.jit
def behind(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) + 1.0, mask=offsets < n + 1)


@triton.jit
def in_front(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) + 1.0, mask=offsets < n)
    tl.store(out - 3, 7.0)


@triton.jit
def beside_input(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) + 1.0, mask=offsets < n)
    tl.store(x + n + 5, 7.0)


@triton.jit
def zeros(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.zeros([BLOCK], tl.float32), mask=offsets < n)


@triton.jit
def undone(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if tl.program_id(0) < tl.num_programs(0) - 1:
        tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) + 1.0, mask=offsets < n)


# Counts its launches in its input, and works only at first.
@triton.jit
def stateful(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n)
    tl.store(out + offsets, values + 1.0, mask=offsets < n)
    tl.store(x + offsets, values + 0.0001, mask=offsets < n)
