# SPDX-License-Identifier: Apache-2.0
# Gradients of attention.py, without the scores ever being in memory: they are computed anew from q,
# k and the saved `lse`. With p = exp(scale * q @ k - lse), the gradient of the scores is
# p * (dout @ v - delta), where delta = sum(out * dout) for each query. A program owns one head, or
# every num_programs(0)-th block of its keys, and walks over the queries for each block: the
# gradients of k and v stay with the block, those of q are added to what earlier blocks left in the
# program's own part of dq, [programs, heads, N, D], float32 and zero before. So no two programs add
# to the same memory, and results are the same in every run. All tensors are contiguous.
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
def attention_backward(q, k, v, dout, lse, delta, dq, dk, dv, scale, N, CAUSAL: tl.constexpr,
                       WINDOW: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr,
                       BLOCK_N: tl.constexpr):
    split = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    part = split * tl.num_programs(1) + head
    depth = tl.arange(0, D)
    for start in range(split * BLOCK_N, N, tl.num_programs(0) * BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
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
            in_rows = rows[:, None] < N
            inside = rows[:, None] * D + depth[None, :]
            query = tl.load(q + head * N * D + inside, mask=in_rows, other=0.0)
            gradient = tl.load(dout + head * N * D + inside, mask=in_rows, other=0.0)
            norm = tl.load(lse + head * N + rows, mask=rows < N, other=0.0)
            shift = tl.load(delta + head * N + rows, mask=rows < N, other=0.0)
            score = tl.dot(key, tl.trans(query), input_precision="ieee") * scale
            visible = is_visible(rows[None, :], cols[:, None], N, CAUSAL, WINDOW)
            weight = tl.where(visible, tl.exp(score - norm[None, :]), 0.0)
            grad_value = tl.dot(weight.to(gradient.dtype), gradient, grad_value,
                                input_precision="ieee")
            grad_weight = tl.dot(value, tl.trans(gradient), input_precision="ieee")
            grad_score = weight * (grad_weight - shift[None, :]) * scale
            grad_key = tl.dot(grad_score.to(query.dtype), query, grad_key, input_precision="ieee")
            dq_ptrs = dq + part * N * D + inside
            sofar = tl.load(dq_ptrs, mask=in_rows, other=0.0)
            sofar = tl.dot(tl.trans(grad_score).to(key.dtype), key, sofar, input_precision="ieee")
            tl.store(dq_ptrs, sofar, mask=in_rows)
        tl.store(dk + own, grad_key, mask=in_cols)
        tl.store(dv + own, grad_value, mask=in_cols)


def launch(q, k, v, out, lse, dout, causal=False, window=0, block_m=128, block_n=128, splits=1):
    """Upstream's way of calling the kernels, on contiguous torch tensors [heads, N, D]. Few heads
    are shared by more programs with more splits."""
    import torch

    heads, n, d = q.shape
    delta = torch.empty_like(lse)
    dq = torch.zeros((splits, heads, n, d), device=q.device, dtype=torch.float32)
    dk, dv = torch.empty_like(k), torch.empty_like(v)
    attention_delta[(triton.cdiv(n, block_m), heads)](out, dout, delta, n, D=d, BLOCK_M=block_m)
    attention_backward[(splits, heads)](q, k, v, dout, lse, delta, dq, dk, dv, d ** -0.5, n,
                                        CAUSAL=causal, WINDOW=window, D=d, BLOCK_M=block_m,
                                        BLOCK_N=block_n)
    return dq.sum(0).to(q.dtype), dk, dv
