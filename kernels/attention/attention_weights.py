# SPDX-License-Identifier: Apache-2.0
# Scores and softmax of attention joined: weights = softmax(scale * q @ k), which are written once.
# One program owns BLOCK_M queries and walks over the keys twice: the first walk finds maximum and
# sum of each query, the second one computes the scores anew and writes the weights. Another kernel,
# `../matmul/matmul_batched.py`, multiplies them by the values.
import triton
import triton.language as tl


@triton.jit
def attention_weights(q, k, weights, scale, N, stride_kn, stride_kd, D: tl.constexpr,
                      BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    depth = tl.arange(0, D)
    k += head * N * D
    query = tl.load(q + head * N * D + rows[:, None] * D + depth[None, :],
                    mask=rows[:, None] < N, other=0.0)
    top = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    for first in range(0, N, BLOCK_N):
        cols = first + tl.arange(0, BLOCK_N)
        key = tl.load(k + depth[:, None] * stride_kd + cols[None, :] * stride_kn,
                      mask=cols[None, :] < N, other=0.0)
        score = tl.dot(query, key, input_precision="ieee") * scale
        score = tl.where(cols[None, :] < N, score, -float("inf"))
        new_top = tl.maximum(top, tl.max(score, axis=1))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(score - new_top[:, None]), axis=1)
        top = new_top
    weights += head * N * N
    for first in range(0, N, BLOCK_N):
        cols = first + tl.arange(0, BLOCK_N)
        key = tl.load(k + depth[:, None] * stride_kd + cols[None, :] * stride_kn,
                      mask=cols[None, :] < N, other=0.0)
        score = tl.dot(query, key, input_precision="ieee") * scale
        weight = tl.exp(score - top[:, None]) / total[:, None]
        tl.store(weights + rows[:, None] * N + cols[None, :], weight,
                 mask=(rows[:, None] < N) & (cols[None, :] < N))


def launch(q, k, block_m=64, block_n=64):
    """Upstream's way of calling the kernel, on contiguous torch tensors of shape [heads, N, D]."""
    import torch

    heads, n, d = q.shape
    weights = torch.empty((heads, n, n), device=q.device, dtype=q.dtype)
    attention_weights[(triton.cdiv(n, block_m), heads)](
        q, k, weights, d ** -0.5, n, d, 1, D=d, BLOCK_M=block_m, BLOCK_N=block_n)
    return weights
