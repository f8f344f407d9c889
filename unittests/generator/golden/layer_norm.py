@triton.jit
def layer_norm_part_1_kernel(
    x_ptr, part_1_ptr, part_2_ptr, part_3_ptr, part_4_ptr, rest, x_stride, q_4, rest_1, D,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i = row % rest
    part = row // rest
    r = tl.arange(0, BLOCK_R)[None, :]
    if WIDE:
        r = r.to(tl.int64)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    r_inside = (r < q_4) | (EVEN_R == 1)
    inside = row_inside & r_inside
    t = part * q_4 + r < D
    x = tl.load(
        x_ptr + i * x_stride + part * q_4 + r, mask=inside & t, other=0.0
    ).to(tl.float32)
    sum = tl.sum(x, axis=1, keep_dims=True)
    part_mean = sum / tl.maximum(
        tl.maximum(tl.minimum(D - part * q_4, q_4), 0), 1
    ).to(tl.float32)
    apart = x - part_mean
    lanes = tl.where(r_inside, tl.where(t, apart, 0.0), 0.0)
    sum_1 = tl.sum(lanes, axis=1, keep_dims=True)
    lanes_1 = tl.where(r_inside, tl.where(t, apart * apart, 0.0), 0.0)
    sum_2 = tl.sum(lanes_1, axis=1, keep_dims=True)
    tl.store(part_1_ptr + row, sum, mask=row_inside)
    tl.store(part_2_ptr + row, part_mean, mask=row_inside)
    tl.store(part_3_ptr + row, sum_1, mask=row_inside)
    tl.store(part_4_ptr + row, sum_2, mask=row_inside)


@triton.jit
def layer_norm_part_1_looped_kernel(
    x_ptr, part_1_ptr, part_2_ptr, part_3_ptr, part_4_ptr, rest, q_4, x_stride, rest_1, D,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i = row % rest
    part = row // rest
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0.0, tl.float32)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    for start in range(0, q_4, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < q_4) | (EVEN_R == 1)
        inside = row_inside & r_inside
        t = part * q_4 + r < D
        x = tl.load(
            x_ptr + i * x_stride + part * q_4 + r, mask=inside & t, other=0.0
        ).to(tl.float32)
        sum_lanes = sum_lanes + x
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    sum_lanes_1 = tl.full((BLOCK_X, BLOCK_R), 0.0, tl.float32)
    sum_lanes_2 = tl.full((BLOCK_X, BLOCK_R), 0.0, tl.float32)
    part_mean = sum / tl.maximum(
        tl.maximum(tl.minimum(D - part * q_4, q_4), 0), 1
    ).to(tl.float32)
    for start_1 in range(0, q_4, BLOCK_R):
        r = (start_1 + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        t_1 = part * q_4 + r < D
        r_inside_1 = (r < q_4) | (EVEN_R == 1)
        inside_1 = row_inside & r_inside_1
        x_1 = tl.load(
            x_ptr + i * x_stride + part * q_4 + r, mask=inside_1 & t_1, other=0.0
        ).to(tl.float32)
        apart = x_1 - part_mean
        lanes = tl.where(r_inside_1, tl.where(t_1, apart, 0.0), 0.0)
        sum_lanes_1 = sum_lanes_1 + lanes
        lanes_1 = tl.where(r_inside_1, tl.where(t_1, apart * apart, 0.0), 0.0)
        sum_lanes_2 = sum_lanes_2 + lanes_1
    sum_1 = tl.sum(sum_lanes_1, axis=1, keep_dims=True)
    sum_2 = tl.sum(sum_lanes_2, axis=1, keep_dims=True)
    tl.store(part_1_ptr + row, sum, mask=row_inside)
    tl.store(part_2_ptr + row, part_mean, mask=row_inside)
    tl.store(part_3_ptr + row, sum_1, mask=row_inside)
    tl.store(part_4_ptr + row, sum_2, mask=row_inside)


@triton.jit
def layer_norm_part_2_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, part_1_ptr, part_2_ptr, part_3_ptr, part_4_ptr, eps, D,
    rest, x_stride, q_4, out_stride,
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
    weight = tl.load(weight_ptr + col, mask=col_inside, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + col, mask=col_inside, other=0.0).to(tl.float32)
    part = tl.arange(0, 64)[None, :]
    if WIDE:
        part = part.to(tl.int64)
    row_inside_1 = (row < rest) | (EVEN_X == 1)
    part_inside = part < 64
    inside_1 = row_inside_1 & part_inside
    part_1 = tl.load(part_1_ptr + row + part * rest, mask=inside_1, other=0.0)
    sum = tl.sum(part_1, axis=1, keep_dims=True)
    part_4 = tl.load(part_4_ptr + row + part * rest, mask=inside_1, other=0.0)
    part_2 = tl.load(part_2_ptr + row + part * rest, mask=inside_1, other=0.0)
    away = part_2 - sum / tl.cast(tl.cast(D, tl.int64), tl.float32)
    part_3 = tl.load(part_3_ptr + row + part * rest, mask=inside_1, other=0.0)
    t = part_4 + away * (
        part_3 + part_3 + tl.maximum(tl.minimum(D - part * q_4, q_4), 0).to(tl.float32) * away
    )
    lanes = tl.where(part_inside, t, 0.0)
    sum_1 = tl.sum(lanes, axis=1, keep_dims=True)
    t_1 = tl.cast(tl.cast(D, tl.int64), tl.float32)
    mean = sum / t_1
    out = (x - mean) * tl.rsqrt(sum_1 / t_1 + eps) * weight + bias
    tl.store(out_ptr + row * out_stride + col, out.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def layer_norm_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, eps, x_stride, rest, D, out_stride,
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
    sum = tl.sum(x, axis=1, keep_dims=True)
    t = tl.cast(tl.cast(D, tl.int64), tl.float32)
    centred = x - sum / t
    lanes = tl.where(r_inside, centred * centred, 0.0)
    sum_1 = tl.sum(lanes, axis=1, keep_dims=True)
    weight = tl.load(weight_ptr + r, mask=r_inside, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + r, mask=r_inside, other=0.0).to(tl.float32)
    out = centred * tl.rsqrt(sum_1 / t + eps) * weight + bias
    tl.store(out_ptr + row * out_stride + r, out.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def layer_norm_looped_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, eps, D, x_stride, rest, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    sum_so_far = tl.full((BLOCK_X, 1), 0.0, tl.float32)
    welford_so_far = tl.full((BLOCK_X, 1), 0.0, tl.float32)
    welford_so_far_1 = tl.full((BLOCK_X, 1), 0.0, tl.float32)
    welford_so_far_2 = tl.full((BLOCK_X, 1), 0.0, tl.float32)
    welford_so_far_3 = tl.full((BLOCK_X, 1), 0.0, tl.float32)
    row_inside = (row < rest) | (EVEN_X == 1)
    for start in range(0, D, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < D) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0).to(tl.float32)
        turn = tl.sum(x, axis=1, keep_dims=True)
        sum_so_far = sum_so_far + turn
        lanes = tl.where(r_inside, tl.full((1, 1), 1.0, tl.float32), 0.0)
        count = tl.cast(tl.minimum(D - start, BLOCK_R), tl.float32)
        mean = tl.sum(x, axis=1, keep_dims=True) / count
        away = lanes * (x - mean)
        turn_1 = count
        turn_2 = mean
        turn_3 = tl.sum(away, axis=1, keep_dims=True)
        turn_4 = tl.sum(away * away, axis=1, keep_dims=True)
        count_1 = welford_so_far + turn_1
        share = tl.where(count_1 == 0.0, 0.0, turn_1 / count_1)
        mean_1 = welford_so_far_1 + (turn_2 - welford_so_far_1) * share
        by = welford_so_far_1 - mean_1
        moved = welford_so_far * by
        by_1 = turn_2 - mean_1
        moved_1 = turn_1 * by_1
        next = welford_so_far_2 + moved + (turn_3 + moved_1)
        next_1 = welford_so_far_3 + by * (
            welford_so_far_2 + welford_so_far_2 + moved
        ) + (turn_4 + by_1 * (turn_3 + turn_3 + moved_1))
        welford_so_far = count_1
        welford_so_far_1 = mean_1
        welford_so_far_2 = next
        welford_so_far_3 = next_1
    sum = sum_so_far
    welford = welford_so_far
    welford_1 = welford_so_far_1
    welford_2 = welford_so_far_2
    welford_3 = welford_so_far_3
    t = tl.cast(tl.cast(D, tl.int64), tl.float32)
    mean_2 = sum / t
    t_1 = welford_1 - mean_2
    t_2 = (welford_3 + t_1 * (welford_2 + welford_2 + welford * t_1)) / t + eps
    t_3 = tl.rsqrt(t_2)
    for start_1 in range(0, D, BLOCK_R):
        r = (start_1 + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside_1 = (r < D) | (EVEN_R == 1)
        inside_1 = row_inside & r_inside_1
        x_1 = tl.load(x_ptr + row * x_stride + r, mask=inside_1, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + r, mask=r_inside_1, other=0.0).to(tl.float32)
        bias = tl.load(bias_ptr + r, mask=r_inside_1, other=0.0).to(tl.float32)
        out = (x_1 - mean_2) * t_3 * weight + bias
        tl.store(
            out_ptr + row * out_stride + r, out.to(out_ptr.dtype.element_ty), mask=inside_1
        )
