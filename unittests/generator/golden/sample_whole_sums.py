@triton.jit
def t_rows_kernel(
    x_ptr, out_ptr, rows, columns, stride_x_row, stride_out_row,
    ROWS: tl.constexpr, BLOCK_N: tl.constexpr, STREAMING: tl.constexpr, WIDE: tl.constexpr,
):
    # Integers are computed in their own type, floats below 32 bits in float32.
    element: tl.constexpr = x_ptr.dtype.element_ty
    compute: tl.constexpr = (
        tl.int32 if element == tl.int32 else
        tl.int64 if element == tl.int64 else
        tl.int8 if element == tl.int8 else
        tl.uint8
    )
    lowest: tl.constexpr = (
        -2147483648 if element == tl.int32 else
        -9223372036854775808 if element == tl.int64 else
        -128 if element == tl.int8 else
        0
    )
    highest: tl.constexpr = (
        2147483647 if element == tl.int32 else
        9223372036854775807 if element == tl.int64 else
        127 if element == tl.int8 else
        255
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
        x = tl.load(x_ptr + row * stride_x_row + col, mask=inside, other=0)
        row_sum = tl.sum(x.to(tl.int64), axis=0).to(tl.int64)
        row_max = tl.max(tl.where(inside, x, lowest), axis=0).to(compute)
        row_min = tl.min(tl.where(inside, x, highest), axis=0).to(compute)
        out = row_sum + row_max.to(tl.int64) - row_min.to(tl.int64)
        out_rounded = out.to(out_ptr.dtype.element_ty)
        tl.store(out_ptr + row * stride_out_row, out_rounded)


@triton.jit
def t_looped_rows_kernel(
    x_ptr, out_ptr, rows, columns, stride_x_row, stride_out_row,
    ROWS: tl.constexpr, BLOCK_N: tl.constexpr, STREAMING: tl.constexpr, WIDE: tl.constexpr,
):
    # Integers are computed in their own type, floats below 32 bits in float32.
    element: tl.constexpr = x_ptr.dtype.element_ty
    compute: tl.constexpr = (
        tl.int32 if element == tl.int32 else
        tl.int64 if element == tl.int64 else
        tl.int8 if element == tl.int8 else
        tl.uint8
    )
    lowest: tl.constexpr = (
        -2147483648 if element == tl.int32 else
        -9223372036854775808 if element == tl.int64 else
        -128 if element == tl.int8 else
        0
    )
    highest: tl.constexpr = (
        2147483647 if element == tl.int32 else
        9223372036854775807 if element == tl.int64 else
        127 if element == tl.int8 else
        255
    )
    # ROWS rows per program; each is walked in blocks of BLOCK_N columns, once per reduction and
    # once for the result.
    pid = tl.program_id(axis=0)
    if WIDE:
        pid = pid.to(tl.int64)
    first = pid * ROWS
    last = tl.minimum(first + ROWS, rows)
    for row in range(first, last):
        row_sum_parts = tl.full((BLOCK_N,), 0, tl.int64)
        row_max_parts = tl.full((BLOCK_N,), lowest, compute)
        row_min_parts = tl.full((BLOCK_N,), highest, compute)
        for start in range(0, columns, BLOCK_N):
            col = start + tl.arange(0, BLOCK_N)
            inside = col < columns
            x = tl.load(x_ptr + row * stride_x_row + col, mask=inside, other=0)
            row_sum_parts += x.to(tl.int64)
            row_max_parts = tl.maximum(row_max_parts, tl.where(inside, x, lowest))
            row_min_parts = tl.minimum(row_min_parts, tl.where(inside, x, highest))
        row_sum = tl.sum(row_sum_parts, axis=0).to(tl.int64)
        row_max = tl.max(row_max_parts, axis=0).to(compute)
        row_min = tl.min(row_min_parts, axis=0).to(compute)
        out = row_sum + row_max.to(tl.int64) - row_min.to(tl.int64)
        out_rounded = out.to(out_ptr.dtype.element_ty)
        tl.store(out_ptr + row * stride_out_row, out_rounded)
