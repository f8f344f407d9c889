@triton.jit
def t_bfloat16_part_1_looped_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_bfloat16_part_1_looped_kernel_smallest(
    a, b,
):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_bfloat16_part_1_looped_kernel(
    x_ptr, part_1_ptr, part_2_ptr, part_3_ptr, rest, q_3, D, x_stride, rest_1,
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
    min_lanes = tl.full((BLOCK_X, BLOCK_R), float("inf"), tl.float32)
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.int64)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    for start in range(0, q_3, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        t = part * q_3 + r < D
        r_inside = (r < q_3) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + i * x_stride + part * q_3 + r, mask=inside & t, other=0.0)
        lanes = tl.where(r_inside, tl.where(t, x, -float("inf")).to(tl.float32), -float("inf"))
        max_lanes = tl.maximum(max_lanes, lanes, propagate_nan=tl.PropagateNan.ALL)
        x_1 = x.to(tl.float32)
        lanes_1 = tl.where(
            r_inside, tl.where(t, tl.where(x_1 > 0.0, x_1, 1.0), float("inf")), float("inf")
        )
        min_lanes = tl.minimum(min_lanes, lanes_1, propagate_nan=tl.PropagateNan.ALL)
        lanes_2 = tl.where(r_inside, tl.where(t, (x_1 > 0.5).to(tl.int64), 0), 0)
        sum_lanes = sum_lanes + lanes_2
    max_1 = tl.reduce(
        max_lanes, axis=1, combine_fn=t_bfloat16_part_1_looped_kernel_largest, keep_dims=True
    )
    min_1 = tl.reduce(
        min_lanes, axis=1, combine_fn=t_bfloat16_part_1_looped_kernel_smallest, keep_dims=True
    )
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    tl.store(part_1_ptr + row, max_1, mask=row_inside)
    tl.store(part_2_ptr + row, min_1, mask=row_inside)
    tl.store(part_3_ptr + row, sum, mask=row_inside)


@triton.jit
def t_bfloat16_part_2_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_bfloat16_part_2_kernel_smallest(
    a, b,
):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_bfloat16_part_2_kernel(
    out_ptr, part_1_ptr, part_2_ptr, part_3_ptr, rest,
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
    max_1 = tl.reduce(
        lanes, axis=0, combine_fn=t_bfloat16_part_2_kernel_largest, keep_dims=True
    )
    part_2 = tl.load(part_2_ptr + col + r * rest, mask=inside, other=0.0)
    lanes_1 = tl.where(r_inside, part_2, float("inf"))
    min_1 = tl.reduce(
        lanes_1, axis=0, combine_fn=t_bfloat16_part_2_kernel_smallest, keep_dims=True
    )
    part_3 = tl.load(part_3_ptr + col + r * rest, mask=inside, other=0)
    sum = tl.sum(part_3, axis=0, keep_dims=True)
    out = max_1 - min_1 + sum.to(tl.float32)
    tl.store(out_ptr + col, out.to(out_ptr.dtype.element_ty), mask=col_inside)


@triton.jit
def t_bfloat16_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_bfloat16_kernel_smallest(
    a, b,
):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_bfloat16_kernel(
    x_ptr, out_ptr, x_stride, rest, D,
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
    max_1 = tl.reduce(lanes, axis=1, combine_fn=t_bfloat16_kernel_largest, keep_dims=True)
    lanes_1 = tl.where(r_inside, tl.where(x > 0.0, x, 1.0), float("inf"))
    min_1 = tl.reduce(lanes_1, axis=1, combine_fn=t_bfloat16_kernel_smallest, keep_dims=True)
    lanes_2 = tl.where(r_inside, (x > 0.5).to(tl.int64), 0)
    sum = tl.sum(lanes_2, axis=1, keep_dims=True)
    out = max_1 - min_1 + sum.to(tl.float32)
    tl.store(out_ptr + row, out.to(out_ptr.dtype.element_ty), mask=row_inside)


@triton.jit
def t_bfloat16_looped_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_bfloat16_looped_kernel_smallest(
    a, b,
):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_bfloat16_looped_kernel(
    x_ptr, out_ptr, D, x_stride, rest,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -float("inf"), tl.float32)
    min_lanes = tl.full((BLOCK_X, BLOCK_R), float("inf"), tl.float32)
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.int64)
    row_inside = (row < rest) | (EVEN_X == 1)
    for start in range(0, D, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < D) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0).to(tl.float32)
        lanes = tl.where(r_inside, x, -float("inf"))
        max_lanes = tl.maximum(max_lanes, lanes, propagate_nan=tl.PropagateNan.ALL)
        lanes_1 = tl.where(r_inside, tl.where(x > 0.0, x, 1.0), float("inf"))
        min_lanes = tl.minimum(min_lanes, lanes_1, propagate_nan=tl.PropagateNan.ALL)
        lanes_2 = tl.where(r_inside, (x > 0.5).to(tl.int64), 0)
        sum_lanes = sum_lanes + lanes_2
    max_1 = tl.reduce(
        max_lanes, axis=1, combine_fn=t_bfloat16_looped_kernel_largest, keep_dims=True
    )
    min_1 = tl.reduce(
        min_lanes, axis=1, combine_fn=t_bfloat16_looped_kernel_smallest, keep_dims=True
    )
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    out = max_1 - min_1 + sum.to(tl.float32)
    tl.store(out_ptr + row, out.to(out_ptr.dtype.element_ty), mask=row_inside)


