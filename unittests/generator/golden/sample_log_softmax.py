@triton.jit
def t_float16_part_1_looped_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float16_part_1_looped_kernel(
    x_ptr, part_1_ptr, rest, q_4, x_stride, rest_1, D,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i = row % rest
    part = row // rest
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -float("inf"), tl.float32)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    for start in range(0, q_4, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < q_4) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(
            x_ptr + i * x_stride + part * q_4 + r,
            mask=inside & (part * q_4 + r < D),
            other=-float("inf"),
        ).to(tl.float32)
        lanes = tl.where(r_inside, x, -float("inf"))
        max_lanes = tl.maximum(max_lanes, lanes, propagate_nan=tl.PropagateNan.ALL)
    max_1 = tl.reduce(
        max_lanes, axis=1, combine_fn=t_float16_part_1_looped_kernel_largest, keep_dims=True
    )
    tl.store(part_1_ptr + row, max_1, mask=row_inside)


@triton.jit
def t_float16_part_2_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float16_part_2_kernel(
    part_1_ptr, part_2_ptr, rest,
    BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr, BLOCK_Y: tl.constexpr, EVEN_Y: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_col = tl.program_id(axis=0)
    if WIDE:
        pid_col = pid_col.to(tl.int64)
    r = tl.arange(0, BLOCK_R)[:, None]
    if WIDE:
        r = r.to(tl.int64)
    col = (pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y))[None, :]
    r_inside = (r < 64) | (EVEN_R == 1)
    col_inside = (col < rest) | (EVEN_Y == 1)
    inside = r_inside & col_inside
    part_1 = tl.load(part_1_ptr + col + r * rest, mask=inside, other=0.0)
    lanes = tl.where(r_inside, part_1, -float("inf"))
    max_1 = tl.reduce(lanes, axis=0, combine_fn=t_float16_part_2_kernel_largest, keep_dims=True)
    tl.store(part_2_ptr + col, max_1, mask=col_inside)


@triton.jit
def t_float16_part_3_looped_kernel(
    x_ptr, part_2_ptr, part_3_ptr, rest, q_4, D, x_stride, rest_1,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i = row % rest
    part_1 = row // rest
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0.0, tl.float32)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    part_2 = tl.load(part_2_ptr + i, mask=row_inside, other=0.0)
    for start in range(0, q_4, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < q_4) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(
            x_ptr + i * x_stride + part_1 * q_4 + r,
            mask=inside & (part_1 * q_4 + r < D),
            other=0.0,
        ).to(tl.float32)
        lanes = tl.where(r_inside, tl.where(part_1 * q_4 + r < D, tl.exp(x - part_2), 0.0), 0.0)
        sum_lanes = sum_lanes + lanes
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    tl.store(part_3_ptr + row, sum, mask=row_inside)


