# SPDX-License-Identifier: Apache-2.0
# Kernels whose stores non_temporal.test looks at.
import triton
import triton.language as tl


@triton.jit
def plain(x, out, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + o, tl.load(x + o) + 1)


@triton.jit
def masked(x, out, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + o, tl.load(x + o) + 1, mask=o < n)


@triton.jit
def signalled(x, out, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    while tl.load(x + n, volatile=True) == 0.0:
        pass
    tl.store(out + o, tl.load(x + o) + 1)


@triton.jit
def blocks(x, out, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * n + tl.arange(0, BLOCK)
    for at in range(0, n, BLOCK):
        tl.store(out + o + at, tl.load(x + at % 512) * 2)


@triton.jit
def in_place(x, out, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + o, tl.load(x + o) + 1)


@triton.jit
def evicted_last(x, out, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + o, tl.load(x + o), eviction_policy="evict_last")


@triton.jit
def cached(x, out, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + o, tl.load(x + o), cache_modifier=".cg")


@triton.jit
def strided(x, out, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + o * 2, tl.load(x + o))


@triton.jit
def counting(x, out, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(x, 1.0)
    tl.store(out + o, 2.0)
