# SPDX-License-Identifier: Apache-2.0
# c = a @ b, whole numbers: `matmul_grouped` on int8 with sums in int32, which are exact, so that
# every order of summation and every instruction for them must give the same bits.
import triton
import triton.language as tl


@triton.jit
def matmul_int8(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm,
                stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    per_group = GROUP_M * tiles_n
    first_m = (pid // per_group) * GROUP_M
    group_height = min(tiles_m - first_m, GROUP_M)
    tile_m = first_m + (pid % per_group) % group_height
    tile_n = (pid % per_group) // group_height

    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    cols = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    lanes = tl.arange(0, BLOCK_K)
    left_ptrs = a + rows[:, None] * stride_am + lanes[None, :] * stride_ak
    right_ptrs = b + lanes[:, None] * stride_bk + cols[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        remaining = K - step * BLOCK_K
        left = tl.load(left_ptrs, mask=lanes[None, :] < remaining, other=0)
        right = tl.load(right_ptrs, mask=lanes[:, None] < remaining, other=0)
        acc = tl.dot(left, right, acc, out_dtype=tl.int32)
        left_ptrs += BLOCK_K * stride_ak
        right_ptrs += BLOCK_K * stride_bk

    out_rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    out_ptrs = c + out_rows[:, None] * stride_cm + out_cols[None, :] * stride_cn
    tl.store(out_ptrs, acc, mask=(out_rows[:, None] < M) & (out_cols[None, :] < N))


def launch(a, b, block_m=128, block_n=128, block_k=32, group_m=4):
    """Upstream's way of calling the kernel, on torch matrices of int8."""
    import torch

    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=torch.int32)
    grid = (triton.cdiv(m, block_m) * triton.cdiv(n, block_n),)
    matmul_int8[grid](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=group_m)
    return c
