#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code for older architectures on this device: additions, and products by their matrix instructions with
operands that are copied ahead of time. All numbers are small integers, so that results are exact."""

from interface import ADD, ADD_SIGNATURE, Kernel, Stream, Tensor, expect_equal, launch, main

DEVICE = "nvidia:0"
OLDER = ("nvidia:sm_80", "nvidia:sm_86", "nvidia:sm_89")
ROWS, COLUMNS, INNER = 100, 80, 208
KERNELS = """
import triton, triton.language as tl

@triton.jit
def fill(x, n, step, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, (i * step % 11 - 5).to(x.dtype.element_ty), mask=i < n)

@triton.jit
def product(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
            SUM: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=SUM)
    for first in range(0, K, BLOCK_K):
        k = first + tl.arange(0, BLOCK_K)
        left = tl.load(a + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0)
        right = tl.load(b + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :], other=0)
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float32), mask=(m < M)[:, None] & (n < N)[None, :])
"""


def wanted():
    left = [i * 7 % 11 - 5 for i in range(ROWS * INNER)]
    right = [i * 3 % 11 - 5 for i in range(INNER * COLUMNS)]
    return [float(sum(left[m * INNER + k] * right[k * COLUMNS + n] for k in range(INNER)))
            for m in range(ROWS) for n in range(COLUMNS)]


def filled(count, element, step):
    made = Tensor.of(DEVICE, (count, ), element)
    kernel = Kernel(DEVICE, KERNELS, f"*{element}, i32, i32, 256", "fill")
    launch(kernel, (-(-count // 256), 1, 1), made, count, step)
    return made


def check_additions():
    for target in OLDER:
        x = Tensor.of(DEVICE, (1024, )).fill(1)
        launch(Kernel(DEVICE, ADD, ADD_SIGNATURE, target=target), (1, 1, 1), x, x, x, 1024)
        expect_equal(set(x.floats(Stream(DEVICE))), {2.0}, f"sums by code for {target}")


def check_products():
    expected, tried = wanted(), 0
    for element, total in (("fp16", "tl.float32"), ("bf16", "tl.float32"), ("fp32", "tl.float32"),
                           ("i8", "tl.int32")):
        a, b = filled(ROWS * INNER, element, 7), filled(INNER * COLUMNS, element, 3)
        for target in OLDER:
            for stages in (1, 3):
                signature = (f"*{element}:16, *{element}:16, *fp32:16, i32, i32:16, i32:16, 64, 32, 32, "
                             f"{total}, num_warps=4, num_stages={stages}")
                kernel = Kernel(DEVICE, KERNELS, signature, "product", target)
                c = Tensor.of(DEVICE, (ROWS * COLUMNS, )).fill(-1)
                launch(kernel, (-(-ROWS // 64), -(-COLUMNS // 32), 1), a, b, c, ROWS, COLUMNS, INNER)
                got = list(c.floats(Stream(DEVICE)))
                expect_equal([i for i in range(len(got)) if got[i] != expected[i]][:5], [],
                             f"wrong elements of {element} by code for {target}, {stages} stages")
                tried += 1
    return f"{tried} kernels"


if __name__ == "__main__":
    main(dict(globals()))
