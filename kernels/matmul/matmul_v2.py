# SPDX-License-Identifier: Apache-2.0
# c = a @ b, rung 2: software pipelining. Rung 1 whose loop over k may have STAGES steps in flight:
# where a target copies operands ahead, the tiles of the next STAGES - 1 steps are on their way to
# shared memory while the product of this one is computed. Loads stand in front of the product and
# depend on nothing that it gives, which is all that this takes.
import triton
import triton.language as tl


@triton.jit
def matmul_v2(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
              BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
              STAGES: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    lanes = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in tl.range(0, K, BLOCK_K, num_stages=STAGES):
        ks = start + lanes
        left = tl.load(a + rows[:, None] * stride_am + ks[None, :] * stride_ak,
                       mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        right = tl.load(b + ks[:, None] * stride_bk + cols[None, :] * stride_bn,
                        mask=(ks[:, None] < K) & (cols[None, :] < N), other=0.0)
        acc = tl.dot(left, right, acc, input_precision="ieee")
    tl.store(c + rows[:, None] * stride_cm + cols[None, :] * stride_cn, acc,
             mask=(rows[:, None] < M) & (cols[None, :] < N))


def launch(a, b, block_m=128, block_n=128, block_k=32, stages=3):
    """Upstream's way of calling the kernel, on torch matrices."""
    import torch

    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)
    grid = (triton.cdiv(m, block_m), triton.cdiv(n, block_n))
    matmul_v2[grid](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, STAGES=stages)
    return c
