@triton.jit
def t_int32_part_1_looped_kernel(
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
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.int64)
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -2147483648, tl.int32)
    min_lanes = tl.full((BLOCK_X, BLOCK_R), 2147483647, tl.int32)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    for start in range(0, q_3, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        t = part * q_3 + r < D
        r_inside = (r < q_3) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + i * x_stride + part * q_3 + r, mask=inside & t, other=0)
        lanes = tl.where(r_inside, tl.where(t, x, 0).to(tl.int64), 0)
        sum_lanes = sum_lanes + lanes
        lanes_1 = tl.where(r_inside, tl.where(t, x, -2147483648), -2147483648)
        max_lanes = tl.maximum(max_lanes, lanes_1)
        lanes_2 = tl.where(r_inside, tl.where(t, x, 2147483647), 2147483647)
        min_lanes = tl.minimum(min_lanes, lanes_2)
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    max_1 = tl.max(max_lanes, axis=1, keep_dims=True)
    min_1 = tl.min(min_lanes, axis=1, keep_dims=True)
    tl.store(part_1_ptr + row, sum, mask=row_inside)
    tl.store(part_2_ptr + row, max_1, mask=row_inside)
    tl.store(part_3_ptr + row, min_1, mask=row_inside)


@triton.jit
def t_int32_part_2_kernel(
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
    part_1 = tl.load(part_1_ptr + col + r * rest, mask=inside, other=0)
    sum = tl.sum(part_1, axis=0, keep_dims=True)
    part_2 = tl.load(part_2_ptr + col + r * rest, mask=inside, other=0)
    lanes = tl.where(r_inside, part_2, -2147483648)
    max_1 = tl.max(lanes, axis=0, keep_dims=True)
    part_3 = tl.load(part_3_ptr + col + r * rest, mask=inside, other=0)
    lanes_1 = tl.where(r_inside, part_3, 2147483647)
    min_1 = tl.min(lanes_1, axis=0, keep_dims=True)
    out = sum + max_1.to(tl.int64) - min_1.to(tl.int64)
    tl.store(out_ptr + col, out, mask=col_inside)


@triton.jit
def t_int32_kernel(
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
    x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0)
    x_1 = x.to(tl.int64)
    sum = tl.sum(x_1, axis=1, keep_dims=True)
    lanes = tl.where(r_inside, x, -2147483648)
    max_1 = tl.max(lanes, axis=1, keep_dims=True)
    lanes_1 = tl.where(r_inside, x, 2147483647)
    min_1 = tl.min(lanes_1, axis=1, keep_dims=True)
    out = sum + max_1.to(tl.int64) - min_1.to(tl.int64)
    tl.store(out_ptr + row, out, mask=row_inside)


@triton.jit
def t_int32_looped_kernel(
    x_ptr, out_ptr, D, x_stride, rest,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.int64)
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -2147483648, tl.int32)
    min_lanes = tl.full((BLOCK_X, BLOCK_R), 2147483647, tl.int32)
    row_inside = (row < rest) | (EVEN_X == 1)
    for start in range(0, D, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < D) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0)
        x_1 = x.to(tl.int64)
        sum_lanes = sum_lanes + x_1
        lanes = tl.where(r_inside, x, -2147483648)
        max_lanes = tl.maximum(max_lanes, lanes)
        lanes_1 = tl.where(r_inside, x, 2147483647)
        min_lanes = tl.minimum(min_lanes, lanes_1)
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    max_1 = tl.max(max_lanes, axis=1, keep_dims=True)
    min_1 = tl.min(min_lanes, axis=1, keep_dims=True)
    out = sum + max_1.to(tl.int64) - min_1.to(tl.int64)
    tl.store(out_ptr + row, out, mask=row_inside)


@triton.jit
def t_int64_part_1_looped_kernel(
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
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.int64)
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -9223372036854775808, tl.int64)
    min_lanes = tl.full((BLOCK_X, BLOCK_R), 9223372036854775807, tl.int64)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    for start in range(0, q_3, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        t = part * q_3 + r < D
        r_inside = (r < q_3) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + i * x_stride + part * q_3 + r, mask=inside & t, other=0)
        lanes = tl.where(r_inside, tl.where(t, x, 0), 0)
        sum_lanes = sum_lanes + lanes
        lanes_1 = tl.where(r_inside, tl.where(t, x, -9223372036854775808), -9223372036854775808)
        max_lanes = tl.maximum(max_lanes, lanes_1)
        lanes_2 = tl.where(r_inside, tl.where(t, x, 9223372036854775807), 9223372036854775807)
        min_lanes = tl.minimum(min_lanes, lanes_2)
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    max_1 = tl.max(max_lanes, axis=1, keep_dims=True)
    min_1 = tl.min(min_lanes, axis=1, keep_dims=True)
    tl.store(part_1_ptr + row, sum, mask=row_inside)
    tl.store(part_2_ptr + row, max_1, mask=row_inside)
    tl.store(part_3_ptr + row, min_1, mask=row_inside)


