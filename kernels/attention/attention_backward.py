# SPDX-License-Identifier: Apache-2.0
# Gradients of attention.py, without the scores ever being in memory: they are computed anew from q,
# k and the saved `lse`. With p = exp(scale * q @ k - lse), the gradient of the scores is
# p * (dout @ v - delta), where delta = sum(out * dout) for each query. A program of
# `attention_backward_kv` owns BLOCK_N keys and walks over the queries, one of
# `attention_backward_q` owns BLOCK_M queries and walks over the keys, so that no two programs add
# to the same memory. All tensors are [heads, N, D] and contiguous.
import triton
import triton.language as tl


@triton.jit
def attention_delta(out, dout, delta, N, D: tl.constexpr, BLOCK_M: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offsets = (head * N + rows[:, None]) * D + tl.arange(0, D)[None, :]
    in_rows = rows[:, None] < N
    result = tl.load(out + offsets, mask=in_rows, other=0.0).to(tl.float32)
    gradient = tl.load(dout + offsets, mask=in_rows, other=0.0).to(tl.float32)
    tl.store(delta + head * N + rows, tl.sum(result * gradient, axis=1), mask=rows < N)


@triton.jit
def is_visible(rows, cols, N, CAUSAL: tl.constexpr, WINDOW: tl.constexpr):
    visible = (rows < N) & (cols < N)
    if CAUSAL:
        visible = visible & (cols <= rows)
    if WINDOW > 0:
        visible = visible & (cols > rows - WINDOW) & (cols < rows + WINDOW)
    return visible


@triton.jit
def attention_backward_kv(q, k, v, dout, lse, delta, dk, dv, scale, N, CAUSAL: tl.constexpr,
                          WINDOW: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr,
                          BLOCK_N: tl.constexpr):
    start = tl.program_id(0) * BLOCK_N
    head = tl.program_id(1).to(tl.int64)
    cols = start + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, D)
    own = (head * N + cols[:, None]) * D + depth[None, :]
    in_cols = cols[:, None] < N
    key = tl.load(k + own, mask=in_cols, other=0.0)
    value = tl.load(v + own, mask=in_cols, other=0.0)
    grad_key = tl.zeros((BLOCK_N, D), dtype=tl.float32)
    grad_value = tl.zeros((BLOCK_N, D), dtype=tl.float32)
    begin = 0
    end = N
    if CAUSAL:
        begin = start // BLOCK_M * BLOCK_M
    if WINDOW > 0:
        begin = tl.maximum(begin, (start - WINDOW + 1) // BLOCK_M * BLOCK_M)
        end = tl.minimum(N, start + BLOCK_N + WINDOW - 1)
    for first in range(begin, end, BLOCK_M):
        rows = first + tl.arange(0, BLOCK_M)
        offsets = (head * N + rows[:, None]) * D + depth[None, :]
        query = tl.load(q + offsets, mask=rows[:, None] < N, other=0.0)
        gradient = tl.load(dout + offsets, mask=rows[:, None] < N, other=0.0)
        norm = tl.load(lse + head * N + rows, mask=rows < N, other=0.0)
        shift = tl.load(delta + head * N + rows, mask=rows < N, other=0.0)
        score = tl.dot(key, tl.trans(query), input_precision="ieee") * scale
        visible = is_visible(rows[None, :], cols[:, None], N, CAUSAL, WINDOW)
        weight = tl.where(visible, tl.exp(score - norm[None, :]), 0.0)
        grad_value = tl.dot(weight.to(gradient.dtype), gradient, grad_value,
                            input_precision="ieee")
        grad_weight = tl.dot(value, tl.trans(gradient), input_precision="ieee")
        grad_score = weight * (grad_weight - shift[None, :])
        grad_key = tl.dot(grad_score.to(query.dtype), query, grad_key, input_precision="ieee")
    tl.store(dk + own, grad_key * scale, mask=in_cols)
    tl.store(dv + own, grad_value, mask=in_cols)


@triton.jit
def attention_backward_q(q, k, v, dout, lse, delta, dq, scale, N, CAUSAL: tl.constexpr,
                         WINDOW: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr,
                         BLOCK_N: tl.constexpr):
    start = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1).to(tl.int64)
    rows = start + tl.arange(0, BLOCK_M)
    depth = tl.arange(0, D)
    own = (head * N + rows[:, None]) * D + depth[None, :]
    in_rows = rows[:, None] < N
    query = tl.load(q + own, mask=in_rows, other=0.0)
    gradient = tl.load(dout + own, mask=in_rows, other=0.0)
    norm = tl.load(lse + head * N + rows, mask=rows < N, other=0.0)
    shift = tl.load(delta + head * N + rows, mask=rows < N, other=0.0)
    grad_query = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    begin = 0
    end = N
    if CAUSAL:
        end = tl.minimum(N, start + BLOCK_M)
    if WINDOW > 0:
        begin = tl.maximum(0, start - WINDOW + 1) // BLOCK_N * BLOCK_N
        end = tl.minimum(end, start + BLOCK_M + WINDOW - 1)
    for first in range(begin, end, BLOCK_N):
        cols = first + tl.arange(0, BLOCK_N)
        offsets = (head * N + cols[:, None]) * D + depth[None, :]
        key = tl.load(k + offsets, mask=cols[:, None] < N, other=0.0)
        value = tl.load(v + offsets, mask=cols[:, None] < N, other=0.0)
        score = tl.dot(query, tl.trans(key), input_precision="ieee") * scale
        visible = is_visible(rows[:, None], cols[None, :], N, CAUSAL, WINDOW)
        weight = tl.where(visible, tl.exp(score - norm[:, None]), 0.0)
        grad_weight = tl.dot(gradient, tl.trans(value), input_precision="ieee")
        grad_score = weight * (grad_weight - shift[:, None])
        grad_query = tl.dot(grad_score.to(key.dtype), key, grad_query, input_precision="ieee")
    tl.store(dq + own, grad_query * scale, mask=in_rows)


def launch(q, k, v, out, lse, dout, causal=False, window=0, block_m=64, block_n=64):
    """Upstream's way of calling the kernels, on contiguous torch tensors [heads, N, D]."""
    import torch

    heads, n, d = q.shape
    delta = torch.empty_like(lse)
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    rows, cols = (triton.cdiv(n, block_m), heads), (triton.cdiv(n, block_n), heads)
    attention_delta[rows](out, dout, delta, n, D=d, BLOCK_M=block_m)
    attention_backward_kv[cols](q, k, v, dout, lse, delta, dk, dv, d ** -0.5, n, CAUSAL=causal,
                                WINDOW=window, D=d, BLOCK_M=block_m, BLOCK_N=block_n)
    attention_backward_q[rows](q, k, v, dout, lse, delta, dq, d ** -0.5, n, CAUSAL=causal,
                               WINDOW=window, D=d, BLOCK_M=block_m, BLOCK_N=block_n)
    return dq, dk, dv
