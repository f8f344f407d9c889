@triton.jit
def mask_add_kernel(
    scores_ptr, mask_ptr, out_ptr, scale, K, H_Q, scores_stride, B_H_Q, mask_stride, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_Y: tl.constexpr, EVEN_Y: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    blocks_col = tl.cdiv(K, BLOCK_Y)
    pid_col = pid % blocks_col
    pid_row = pid // blocks_col
    if WIDE:
        pid_row = pid_row.to(tl.int64)
        pid_col = pid_col.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i_1_i_2 = row % H_Q
    i = row // H_Q
    col = (pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y))[None, :]
    row_inside = (row < B_H_Q) | (EVEN_X == 1)
    col_inside = (col < K) | (EVEN_Y == 1)
    inside = row_inside & col_inside
    scores = tl.load(
        scores_ptr + row * scores_stride + col, mask=inside, other=0.0
    ).to(tl.float32)
    mask = tl.load(mask_ptr + i * mask_stride + col, mask=inside, other=0.0).to(tl.float32)
    out = scores * scale + mask
    tl.store(out_ptr + row * out_stride + col, out.to(out_ptr.dtype.element_ty), mask=inside)
