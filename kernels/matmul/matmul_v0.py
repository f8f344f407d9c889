# SPDX-License-Identifier: Apache-2.0
# c = a @ b, rung 0: the definition. One program makes BLOCK_N neighbouring elements of one row of c
# and walks k one by one. No tile is used twice; it is the reference the other rungs must equal.
import triton
import triton.language as tl


@triton.jit
def matmul_v0(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
              BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = cols < N
    acc = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for k in range(0, K):
        left = tl.load(a + row * stride_am + k * stride_ak).to(tl.float32)
        right = tl.load(b + k * stride_bk + cols * stride_bn, mask=mask, other=0.0).to(tl.float32)
        acc += left * right
    tl.store(c + row * stride_cm + cols * stride_cn, acc, mask=mask)


def launch(a, b, block_n=128):
    """Upstream's way of calling the kernel, on torch matrices."""
    import torch

    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)
    matmul_v0[(m, triton.cdiv(n, block_n))](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), BLOCK_N=block_n)
    return c
