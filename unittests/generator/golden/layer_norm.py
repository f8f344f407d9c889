@triton.jit
def layer_norm_rows_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, eps, rows, columns, stride_x_row, stride_out_row,
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
        x = tl.load(x_ptr + row * stride_x_row + col, mask=inside, other=0.0).to(tl.float32)
        mean_sum = tl.sum(x, axis=0)
        mean = mean_sum / columns
        centred = x - mean
        variance_sum = tl.sum(tl.where(inside, centred * centred, 0.0), axis=0)
        weight = tl.load(weight_ptr + col, mask=inside, other=0.0).to(tl.float32)
        bias = tl.load(bias_ptr + col, mask=inside, other=0.0).to(tl.float32)
        variance = variance_sum / columns
        normalised = centred * tl.rsqrt(variance + eps)
        scaled = normalised * weight
        out = scaled + bias
        out_rounded = out.to(out_ptr.dtype.element_ty)
        out_at = out_ptr + row * stride_out_row + col
        if STREAMING:
            tl.store(out_at, out_rounded, mask=inside, cache_modifier=".cs")
        else:
            tl.store(out_at, out_rounded, mask=inside)


@triton.jit
def layer_norm_looped_rows_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, eps, rows, columns, stride_x_row, stride_out_row,
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
        mean_sum_parts = tl.full((BLOCK_N,), 0.0, tl.float32)
        for start in range(0, columns, BLOCK_N):
            col = start + tl.arange(0, BLOCK_N)
            inside = col < columns
            x = tl.load(x_ptr + row * stride_x_row + col, mask=inside, other=0.0).to(tl.float32)
            mean_sum_parts += x
        mean_sum = tl.sum(mean_sum_parts, axis=0)
        mean = mean_sum / columns
        variance_sum_parts = tl.full((BLOCK_N,), 0.0, tl.float32)
        for start in range(0, columns, BLOCK_N):
            col = start + tl.arange(0, BLOCK_N)
            inside = col < columns
            x = tl.load(x_ptr + row * stride_x_row + col, mask=inside, other=0.0).to(tl.float32)
            centred = x - mean
            variance_sum_parts += tl.where(inside, centred * centred, 0.0)
        variance_sum = tl.sum(variance_sum_parts, axis=0)
        variance = variance_sum / columns
        for start in range(0, columns, BLOCK_N):
            col = start + tl.arange(0, BLOCK_N)
            inside = col < columns
            x = tl.load(x_ptr + row * stride_x_row + col, mask=inside, other=0.0).to(tl.float32)
            weight = tl.load(weight_ptr + col, mask=inside, other=0.0).to(tl.float32)
            bias = tl.load(bias_ptr + col, mask=inside, other=0.0).to(tl.float32)
            centred = x - mean
            normalised = centred * tl.rsqrt(variance + eps)
            scaled = normalised * weight
            out = scaled + bias
            out_rounded = out.to(out_ptr.dtype.element_ty)
            out_at = out_ptr + row * stride_out_row + col
            if STREAMING:
                tl.store(out_at, out_rounded, mask=inside, cache_modifier=".cs")
            else:
                tl.store(out_at, out_rounded, mask=inside)
