# SPDX-License-Identifier: Apache-2.0
# Attention of one head at a time: out = softmax(scale * q @ k) @ v, without the scores ever being
# in memory. One program owns BLOCK_M queries and walks over the keys in blocks; a running maximum
# and a running sum per query correct what was added up under a smaller maximum. With CAUSAL a query
# sees the keys up to its own position; with WINDOW > 0 only those less than WINDOW away. Blocks of
# keys that no query of the program sees are not visited. `lse` receives the logarithm of each
# query's sum, which is all that the backward pass needs of the softmax.
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, out, lse, scale, N, stride_qh, stride_qn, stride_kh, stride_kn, stride_kd,
              stride_vh, stride_vn, stride_oh, stride_on, CAUSAL: tl.constexpr,
              WINDOW: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    start = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1).to(tl.int64)
    rows = start + tl.arange(0, BLOCK_M)
    depth = tl.arange(0, D)
    in_rows = rows[:, None] < N
    q_ptrs = q + head * stride_qh + rows[:, None] * stride_qn + depth[None, :]
    query = tl.load(q_ptrs, mask=in_rows, other=0.0)
    top = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    begin = 0
    end = N
    if CAUSAL:
        end = tl.minimum(N, start + BLOCK_M)
    if WINDOW > 0:
        begin = tl.maximum(0, start - WINDOW + 1) // BLOCK_N * BLOCK_N
        end = tl.minimum(end, start + BLOCK_M + WINDOW - 1)
    for first in range(begin, end, BLOCK_N):
        cols = first + tl.arange(0, BLOCK_N)
        k_ptrs = k + head * stride_kh + depth[:, None] * stride_kd + cols[None, :] * stride_kn
        key = tl.load(k_ptrs, mask=cols[None, :] < N, other=0.0)
        score = tl.dot(query, key, input_precision="ieee") * scale
        visible = cols[None, :] < N
        if CAUSAL:
            visible = visible & (cols[None, :] <= rows[:, None])
        if WINDOW > 0:
            visible = visible & (cols[None, :] > rows[:, None] - WINDOW)
            visible = visible & (cols[None, :] < rows[:, None] + WINDOW)
        score = tl.where(visible, score, -float("inf"))
        new_top = tl.maximum(top, tl.max(score, axis=1))
        if WINDOW > 0:
            # A block that some queries of the program see and this one does not.
            base = tl.where(new_top == -float("inf"), 0.0, new_top)
        else:
            base = new_top
        weight = tl.exp(score - base[:, None])
        shrink = tl.exp(top - base)
        total = total * shrink + tl.sum(weight, axis=1)
        v_ptrs = v + head * stride_vh + cols[:, None] * stride_vn + depth[None, :]
        value = tl.load(v_ptrs, mask=cols[:, None] < N, other=0.0)
        acc = tl.dot(weight.to(value.dtype), value, acc * shrink[:, None], input_precision="ieee")
        top = new_top
    out_ptrs = out + head * stride_oh + rows[:, None] * stride_on + depth[None, :]
    tl.store(out_ptrs, acc / total[:, None], mask=in_rows)
    tl.store(lse + head * N + rows, top + tl.log(total), mask=rows < N)


def launch(q, k, v, causal=False, window=0, block_m=64, block_n=64):
    """Upstream's way of calling the kernel, on torch tensors of shape [heads, N, D]."""
    import torch

    out = torch.empty_like(q)
    heads, n, d = q.shape
    lse = torch.empty((heads, n), device=q.device, dtype=torch.float32)
    attention[(triton.cdiv(n, block_m), heads)](
        q, k, v, out, lse, d ** -0.5, n, q.stride(0), q.stride(1), k.stride(0), k.stride(1),
        k.stride(2), v.stride(0), v.stride(1), out.stride(0), out.stride(1), CAUSAL=causal,
        WINDOW=window, D=d, BLOCK_M=block_m, BLOCK_N=block_n)
    return out, lse
