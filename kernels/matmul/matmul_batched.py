# SPDX-License-Identifier: Apache-2.0
# c = activation(a @ b + bias), a batch of products, and an epilogue on the tile of c before
# it is stored, so that c is written once instead of being read and written again.
import triton
import triton.language as tl


@triton.jit
def matmul_batched(a, b, bias, c, M, N, K, stride_ab, stride_am, stride_ak, stride_bb, stride_bk,
                   stride_bn, stride_cb, stride_cm, stride_cn, ACTIVATION: tl.constexpr,
                   HAS_BIAS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                   BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    pid = tl.program_id(0)
    batch = tl.program_id(1).to(tl.int64)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    per_group = GROUP_M * tiles_n
    first_m = (pid // per_group) * GROUP_M
    group_height = min(tiles_m - first_m, GROUP_M)
    tile_m = first_m + (pid % per_group) % group_height
    tile_n = (pid % per_group) // group_height

    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    lanes = tl.arange(0, BLOCK_K)
    left_ptrs = (a + batch * stride_ab + (rows % M)[:, None] * stride_am
                 + lanes[None, :] * stride_ak)
    right_ptrs = (b + batch * stride_bb + lanes[:, None] * stride_bk
                  + (cols % N)[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        remaining = K - step * BLOCK_K
        left = tl.load(left_ptrs, mask=lanes[None, :] < remaining, other=0.0)
        right = tl.load(right_ptrs, mask=lanes[:, None] < remaining, other=0.0)
        acc = tl.dot(left, right, acc, input_precision="ieee")
        left_ptrs += BLOCK_K * stride_ak
        right_ptrs += BLOCK_K * stride_bk

    if HAS_BIAS:
        acc += tl.load(bias + cols, mask=cols < N, other=0.0).to(tl.float32)[None, :]
    if ACTIVATION == "relu":
        acc = tl.where(acc < 0.0, 0.0, acc)
    elif ACTIVATION == "gelu":
        acc = 0.5 * acc * (1.0 + tl.erf(acc * 0.7071067811865476))
    out_ptrs = (c + batch * stride_cb + rows[:, None] * stride_cm + cols[None, :] * stride_cn)
    tl.store(out_ptrs, acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


def launch(a, b, bias=None, activation="none", block_m=128, block_n=128, block_k=32, group_m=4):
    """Upstream's way of calling the kernel, on torch tensors of rank 3."""
    import torch

    (batch, m, k), n = a.shape, b.shape[2]
    c = torch.empty((batch, m, n), device=a.device, dtype=a.dtype)
    matmul_batched[(triton.cdiv(m, block_m) * triton.cdiv(n, block_n), batch)](
        a, b, bias if bias is not None else a, c, m, n, k, *a.stride(), *b.stride(), *c.stride(),
        ACTIVATION=activation, HAS_BIAS=bias is not None, BLOCK_M=block_m, BLOCK_N=block_n,
        BLOCK_K=block_k, GROUP_M=group_m)
    return c
