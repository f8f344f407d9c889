@triton.jit
def t_rows_kernel(
    x_ptr, out_ptr, rows, columns, stride_x_row, stride_out_row,
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
        x = tl.load(
            x_ptr + row * stride_x_row + col, mask=inside, other=-float("inf")
        ).to(compute)
        row_max = tl.max(x, axis=0)
        t = x - row_max
        row_sum = tl.sum(tl.exp(t), axis=0)
        out = t - tl.log(row_sum)
        out_rounded = out.to(out_ptr.dtype.element_ty)
        out_at = out_ptr + row * stride_out_row + col
        if STREAMING:
            tl.store(out_at, out_rounded, mask=inside, cache_modifier=".cs")
        else:
            tl.store(out_at, out_rounded, mask=inside)


@triton.jit
def t_looped_rows_kernel(
    x_ptr, out_ptr, rows, columns, stride_x_row, stride_out_row,
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
        row_max_parts = tl.full((BLOCK_N,), -float("inf"), compute)
        for start in range(0, columns, BLOCK_N):
            col = start + tl.arange(0, BLOCK_N)
            inside = col < columns
            x = tl.load(
                x_ptr + row * stride_x_row + col, mask=inside, other=-float("inf")
            ).to(compute)
            row_max_parts = tl.maximum(row_max_parts, x)
        row_max = tl.max(row_max_parts, axis=0)
        row_sum_parts = tl.full((BLOCK_N,), 0.0, compute)
        for start in range(0, columns, BLOCK_N):
            col = start + tl.arange(0, BLOCK_N)
            inside = col < columns
            x = tl.load(
                x_ptr + row * stride_x_row + col, mask=inside, other=-float("inf")
            ).to(compute)
            t = x - row_max
            row_sum_parts += tl.exp(t)
        row_sum = tl.sum(row_sum_parts, axis=0)
        for start in range(0, columns, BLOCK_N):
            col = start + tl.arange(0, BLOCK_N)
            inside = col < columns
            x = tl.load(
                x_ptr + row * stride_x_row + col, mask=inside, other=-float("inf")
            ).to(compute)
            t = x - row_max
            out = t - tl.log(row_sum)
            out_rounded = out.to(out_ptr.dtype.element_ty)
            out_at = out_ptr + row * stride_out_row + col
            if STREAMING:
                tl.store(out_at, out_rounded, mask=inside, cache_modifier=".cs")
            else:
                tl.store(out_at, out_rounded, mask=inside)
