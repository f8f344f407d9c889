@triton.jit
def t_rows_kernel(
    x_ptr, out_ptr, rows, columns, stride_x_row, stride_out_row,
    ROWS: tl.constexpr, BLOCK_N: tl.constexpr, STREAMING: tl.constexpr, WIDE: tl.constexpr,
):
    # Integers are computed in their own type, floats below 32 bits in float32.
    element: tl.constexpr = x_ptr.dtype.element_ty
    lowest: tl.constexpr = (
        0 if element == tl.float32 else
        0
    )
    highest: tl.constexpr = (
        4294967295 if element == tl.float32 else
        65535
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
        ).to(tl.float32)
        masked = x
        row_max = tl.max(masked, axis=0)
        # A maximum of the language passes over NaN; PyTorch's does not.
        row_max_nans = tl.sum((masked != masked).to(tl.int32), axis=0)
        row_max = tl.where(row_max_nans > 0, float("nan"), row_max)
        masked_1 = tl.where(inside, tl.where(x > 0.0, x, 1.0), float("inf"))
        row_min = tl.min(masked_1, axis=0)
        # A maximum of the language passes over NaN; PyTorch's does not.
        row_min_nans = tl.sum((masked_1 != masked_1).to(tl.int32), axis=0)
        row_min = tl.where(row_min_nans > 0, float("nan"), row_min)
        out_sum = tl.sum(tl.where(inside, (x > 0.5).to(tl.int64), 0), axis=0).to(tl.int64)
        out = row_max - row_min + out_sum.to(tl.float32)
        out_rounded = out.to(out_ptr.dtype.element_ty)
        tl.store(out_ptr + row * stride_out_row, out_rounded)


@triton.jit
def t_looped_rows_kernel(
    x_ptr, out_ptr, rows, columns, stride_x_row, stride_out_row,
    ROWS: tl.constexpr, BLOCK_N: tl.constexpr, STREAMING: tl.constexpr, WIDE: tl.constexpr,
):
    # Integers are computed in their own type, floats below 32 bits in float32.
    element: tl.constexpr = x_ptr.dtype.element_ty
    lowest: tl.constexpr = (
        0 if element == tl.float32 else
        0
    )
    highest: tl.constexpr = (
        4294967295 if element == tl.float32 else
        65535
    )
    # ROWS rows per program; each is walked in blocks of BLOCK_N columns, once per reduction and
    # once for the result.
    pid = tl.program_id(axis=0)
    if WIDE:
        pid = pid.to(tl.int64)
    first = pid * ROWS
    last = tl.minimum(first + ROWS, rows)
    for row in range(first, last):
        row_max_parts = tl.full((BLOCK_N,), -float("inf"), tl.float32)
        row_min_parts = tl.full((BLOCK_N,), float("inf"), tl.float32)
        out_sum_parts = tl.full((BLOCK_N,), 0, tl.int64)
        for start in range(0, columns, BLOCK_N):
            col = start + tl.arange(0, BLOCK_N)
            inside = col < columns
            x = tl.load(
                x_ptr + row * stride_x_row + col, mask=inside, other=-float("inf")
            ).to(tl.float32)
            row_max_parts = tl.maximum(row_max_parts, x, propagate_nan=tl.PropagateNan.ALL)
            row_min_parts = tl.minimum(
                row_min_parts,
                tl.where(inside, tl.where(x > 0.0, x, 1.0), float("inf")),
                propagate_nan=tl.PropagateNan.ALL,
            )
            out_sum_parts += tl.where(inside, (x > 0.5).to(tl.int64), 0)
        row_max = tl.max(row_max_parts, axis=0)
        # A maximum of the language passes over NaN; PyTorch's does not.
        row_max_nans = tl.sum((row_max_parts != row_max_parts).to(tl.int32), axis=0)
        row_max = tl.where(row_max_nans > 0, float("nan"), row_max)
        row_min = tl.min(row_min_parts, axis=0)
        # A maximum of the language passes over NaN; PyTorch's does not.
        row_min_nans = tl.sum((row_min_parts != row_min_parts).to(tl.int32), axis=0)
        row_min = tl.where(row_min_nans > 0, float("nan"), row_min)
        out_sum = tl.sum(out_sum_parts, axis=0).to(tl.int64)
        out = row_max - row_min + out_sum.to(tl.float32)
        out_rounded = out.to(out_ptr.dtype.element_ty)
        tl.store(out_ptr + row * stride_out_row, out_rounded)
