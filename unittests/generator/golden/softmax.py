@triton.jit
def softmax_rows_kernel(
    x_ptr, out_ptr, rows, columns, stride_x_row, stride_out_row,
    ROWS: tl.constexpr, BLOCK_N: tl.constexpr, STREAMING: tl.constexpr, WIDE: tl.constexpr,
):
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
        maximum = tl.max(x, axis=0)
        shifted = x - maximum
        exponential = tl.exp(shifted)
        total_1 = tl.sum(exponential, axis=0)
        out = exponential * (1.0 / total_1)
        out_rounded = out.to(out_ptr.dtype.element_ty)
        out_at = out_ptr + row * stride_out_row + col
        if STREAMING:
            tl.store(out_at, out_rounded, mask=inside, cache_modifier=".cs")
        else:
            tl.store(out_at, out_rounded, mask=inside)


@triton.jit
def softmax_looped_rows_kernel(
    x_ptr, out_ptr, rows, columns, stride_x_row, stride_out_row,
    ROWS: tl.constexpr, BLOCK_N: tl.constexpr, STREAMING: tl.constexpr, WIDE: tl.constexpr,
):
    # ROWS rows per program; each is walked in blocks of BLOCK_N columns, once per reduction and
    # once for the result.
    pid = tl.program_id(axis=0)
    if WIDE:
        pid = pid.to(tl.int64)
    first = pid * ROWS
    last = tl.minimum(first + ROWS, rows)
    for row in range(first, last):
        maximum_parts = tl.full((BLOCK_N,), -float("inf"), tl.float32)
        for start in range(0, columns, BLOCK_N):
            col = start + tl.arange(0, BLOCK_N)
            inside = col < columns
            x = tl.load(
                x_ptr + row * stride_x_row + col, mask=inside, other=-float("inf")
            ).to(tl.float32)
            maximum_parts = tl.maximum(maximum_parts, x)
        maximum = tl.max(maximum_parts, axis=0)
        total_1_parts = tl.full((BLOCK_N,), 0.0, tl.float32)
        for start in range(0, columns, BLOCK_N):
            col = start + tl.arange(0, BLOCK_N)
            inside = col < columns
            x = tl.load(
                x_ptr + row * stride_x_row + col, mask=inside, other=-float("inf")
            ).to(tl.float32)
            shifted = x - maximum
            exponential = tl.exp(shifted)
            total_1_parts += exponential
        total_1 = tl.sum(total_1_parts, axis=0)
        for start in range(0, columns, BLOCK_N):
            col = start + tl.arange(0, BLOCK_N)
            inside = col < columns
            x = tl.load(
                x_ptr + row * stride_x_row + col, mask=inside, other=-float("inf")
            ).to(tl.float32)
            shifted = x - maximum
            exponential = tl.exp(shifted)
            out = exponential * (1.0 / total_1)
            out_rounded = out.to(out_ptr.dtype.element_ty)
            out_at = out_ptr + row * stride_out_row + col
            if STREAMING:
                tl.store(out_at, out_rounded, mask=inside, cache_modifier=".cs")
            else:
                tl.store(out_at, out_rounded, mask=inside)
