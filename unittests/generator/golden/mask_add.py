@triton.jit
def mask_add_tiles_kernel(
    scores_ptr, mask_ptr, out_ptr, scale, rows, columns, size_H_Q, stride_scores_row,
    stride_mask_B, stride_out_row,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GRID_2D: tl.constexpr, STREAMING: tl.constexpr,
    WIDE: tl.constexpr,
):
    # A tile of BLOCK_M rows and BLOCK_N columns per program.
    if GRID_2D:
        pid_m = tl.program_id(axis=0)
        pid_n = tl.program_id(axis=1)
    else:
        column_blocks = tl.cdiv(columns, BLOCK_N)
        pid_m = tl.program_id(axis=0) // column_blocks
        pid_n = tl.program_id(axis=0) % column_blocks
    if WIDE:
        pid_m = pid_m.to(tl.int64)
        pid_n = pid_n.to(tl.int64)
    row = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    col = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    row_inside = row < rows
    col_inside = col < columns
    inside = row_inside[:, None] & col_inside[None, :]
    mask_row = (row // size_H_Q) * stride_mask_B
    scores = tl.load(
        scores_ptr + row[:, None] * stride_scores_row + col[None, :], mask=inside, other=0.0
    ).to(tl.float32)
    mask = tl.load(
        mask_ptr + mask_row[:, None] + col[None, :], mask=inside, other=0.0
    ).to(tl.float32)
    scaled = scores * scale
    out = scaled + mask
    out_rounded = out.to(out_ptr.dtype.element_ty)
    out_at = out_ptr + row[:, None] * stride_out_row + col[None, :]
    if STREAMING:
        tl.store(out_at, out_rounded, mask=inside, cache_modifier=".cs")
    else:
        tl.store(out_at, out_rounded, mask=inside)