@triton.jit
def t_int64_part_2_kernel(
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
    part_1 = tl.load(part_1_ptr + col + r * rest, mask=inside, other=0)
    sum = tl.sum(part_1, axis=0, keep_dims=True)
    part_2 = tl.load(part_2_ptr + col + r * rest, mask=inside, other=0)
    lanes = tl.where(r_inside, part_2, -9223372036854775808)
    max_1 = tl.max(lanes, axis=0, keep_dims=True)
    part_3 = tl.load(part_3_ptr + col + r * rest, mask=inside, other=0)
    lanes_1 = tl.where(r_inside, part_3, 9223372036854775807)
    min_1 = tl.min(lanes_1, axis=0, keep_dims=True)
    out = sum + max_1 - min_1
    tl.store(out_ptr + col, out, mask=col_inside)


@triton.jit
def t_int64_kernel(
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
    x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0)
    sum = tl.sum(x, axis=1, keep_dims=True)
    lanes = tl.where(r_inside, x, -9223372036854775808)
    max_1 = tl.max(lanes, axis=1, keep_dims=True)
    lanes_1 = tl.where(r_inside, x, 9223372036854775807)
    min_1 = tl.min(lanes_1, axis=1, keep_dims=True)
    out = sum + max_1 - min_1
    tl.store(out_ptr + row, out, mask=row_inside)


@triton.jit
def t_int64_looped_kernel(
    x_ptr, out_ptr, D, x_stride, rest,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.int64)
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -9223372036854775808, tl.int64)
    min_lanes = tl.full((BLOCK_X, BLOCK_R), 9223372036854775807, tl.int64)
    row_inside = (row < rest) | (EVEN_X == 1)
    for start in range(0, D, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < D) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0)
        sum_lanes = sum_lanes + x
        lanes = tl.where(r_inside, x, -9223372036854775808)
        max_lanes = tl.maximum(max_lanes, lanes)
        lanes_1 = tl.where(r_inside, x, 9223372036854775807)
        min_lanes = tl.minimum(min_lanes, lanes_1)
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    max_1 = tl.max(max_lanes, axis=1, keep_dims=True)
    min_1 = tl.min(min_lanes, axis=1, keep_dims=True)
    out = sum + max_1 - min_1
    tl.store(out_ptr + row, out, mask=row_inside)


@triton.jit
def t_int8_part_1_looped_kernel(
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
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.int64)
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -128, tl.int8)
    min_lanes = tl.full((BLOCK_X, BLOCK_R), 127, tl.int8)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    for start in range(0, q_3, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        t = part * q_3 + r < D
        r_inside = (r < q_3) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + i * x_stride + part * q_3 + r, mask=inside & t, other=0)
        lanes = tl.where(r_inside, tl.where(t, x, 0).to(tl.int64), 0)
        sum_lanes = sum_lanes + lanes
        lanes_1 = tl.where(r_inside, tl.where(t, x, -128), -128)
        max_lanes = tl.maximum(max_lanes, lanes_1)
        lanes_2 = tl.where(r_inside, tl.where(t, x, 127), 127)
        min_lanes = tl.minimum(min_lanes, lanes_2)
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    max_1 = tl.max(max_lanes, axis=1, keep_dims=True).to(tl.int8)
    min_1 = tl.min(min_lanes, axis=1, keep_dims=True).to(tl.int8)
    tl.store(part_1_ptr + row, sum, mask=row_inside)
    tl.store(part_2_ptr + row, max_1, mask=row_inside)
    tl.store(part_3_ptr + row, min_1, mask=row_inside)


@triton.jit
def t_int8_part_2_kernel(
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
    part_1 = tl.load(part_1_ptr + col + r * rest, mask=inside, other=0)
    sum = tl.sum(part_1, axis=0, keep_dims=True)
    part_2 = tl.load(part_2_ptr + col + r * rest, mask=inside, other=0)
    lanes = tl.where(r_inside, part_2, -128)
    max_1 = tl.max(lanes, axis=0, keep_dims=True).to(tl.int8)
    part_3 = tl.load(part_3_ptr + col + r * rest, mask=inside, other=0)
    lanes_1 = tl.where(r_inside, part_3, 127)
    min_1 = tl.min(lanes_1, axis=0, keep_dims=True).to(tl.int8)
    out = sum + max_1.to(tl.int64) - min_1.to(tl.int64)
    tl.store(out_ptr + col, out, mask=col_inside)


@triton.jit
def t_int8_kernel(
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
    x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0)
    x_1 = x.to(tl.int64)
    sum = tl.sum(x_1, axis=1, keep_dims=True)
    lanes = tl.where(r_inside, x, -128)
    max_1 = tl.max(lanes, axis=1, keep_dims=True).to(tl.int8)
    lanes_1 = tl.where(r_inside, x, 127)
    min_1 = tl.min(lanes_1, axis=1, keep_dims=True).to(tl.int8)
    out = sum + max_1.to(tl.int64) - min_1.to(tl.int64)
    tl.store(out_ptr + row, out, mask=row_inside)


@triton.jit
def t_int8_looped_kernel(
    x_ptr, out_ptr, D, x_stride, rest,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.int64)
    max_lanes = tl.full((BLOCK_X, BLOCK_R), -128, tl.int8)
    min_lanes = tl.full((BLOCK_X, BLOCK_R), 127, tl.int8)
    row_inside = (row < rest) | (EVEN_X == 1)
    for start in range(0, D, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < D) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0)
        x_1 = x.to(tl.int64)
        sum_lanes = sum_lanes + x_1
        lanes = tl.where(r_inside, x, -128)
        max_lanes = tl.maximum(max_lanes, lanes)
        lanes_1 = tl.where(r_inside, x, 127)
        min_lanes = tl.minimum(min_lanes, lanes_1)
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    max_1 = tl.max(max_lanes, axis=1, keep_dims=True).to(tl.int8)
    min_1 = tl.min(min_lanes, axis=1, keep_dims=True).to(tl.int8)
    out = sum + max_1.to(tl.int64) - min_1.to(tl.int64)
    tl.store(out_ptr + row, out, mask=row_inside)


