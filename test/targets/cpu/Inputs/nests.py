# SPDX-License-Identifier: Apache-2.0
# Kernels whose loops nests.test looks at.
import triton
import triton.language as tl


@triton.jit
def masked(x, out, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + o, tl.load(x + o, mask=o < n) + 1, mask=o < n)


@triton.jit
def softmax(out, x, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    v = tl.load(x + o)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + o, e / tl.sum(e, axis=0))


@triton.jit
def sums(x, out, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    first = tl.sum(v, axis=0)
    second = tl.sum(v * v, axis=0)
    tl.store(out, first)
    tl.store(out + 1, second)


@triton.jit
def transposed(q, k, c, B: tl.constexpr):
    i = tl.arange(0, B)
    p = i[:, None] * B + i[None, :]
    tl.store(c + p, tl.dot(tl.load(q + p), tl.trans(tl.load(k + p))))


@triton.jit
def columns(q, k, c, stride, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = i[:, None] * B + i[None, :]
    keys = tl.load(k + i[:, None] + i[None, :] * stride, mask=i[None, :] < n, other=0.0)
    tl.store(c + p, tl.dot(tl.load(q + p), keys))


@triton.jit
def maximum(x, c, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(c, tl.max(tl.load(x + i, mask=i < n, other=1.0), axis=0))


@triton.jit
def masked_sum(x, c, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(c, tl.sum(tl.load(x + i, mask=i < n, other=1.0), axis=0))


@triton.jit
def expensive(x, w, c, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = i[:, None] * B + i[None, :]
    v = tl.load(x + p, mask=i[None, :] < n, other=1.0)
    top = tl.max(v, axis=1)
    tl.store(c + p, tl.dot(tl.exp(v - top[:, None]), tl.load(w + p)))


@triton.jit
def padded_rows(x, w, y, rows, out, columns, pad, BR: tl.constexpr, BC: tl.constexpr):
    r = tl.arange(0, BR)
    c = tl.arange(0, BC)
    acc = tl.zeros((BR, BC), tl.float32)
    is_column = (c < columns)[None, :]
    for t in tl.static_range(3):
        at = r + t - pad
        inside = (at >= 0) & (rows > at)
        a = tl.load(x + at[:, None] * columns + c[None, :], mask=inside[:, None] & is_column, other=0.0)
        acc += a * tl.load(w + t * columns + c[None, :], mask=is_column, other=0.0)
    tl.store(y + r[:, None] * columns + c[None, :], acc, mask=(r < out)[:, None] & is_column)


@triton.jit
def rows_bounded_above(x, w, y, rows, out, columns, pad, BR: tl.constexpr, BC: tl.constexpr):
    r = tl.arange(0, BR)
    c = tl.arange(0, BC)
    acc = tl.zeros((BR, BC), tl.float32)
    is_column = (c < columns)[None, :]
    for t in tl.static_range(3):
        at = r + t - pad
        inside = rows > at
        a = tl.load(x + at[:, None] * columns + c[None, :], mask=inside[:, None] & is_column, other=0.0)
        acc += a * tl.load(w + t * columns + c[None, :], mask=is_column, other=0.0)
    tl.store(y + r[:, None] * columns + c[None, :], acc, mask=(r < out)[:, None] & is_column)


@triton.jit
def scaled_rows(x, a, b, y, stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    scale = tl.load(a + row)
    shift = tl.load(b + row)
    tl.store(y + row * stride + col, tl.load(x + row * stride + col) * scale + shift)
