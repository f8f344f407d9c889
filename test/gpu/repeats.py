#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""1,000 launches of each reduction give the same bits: what the threads of a program, or the turns of its
loop, combine may not depend on which of them comes first."""

import hashlib
import struct

from interface import Kernel, Stream, Tensor, expect, expect_equal, main

LAUNCHES = 1000
DEVICE = "nvidia:0"
KERNELS = """
import triton, triton.language as tl

@triton.jit
def sum_rows(x, out, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, COLUMNS)
    tl.store(out + row, tl.sum(tl.load(x + row * COLUMNS + i), 0))

@triton.jit
def sum_columns(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    here = tl.load(x + tl.program_id(0) * ROWS * COLUMNS + i[:, None] * COLUMNS + j[None, :])
    tl.store(out + tl.program_id(0) * COLUMNS + j, tl.sum(here, 0))

@triton.jit
def scan(x, out, COLUMNS: tl.constexpr):
    i = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(out + i, tl.cumsum(tl.load(x + i), 0))

@triton.jit
def product(x, y, out, K, N: tl.constexpr, BLOCK: tl.constexpr):
    i, k = tl.program_id(0) * N + tl.arange(0, N), tl.arange(0, BLOCK)
    j = tl.arange(0, N)
    sum = tl.zeros((N, N), tl.float32)
    for start in range(0, K, BLOCK):
        a = tl.load(x + i[:, None] * K + start + k[None, :])
        b = tl.load(y + (start + k)[:, None] * N + j[None, :])
        sum += tl.dot(a.to(tl.float16), b.to(tl.float16))
    tl.store(out + i[:, None] * N + j[None, :], sum)
"""
ROWS = 512


def repeat(function, signature, grid, inputs, out_count, *numbers):
    stream, kernel = Stream(DEVICE), Kernel(DEVICE, KERNELS, signature, function)
    given = [Tensor.of(DEVICE, (count, )).fill_normal(7 + i) for i, count in enumerate(inputs)]
    out = Tensor.of(DEVICE, (out_count, ))
    first, digest = None, None
    for turn in range(LAUNCHES):
        out.fill(float("nan"))
        stream.launch(kernel, (grid, 1, 1), *given, out, *numbers)
        bits = out.bytes(stream)
        found = hashlib.sha256(bits).digest()
        if turn == 0:
            first, digest = bits, found
            values = struct.unpack(f"{out_count}f", bits)
            expect(all(value == value for value in values), "not all elements were written")
            expect(len(set(values)) > out_count // 2, "the results are all alike")
        elif found != digest:
            differ = sum(bits[i:i + 4] != first[i:i + 4] for i in range(0, len(bits), 4))
            expect_equal(differ, 0, f"elements of launch {turn} that differ from the first")
    return f"{LAUNCHES} launches, {out_count} elements"


def check_a_sum_over_rows_of_4096():
    return repeat("sum_rows", "*fp32, *fp32, 4096", ROWS, [ROWS * 4096], ROWS)


def check_a_sum_of_eight_warps():
    return repeat("sum_rows", "*fp32, *fp32, 8192, num_warps=8", ROWS, [ROWS * 8192], ROWS)


def check_a_sum_over_columns():
    return repeat("sum_columns", "*fp32, *fp32, 64, 128", 64, [64 * 64 * 128], 64 * 128)


def check_a_scan():
    return repeat("scan", "*fp32, *fp32, 1024", 64, [64 * 1024], 64 * 1024)


def check_a_product_of_matrices():
    return repeat("product", "*fp32, *fp32, *fp32, i32, 64, 32", 8, [8 * 64 * 1024, 1024 * 64],
                  8 * 64 * 64, 1024)


if __name__ == "__main__":
    main(dict(globals()))