@triton.jit
def t_uint8_part_1_looped_kernel(
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
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.int64)
    max_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.uint8)
    min_lanes = tl.full((BLOCK_X, BLOCK_R), 255, tl.uint8)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    for start in range(0, q_3, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        t = part * q_3 + r < D
        r_inside = (r < q_3) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + i * x_stride + part * q_3 + r, mask=inside & t, other=0)
        t_1 = tl.where(t, x, 0)
        lanes = tl.where(r_inside, t_1.to(tl.int64), 0)
        sum_lanes = sum_lanes + lanes
        lanes_1 = tl.where(r_inside, t_1, 0)
        max_lanes = tl.maximum(max_lanes, lanes_1)
        lanes_2 = tl.where(r_inside, tl.where(t, x, 255), 255)
        min_lanes = tl.minimum(min_lanes, lanes_2)
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    max_1 = tl.max(max_lanes, axis=1, keep_dims=True).to(tl.uint8)
    min_1 = tl.min(min_lanes, axis=1, keep_dims=True).to(tl.uint8)
    tl.store(part_1_ptr + row, sum, mask=row_inside)
    tl.store(part_2_ptr + row, max_1, mask=row_inside)
    tl.store(part_3_ptr + row, min_1, mask=row_inside)


@triton.jit
def t_uint8_part_2_kernel(
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
    part_1 = tl.load(part_1_ptr + col + r * rest, mask=inside, other=0)
    sum = tl.sum(part_1, axis=0, keep_dims=True)
    part_2 = tl.load(part_2_ptr + col + r * rest, mask=inside, other=0)
    lanes = tl.where(r_inside, part_2, 0)
    max_1 = tl.max(lanes, axis=0, keep_dims=True).to(tl.uint8)
    part_3 = tl.load(part_3_ptr + col + r * rest, mask=inside, other=0)
    lanes_1 = tl.where(r_inside, part_3, 255)
    min_1 = tl.min(lanes_1, axis=0, keep_dims=True).to(tl.uint8)
    out = sum + max_1.to(tl.int64) - min_1.to(tl.int64)
    tl.store(out_ptr + col, out, mask=col_inside)


@triton.jit
def t_uint8_kernel(
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
    x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0)
    x_1 = x.to(tl.int64)
    sum = tl.sum(x_1, axis=1, keep_dims=True)
    lanes = tl.where(r_inside, x, 0)
    max_1 = tl.max(lanes, axis=1, keep_dims=True).to(tl.uint8)
    lanes_1 = tl.where(r_inside, x, 255)
    min_1 = tl.min(lanes_1, axis=1, keep_dims=True).to(tl.uint8)
    out = sum + max_1.to(tl.int64) - min_1.to(tl.int64)
    tl.store(out_ptr + row, out, mask=row_inside)


@triton.jit
def t_uint8_looped_kernel(
    x_ptr, out_ptr, D, x_stride, rest,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.int64)
    max_lanes = tl.full((BLOCK_X, BLOCK_R), 0, tl.uint8)
    min_lanes = tl.full((BLOCK_X, BLOCK_R), 255, tl.uint8)
    row_inside = (row < rest) | (EVEN_X == 1)
    for start in range(0, D, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < D) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0)
        x_1 = x.to(tl.int64)
        sum_lanes = sum_lanes + x_1
        lanes = tl.where(r_inside, x, 0)
        max_lanes = tl.maximum(max_lanes, lanes)
        lanes_1 = tl.where(r_inside, x, 255)
        min_lanes = tl.minimum(min_lanes, lanes_1)
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    max_1 = tl.max(max_lanes, axis=1, keep_dims=True).to(tl.uint8)
    min_1 = tl.min(min_lanes, axis=1, keep_dims=True).to(tl.uint8)
    out = sum + max_1.to(tl.int64) - min_1.to(tl.int64)
    tl.store(out_ptr + row, out, mask=row_inside)
