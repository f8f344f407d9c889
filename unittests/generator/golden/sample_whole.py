@triton.jit
def t_tiles_kernel(
    x_ptr, y_ptr, out_ptr, rows, columns, stride_x_row, stride_out_row,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GRID_2D: tl.constexpr, STREAMING: tl.constexpr,
    WIDE: tl.constexpr,
):
    # Integers are computed in their own type, floats below 32 bits in float32.
    element: tl.constexpr = x_ptr.dtype.element_ty
    compute: tl.constexpr = (
        tl.int32 if element == tl.int32 else
        tl.int64 if element == tl.int64 else
        tl.int8 if element == tl.int8 else
        tl.uint8
    )
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
    x = tl.load(x_ptr + row[:, None] * stride_x_row + col[None, :], mask=inside, other=0)
    y = tl.load(y_ptr + col, mask=col_inside, other=0)
    out = (x + y[None, :]) * 3 - (x & y[None, :]) | x ^ (~y)[None, :]
    out_rounded = out.to(out_ptr.dtype.element_ty)
    out_at = out_ptr + row[:, None] * stride_out_row + col[None, :]
    if STREAMING:
        tl.store(out_at, out_rounded, mask=inside, cache_modifier=".cs")
    else:
        tl.store(out_at, out_rounded, mask=inside)