@triton.jit
def t_float32_part_1_looped_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float32_part_1_looped_kernel_smallest(
    a, b,
):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float32_part_1_looped_kernel(
    x_ptr, part_1_ptr, part_2_ptr, part_3_ptr, rest, q_3, D, x_stride, rest_1,
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
    min_lanes = tl.full((BLOCK_X, BLOCK_R), float("inf"), tl.float32)
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.int64)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    for start in range(0, q_3, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        t = part * q_3 + r < D
        r_inside = (r < q_3) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + i * x_stride + part * q_3 + r, mask=inside & t, other=0.0)
        lanes = tl.where(r_inside, tl.where(t, x, -float("inf")), -float("inf"))
        max_lanes = tl.maximum(max_lanes, lanes, propagate_nan=tl.PropagateNan.ALL)
        lanes_1 = tl.where(
            r_inside, tl.where(t, tl.where(x > 0.0, x, 1.0), float("inf")), float("inf")
        )
        min_lanes = tl.minimum(min_lanes, lanes_1, propagate_nan=tl.PropagateNan.ALL)
        lanes_2 = tl.where(r_inside, tl.where(t, (x > 0.5).to(tl.int64), 0), 0)
        sum_lanes = sum_lanes + lanes_2
    max_1 = tl.reduce(
        max_lanes, axis=1, combine_fn=t_float32_part_1_looped_kernel_largest, keep_dims=True
    )
    min_1 = tl.reduce(
        min_lanes, axis=1, combine_fn=t_float32_part_1_looped_kernel_smallest, keep_dims=True
    )
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    tl.store(part_1_ptr + row, max_1, mask=row_inside)
    tl.store(part_2_ptr + row, min_1, mask=row_inside)
    tl.store(part_3_ptr + row, sum, mask=row_inside)


@triton.jit
def t_float32_part_2_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float32_part_2_kernel_smallest(
    a, b,
):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float32_part_2_kernel(
    out_ptr, part_1_ptr, part_2_ptr, part_3_ptr, rest,
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
    max_1 = tl.reduce(lanes, axis=0, combine_fn=t_float32_part_2_kernel_largest, keep_dims=True)
    part_2 = tl.load(part_2_ptr + col + r * rest, mask=inside, other=0.0)
    lanes_1 = tl.where(r_inside, part_2, float("inf"))
    min_1 = tl.reduce(
        lanes_1, axis=0, combine_fn=t_float32_part_2_kernel_smallest, keep_dims=True
    )
    part_3 = tl.load(part_3_ptr + col + r * rest, mask=inside, other=0)
    sum = tl.sum(part_3, axis=0, keep_dims=True)
    out = max_1 - min_1 + sum.to(tl.float32)
    tl.store(out_ptr + col, out, mask=col_inside)


@triton.jit
def t_float32_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float32_kernel_smallest(
    a, b,
):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float32_kernel(
    x_ptr, out_ptr, x_stride, rest, D,
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
    max_1 = tl.reduce(lanes, axis=1, combine_fn=t_float32_kernel_largest, keep_dims=True)
    lanes_1 = tl.where(r_inside, tl.where(x > 0.0, x, 1.0), float("inf"))
    min_1 = tl.reduce(lanes_1, axis=1, combine_fn=t_float32_kernel_smallest, keep_dims=True)
    lanes_2 = tl.where(r_inside, (x > 0.5).to(tl.int64), 0)
    sum = tl.sum(lanes_2, axis=1, keep_dims=True)
    out = max_1 - min_1 + sum.to(tl.float32)
    tl.store(out_ptr + row, out, mask=row_inside)


@triton.jit
def t_float32_looped_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float32_looped_kernel_smallest(
    a, b,
):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float32_looped_kernel(
    x_ptr, out_ptr, D, x_stride, rest,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -float("inf"), tl.float32)
    min_lanes = tl.full((BLOCK_X, BLOCK_R), float("inf"), tl.float32)
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.int64)
    row_inside = (row < rest) | (EVEN_X == 1)
    for start in range(0, D, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < D) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0)
        lanes = tl.where(r_inside, x, -float("inf"))
        max_lanes = tl.maximum(max_lanes, lanes, propagate_nan=tl.PropagateNan.ALL)
        lanes_1 = tl.where(r_inside, tl.where(x > 0.0, x, 1.0), float("inf"))
        min_lanes = tl.minimum(min_lanes, lanes_1, propagate_nan=tl.PropagateNan.ALL)
        lanes_2 = tl.where(r_inside, (x > 0.5).to(tl.int64), 0)
        sum_lanes = sum_lanes + lanes_2
    max_1 = tl.reduce(
        max_lanes, axis=1, combine_fn=t_float32_looped_kernel_largest, keep_dims=True
    )
    min_1 = tl.reduce(
        min_lanes, axis=1, combine_fn=t_float32_looped_kernel_smallest, keep_dims=True
    )
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    out = max_1 - min_1 + sum.to(tl.float32)
    tl.store(out_ptr + row, out, mask=row_inside)
