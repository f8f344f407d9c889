// SPDX-License-Identifier: Apache-2.0
// The kernels that a device is calibrated with, in the Triton language, so that every target with
// devices compiles them.
#pragma once

namespace nereid::bench {

inline constexpr const char *calibrationKernels = R"py(
import triton
import triton.language as tl


@triton.jit
def copy(to, source, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to + i, tl.load(source + i, mask=i < n), mask=i < n)


@triton.jit
def read(to, source, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to + tl.program_id(0), tl.sum(tl.load(source + i, mask=i < n, other=0.0), axis=0))


@triton.jit
def write(to, n, value, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to + i, tl.zeros([BLOCK], tl.float32) + value, mask=i < n)


# Each program walks over what all of them read, so that it is in no memory of its processor alone.
@triton.jit
def read_again(to, source, rounds, blocks, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    for round in range(rounds):
        block = (tl.program_id(0) + round * 17) % blocks
        total += tl.load(source + block * BLOCK + tl.arange(0, BLOCK), cache_modifier=".cg")
    tl.store(to + tl.program_id(0), tl.sum(total, axis=0))


# A chain of multiply-adds for each number; factor and term are 1, which only the launch knows.
@triton.jit
def multiply_add(to, factor, term, rounds, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(to + i)
    for _ in range(rounds):
        for _ in tl.static_range(8):
            x = tl.fma(x, tl.zeros_like(x) + factor, tl.zeros_like(x) + term)
    tl.store(to + i, x)


# As a product of matrices walks along what it sums over; all programs read the same rows and columns.
@triton.jit
def products(to, a, b, rounds, DEPTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros([M, N], tl.float32)
    for _ in range(rounds):
        left = a + m[:, None] * DEPTH + k[None, :]
        right = b + k[:, None] * N + n[None, :]
        for _ in range(DEPTH // K):
            total = tl.dot(tl.load(left), tl.load(right), total)
            left += K
            right += K * N
    tl.store(to + tl.program_id(0) * M * N + m[:, None] * N + n[None, :], total)
)py";

} // namespace nereid::bench
