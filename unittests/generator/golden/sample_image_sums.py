@triton.jit
def t_rows_kernel(
    x_ptr, b_ptr, out_ptr, rows, columns, size_C, stride_x_row, stride_b_C, stride_out_row,
    ROWS: tl.constexpr, BLOCK_N: tl.constexpr, STREAMING: tl.constexpr, WIDE: tl.constexpr,
):
    # Types below 32 bits are computed in float32, all others in their own type.
    element: tl.constexpr = x_ptr.dtype.element_ty
    compute: tl.constexpr = (
        tl.float32 if element == tl.float16 or element == tl.bfloat16 else element
    )
    # ROWS rows per program; each is one tile of BLOCK_N >= columns elements.
    pid = tl.program_id(axis=0)
    if WIDE:
        pid = pid.to(tl.int64)
    first = pid * ROWS
    last = tl.minimum(first + ROWS, rows)
    col = tl.arange(0, BLOCK_N)
    inside = col < columns
    for row in range(first, last):
        b_row = (row % size_C) * stride_b_C
        x = tl.load(x_ptr + row * stride_x_row + col, mask=inside, other=0.0).to(compute)
        b = tl.load(b_ptr + b_row).to(compute)
        out = tl.sum(tl.where(inside, x * b, 0.0), axis=0)
        out_rounded = out.to(out_ptr.dtype.element_ty)
        tl.store(out_ptr + row * stride_out_row, out_rounded)


@triton.jit
def t_looped_rows_kernel(
    x_ptr, b_ptr, out_ptr, rows, columns, size_C, stride_x_row, stride_b_C, stride_out_row,
    ROWS: tl.constexpr, BLOCK_N: tl.constexpr, STREAMING: tl.constexpr, WIDE: tl.constexpr,
):
    # Types below 32 bits are computed in float32, all others in their own type.
    element: tl.constexpr = x_ptr.dtype.element_ty
    compute: tl.constexpr = (
        tl.float32 if element == tl.float16 or element == tl.bfloat16 else element
    )
    # ROWS rows per program; each is walked in blocks of BLOCK_N columns, once per reduction and
    # once for the result.
    pid = tl.program_id(axis=0)
    if WIDE:
        pid = pid.to(tl.int64)
    first = pid * ROWS
    last = tl.minimum(first + ROWS, rows)
    for row in range(first, last):
        b_row = (row % size_C) * stride_b_C
        b = tl.load(b_ptr + b_row).to(compute)
        out_parts = tl.full((BLOCK_N,), 0.0, compute)
        for start in range(0, columns, BLOCK_N):
            col = start + tl.arange(0, BLOCK_N)
            inside = col < columns
            x = tl.load(x_ptr + row * stride_x_row + col, mask=inside, other=0.0).to(compute)
            out_parts += tl.where(inside, x * b, 0.0)
        out = tl.sum(out_parts, axis=0)
        out_rounded = out.to(out_ptr.dtype.element_ty)
        tl.store(out_ptr + row * stride_out_row, out_rounded)
