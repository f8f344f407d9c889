@triton.jit
def broadcast_add_kernel(
    x_ptr, bias_ptr, out_ptr, D, x_stride, rest, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_Y: tl.constexpr, EVEN_Y: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    blocks_col = tl.cdiv(D, BLOCK_Y)
    pid_col = pid % blocks_col
    pid_row = pid // blocks_col
    if WIDE:
        pid_row = pid_row.to(tl.int64)
        pid_col = pid_col.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    col = (pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y))[None, :]
    row_inside = (row < rest) | (EVEN_X == 1)
    col_inside = (col < D) | (EVEN_Y == 1)
    inside = row_inside & col_inside
    x = tl.load(x_ptr + row * x_stride + col, mask=inside, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + col, mask=col_inside, other=0.0).to(tl.float32)
    out = x + bias
    tl.store(out_ptr + row * out_stride + col, out.to(out_ptr.dtype.element_ty), mask=inside)
