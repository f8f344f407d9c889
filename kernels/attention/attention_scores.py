# SPDX-License-Identifier: Apache-2.0
# The scores of attention, scale * q @ k of each head, written out: the first of three kernels that
# attention takes without being fused. `../softmax/softmax.py` makes weights of them, a program for
# each of their rows, and `../matmul/matmul_batched.py` multiplies those by the values. The N x N
# scores of each head go to memory and back twice.
import triton
import triton.language as tl


@triton.jit
def attention_scores(q, k, scores, scale, N, stride_kn, stride_kd, D: tl.constexpr,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    head = tl.program_id(2).to(tl.int64)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, D)
    query = tl.load(q + head * N * D + rows[:, None] * D + depth[None, :],
                    mask=rows[:, None] < N, other=0.0)
    key = tl.load(k + head * N * D + depth[:, None] * stride_kd + cols[None, :] * stride_kn,
                  mask=cols[None, :] < N, other=0.0)
    score = tl.dot(query, key, input_precision="ieee") * scale
    tl.store(scores + head * N * N + rows[:, None] * N + cols[None, :], score,
             mask=(rows[:, None] < N) & (cols[None, :] < N))


def launch(q, k, block_m=64, block_n=64):
    """Upstream's way of calling the kernel, on contiguous torch tensors of shape [heads, N, D]."""
    import torch

    heads, n, d = q.shape
    scores = torch.empty((heads, n, n), device=q.device, dtype=q.dtype)
    attention_scores[(triton.cdiv(n, block_m), triton.cdiv(n, block_n), heads)](
        q, k, scores, d ** -0.5, n, d, 1, D=d, BLOCK_M=block_m, BLOCK_N=block_n)
    return scores
