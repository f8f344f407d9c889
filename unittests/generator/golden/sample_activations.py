@triton.jit
def t_flat_kernel(
    x_ptr, out_ptr, elements,
    BLOCK: tl.constexpr, STREAMING: tl.constexpr, WIDE: tl.constexpr,
):
    # Types below 32 bits are computed in float32, all others in their own type.
    element: tl.constexpr = x_ptr.dtype.element_ty
    compute: tl.constexpr = (
        tl.float32 if element == tl.float16 or element == tl.bfloat16 else element
    )
    # BLOCK consecutive elements per program.
    pid = tl.program_id(axis=0)
    if WIDE:
        pid = pid.to(tl.int64)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < elements
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(compute)
    t = 0.5 * x * (
        1.0 + tl.erf(x * 0.7071067811865476)
    ) + x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    t_1 = x * tl.sigmoid(
        x
    ) * (x * libdevice.tanh(tl.where(x > 20.0, x, libdevice.log1p(tl.exp(x)))))
    a = t - t_1
    t_2 = x + 3.0
    t_3 = tl.where(t_2 < 0.0, 0.0, t_2)
    t_4 = tl.where(
        a > 20.0, a, libdevice.log1p(tl.exp(a))
    ) + x * (tl.where(t_3 > 6.0, 6.0, t_3) / 6.0)
    t_5 = a + 3.0
    t_6 = tl.where(t_5 < 0.0, 0.0, t_5)
    t_7 = tl.where(t_6 > 6.0, 6.0, t_6) / 6.0 * tl.where(x > 0.0, x, 1.0 * libdevice.expm1(x))
    b = t_4 - t_7
    out = tl.where(b > 0.0, b, b * 0.2) + tl.ceil(a) - tl.floor(b) * (x * x)
    out_rounded = out.to(out_ptr.dtype.element_ty)
    if STREAMING:
        tl.store(out_ptr + offsets, out_rounded, mask=inside, cache_modifier=".cs")
    else:
        tl.store(out_ptr + offsets, out_rounded, mask=inside)


@triton.jit
def t_tiles_kernel(
    x_ptr, out_ptr, rows, columns, stride_x_row, stride_out_row,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GRID_2D: tl.constexpr, STREAMING: tl.constexpr,
    WIDE: tl.constexpr,
):
    # Types below 32 bits are computed in float32, all others in their own type.
    element: tl.constexpr = x_ptr.dtype.element_ty
    compute: tl.constexpr = (
        tl.float32 if element == tl.float16 or element == tl.bfloat16 else element
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
    x = tl.load(
        x_ptr + row[:, None] * stride_x_row + col[None, :], mask=inside, other=0.0
    ).to(compute)
    t = 0.5 * x * (
        1.0 + tl.erf(x * 0.7071067811865476)
    ) + x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    t_1 = x * tl.sigmoid(
        x
    ) * (x * libdevice.tanh(tl.where(x > 20.0, x, libdevice.log1p(tl.exp(x)))))
    a = t - t_1
    t_2 = x + 3.0
    t_3 = tl.where(t_2 < 0.0, 0.0, t_2)
    t_4 = tl.where(
        a > 20.0, a, libdevice.log1p(tl.exp(a))
    ) + x * (tl.where(t_3 > 6.0, 6.0, t_3) / 6.0)
    t_5 = a + 3.0
    t_6 = tl.where(t_5 < 0.0, 0.0, t_5)
    t_7 = tl.where(t_6 > 6.0, 6.0, t_6) / 6.0 * tl.where(x > 0.0, x, 1.0 * libdevice.expm1(x))
    b = t_4 - t_7
    out = tl.where(b > 0.0, b, b * 0.2) + tl.ceil(a) - tl.floor(b) * (x * x)
    out_rounded = out.to(out_ptr.dtype.element_ty)
    out_at = out_ptr + row[:, None] * stride_out_row + col[None, :]
    if STREAMING:
        tl.store(out_at, out_rounded, mask=inside, cache_modifier=".cs")
    else:
        tl.store(out_at, out_rounded, mask=inside)