@triton.jit
def t_float16_part_4_kernel(
    x_ptr, out_ptr, part_2_ptr, part_3_ptr, D, rest, x_stride, out_stride,
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
    part_2 = tl.load(part_2_ptr + row, mask=row_inside, other=0.0)
    part = tl.arange(0, 64)[None, :]
    if WIDE:
        part = part.to(tl.int64)
    row_inside_1 = (row < rest) | (EVEN_X == 1)
    part_inside = part < 64
    inside_1 = row_inside_1 & part_inside
    part_3 = tl.load(part_3_ptr + row + part * rest, mask=inside_1, other=0.0)
    sum = tl.sum(part_3, axis=1, keep_dims=True)
    out = x - part_2 - tl.log(sum)
    tl.store(out_ptr + row * out_stride + col, out.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def t_float16_kernel(
    x_ptr, out_ptr, x_stride, rest, D, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    r = tl.arange(0, BLOCK_R)[None, :]
    if WIDE:
        r = r.to(tl.int64)
    row_inside = (row < rest) | (EVEN_X == 1)
    r_inside = (r < D) | (EVEN_R == 1)
    inside = row_inside & r_inside
    x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0).to(tl.float32)
    lanes = tl.where(r_inside, x, -float("inf"))
    max_1 = tl.max(lanes, axis=1, keep_dims=True)
    t = x - max_1
    lanes_1 = tl.where(r_inside, tl.exp(t), 0.0)
    sum = tl.sum(lanes_1, axis=1, keep_dims=True)
    out = t - tl.log(sum)
    tl.store(out_ptr + row * out_stride + r, out.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def t_float16_looped_kernel(
    x_ptr, out_ptr, D, x_stride, rest, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -float("inf"), tl.float32)
    row_inside = (row < rest) | (EVEN_X == 1)
    for start in range(0, D, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < D) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0).to(tl.float32)
        lanes = tl.where(r_inside, x, -float("inf"))
        max_lanes = tl.maximum(max_lanes, lanes)
    max_1 = tl.max(max_lanes, axis=1, keep_dims=True)
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0.0, tl.float32)
    for start_1 in range(0, D, BLOCK_R):
        r = (start_1 + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside_1 = (r < D) | (EVEN_R == 1)
        inside_1 = row_inside & r_inside_1
        x_1 = tl.load(x_ptr + row * x_stride + r, mask=inside_1, other=0.0).to(tl.float32)
        t = x_1 - max_1
        lanes_1 = tl.where(r_inside_1, tl.exp(t), 0.0)
        sum_lanes = sum_lanes + lanes_1
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    t_2 = tl.log(sum)
    for start_2 in range(0, D, BLOCK_R):
        r = (start_2 + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside_2 = (r < D) | (EVEN_R == 1)
        inside_2 = row_inside & r_inside_2
        x_2 = tl.load(x_ptr + row * x_stride + r, mask=inside_2, other=0.0).to(tl.float32)
        t_1 = x_2 - max_1
        out = t_1 - t_2
        tl.store(
            out_ptr + row * out_stride + r, out.to(out_ptr.dtype.element_ty), mask=inside_2
        )


@triton.jit
def t_float64_part_1_looped_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float64_part_1_looped_kernel(
    x_ptr, part_1_ptr, rest, q_4, x_stride, rest_1, D,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i = row % rest
    part = row // rest
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -float("inf"), tl.float64)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    for start in range(0, q_4, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < q_4) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(
            x_ptr + i * x_stride + part * q_4 + r,
            mask=inside & (part * q_4 + r < D),
            other=-float("inf"),
        )
        lanes = tl.where(r_inside, x, -float("inf"))
        max_lanes = tl.maximum(max_lanes, lanes, propagate_nan=tl.PropagateNan.ALL)
    max_1 = tl.reduce(
        max_lanes, axis=1, combine_fn=t_float64_part_1_looped_kernel_largest, keep_dims=True
    )
    tl.store(part_1_ptr + row, max_1, mask=row_inside)


@triton.jit
def t_float64_part_3_looped_kernel(
    x_ptr, part_2_ptr, part_3_ptr, rest, q_4, D, x_stride, rest_1,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i = row % rest
    part_1 = row // rest
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0.0, tl.float64)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    part_2 = tl.load(part_2_ptr + i, mask=row_inside, other=0.0)
    for start in range(0, q_4, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < q_4) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(
            x_ptr + i * x_stride + part_1 * q_4 + r,
            mask=inside & (part_1 * q_4 + r < D),
            other=0.0,
        )
        lanes = tl.where(r_inside, tl.where(part_1 * q_4 + r < D, tl.exp(x - part_2), 0.0), 0.0)
        sum_lanes = sum_lanes + lanes
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    tl.store(part_3_ptr + row, sum, mask=row_inside)


@triton.jit
def t_float64_part_4_kernel(
    x_ptr, out_ptr, part_2_ptr, part_3_ptr, D, rest, x_stride, out_stride,
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
    x = tl.load(x_ptr + row * x_stride + col, mask=inside, other=0.0)
    part_2 = tl.load(part_2_ptr + row, mask=row_inside, other=0.0)
    part = tl.arange(0, 64)[None, :]
    if WIDE:
        part = part.to(tl.int64)
    row_inside_1 = (row < rest) | (EVEN_X == 1)
    part_inside = part < 64
    inside_1 = row_inside_1 & part_inside
    part_3 = tl.load(part_3_ptr + row + part * rest, mask=inside_1, other=0.0)
    sum = tl.sum(part_3, axis=1, keep_dims=True)
    out = x - part_2 - tl.log(sum)
    tl.store(out_ptr + row * out_stride + col, out, mask=inside)


@triton.jit
def t_float64_kernel(
    x_ptr, out_ptr, x_stride, rest, D, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    r = tl.arange(0, BLOCK_R)[None, :]
    if WIDE:
        r = r.to(tl.int64)
    row_inside = (row < rest) | (EVEN_X == 1)
    r_inside = (r < D) | (EVEN_R == 1)
    inside = row_inside & r_inside
    x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0)
    lanes = tl.where(r_inside, x, -float("inf"))
    max_1 = tl.max(lanes, axis=1, keep_dims=True)
    t = x - max_1
    lanes_1 = tl.where(r_inside, tl.exp(t), 0.0)
    sum = tl.sum(lanes_1, axis=1, keep_dims=True)
    out = t - tl.log(sum)
    tl.store(out_ptr + row * out_stride + r, out, mask=inside)


@triton.jit
def t_float64_looped_kernel(
    x_ptr, out_ptr, D, x_stride, rest, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -float("inf"), tl.float64)
    row_inside = (row < rest) | (EVEN_X == 1)
    for start in range(0, D, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < D) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0)
        lanes = tl.where(r_inside, x, -float("inf"))
        max_lanes = tl.maximum(max_lanes, lanes)
    max_1 = tl.max(max_lanes, axis=1, keep_dims=True)
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0.0, tl.float64)
    for start_1 in range(0, D, BLOCK_R):
        r = (start_1 + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside_1 = (r < D) | (EVEN_R == 1)
        inside_1 = row_inside & r_inside_1
        x_1 = tl.load(x_ptr + row * x_stride + r, mask=inside_1, other=0.0)
        t = x_1 - max_1
        lanes_1 = tl.where(r_inside_1, tl.exp(t), 0.0)
        sum_lanes = sum_lanes + lanes_1
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    t_2 = tl.log(sum)
    for start_2 in range(0, D, BLOCK_R):
        r = (start_2 + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside_2 = (r < D) | (EVEN_R == 1)
        inside_2 = row_inside & r_inside_2
        x_2 = tl.load(x_ptr + row * x_stride + r, mask=inside_2, other=0.0)
        t_1 = x_2 - max_1
        out = t_1 - t_2
        tl.store(out_ptr + row * out_stride + r, out, mask=inside_2)
