@triton.jit
def t_float16_part_1_looped_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float16_part_1_looped_kernel(
    x_ptr, part_1_ptr, part_2_ptr, rest, q_4, x_stride, rest_1, D,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i = row % rest
    part = row // rest
    logsumexp_so_far = tl.full((BLOCK_X, 1), -float("inf"), tl.float32)
    logsumexp_so_far_1 = tl.full((BLOCK_X, 1), 0.0, tl.float32)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    for start in range(0, q_4, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < q_4) | (EVEN_R == 1)
        inside = row_inside & r_inside
        t = part * q_4 + r < D
        x = tl.load(
            x_ptr + i * x_stride + part * q_4 + r, mask=inside & t, other=-float("inf")
        ).to(tl.float32)
        lanes = tl.where(r_inside, x, -float("inf"))
        lanes_1 = tl.where(r_inside, tl.where(t, tl.full((1, 1), 1.0, tl.float32), 0.0), 0.0)
        most = tl.reduce(
            lanes, axis=1, combine_fn=t_float16_part_1_looped_kernel_largest, keep_dims=True
        )
        finite = tl.where(tl.abs(most) == float("inf"), 0.0, most)
        turn = most
        turn_1 = tl.sum(lanes_1 * tl.exp(lanes - finite), axis=1, keep_dims=True)
        most_1 = tl.maximum(logsumexp_so_far, turn, propagate_nan=tl.PropagateNan.ALL)
        finite_1 = tl.where(tl.abs(most_1) == float("inf"), 0.0, most_1)
        next = logsumexp_so_far_1 * tl.exp(
            logsumexp_so_far - finite_1
        ) + turn_1 * tl.exp(turn - finite_1)
        logsumexp_so_far = most_1
        logsumexp_so_far_1 = next
    logsumexp = logsumexp_so_far
    logsumexp_1 = logsumexp_so_far_1
    tl.store(part_1_ptr + row, logsumexp, mask=row_inside)
    tl.store(part_2_ptr + row, logsumexp_1, mask=row_inside)


@triton.jit
def t_float16_part_2_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float16_part_2_kernel(
    part_1_ptr, part_2_ptr, part_3_ptr, part_4_ptr, rest,
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
    part_2 = tl.load(part_2_ptr + col + r * rest, mask=inside, other=0.0)
    most = tl.reduce(lanes, axis=0, combine_fn=t_float16_part_2_kernel_largest, keep_dims=True)
    finite = tl.where(tl.abs(most) == float("inf"), 0.0, most)
    logsumexp = most
    logsumexp_1 = tl.sum(part_2 * tl.exp(lanes - finite), axis=0, keep_dims=True)
    tl.store(part_3_ptr + col, logsumexp, mask=col_inside)
    tl.store(part_4_ptr + col, logsumexp_1, mask=col_inside)


@triton.jit
def t_float16_part_3_kernel(
    x_ptr, out_ptr, part_3_ptr, part_4_ptr, D, x_stride, rest, out_stride,
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
    part_3 = tl.load(part_3_ptr + row, mask=row_inside, other=0.0)
    part_4 = tl.load(part_4_ptr + row, mask=row_inside, other=0.0)
    out = x - part_3 - tl.log(part_4 + (part_3 - part_3))
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
    logsumexp_so_far = tl.full((BLOCK_X, 1), -float("inf"), tl.float32)
    logsumexp_so_far_1 = tl.full((BLOCK_X, 1), 0.0, tl.float32)
    row_inside = (row < rest) | (EVEN_X == 1)
    for start in range(0, D, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < D) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0).to(tl.float32)
        lanes = tl.where(r_inside, x, -float("inf"))
        lanes_1 = tl.where(r_inside, tl.full((1, 1), 1.0, tl.float32), 0.0)
        most = tl.max(lanes, axis=1, keep_dims=True)
        finite = tl.where(tl.abs(most) == float("inf"), 0.0, most)
        turn = most
        turn_1 = tl.sum(lanes_1 * tl.exp(lanes - finite), axis=1, keep_dims=True)
        most_1 = tl.maximum(logsumexp_so_far, turn)
        finite_1 = tl.where(tl.abs(most_1) == float("inf"), 0.0, most_1)
        next = logsumexp_so_far_1 * tl.exp(
            logsumexp_so_far - finite_1
        ) + turn_1 * tl.exp(turn - finite_1)
        logsumexp_so_far = most_1
        logsumexp_so_far_1 = next
    logsumexp = logsumexp_so_far
    logsumexp_1 = logsumexp_so_far_1
    t = tl.log(logsumexp_1 + (logsumexp - logsumexp))
    for start_1 in range(0, D, BLOCK_R):
        r = (start_1 + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside_1 = (r < D) | (EVEN_R == 1)
        inside_1 = row_inside & r_inside_1
        x_1 = tl.load(x_ptr + row * x_stride + r, mask=inside_1, other=0.0).to(tl.float32)
        out = x_1 - logsumexp - t
        tl.store(
            out_ptr + row * out_stride + r, out.to(out_ptr.dtype.element_ty), mask=inside_1
        )


@triton.jit
def t_float64_part_1_looped_kernel_largest(
    a, b,
):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def t_float64_part_1_looped_kernel(
    x_ptr, part_1_ptr, part_2_ptr, rest, q_4, x_stride, rest_1, D,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i = row % rest
    part = row // rest
    logsumexp_so_far = tl.full((BLOCK_X, 1), -float("inf"), tl.float64)
    logsumexp_so_far_1 = tl.full((BLOCK_X, 1), 0.0, tl.float64)
    row_inside = (row < rest_1) | (EVEN_X == 1)
    for start in range(0, q_4, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < q_4) | (EVEN_R == 1)
        inside = row_inside & r_inside
        t = part * q_4 + r < D
        x = tl.load(x_ptr + i * x_stride + part * q_4 + r, mask=inside & t, other=-float("inf"))
        lanes = tl.where(r_inside, x, -float("inf"))
        lanes_1 = tl.where(r_inside, tl.where(t, tl.full((1, 1), 1.0, tl.float64), 0.0), 0.0)
        most = tl.reduce(
            lanes, axis=1, combine_fn=t_float64_part_1_looped_kernel_largest, keep_dims=True
        )
        finite = tl.where(tl.abs(most) == float("inf"), 0.0, most)
        turn = most
        turn_1 = tl.sum(lanes_1 * tl.exp(lanes - finite), axis=1, keep_dims=True)
        most_1 = tl.maximum(logsumexp_so_far, turn, propagate_nan=tl.PropagateNan.ALL)
        finite_1 = tl.where(tl.abs(most_1) == float("inf"), 0.0, most_1)
        next = logsumexp_so_far_1 * tl.exp(
            logsumexp_so_far - finite_1
        ) + turn_1 * tl.exp(turn - finite_1)
        logsumexp_so_far = most_1
        logsumexp_so_far_1 = next
    logsumexp = logsumexp_so_far
    logsumexp_1 = logsumexp_so_far_1
    tl.store(part_1_ptr + row, logsumexp, mask=row_inside)
    tl.store(part_2_ptr + row, logsumexp_1, mask=row_inside)


@triton.jit
def t_float64_part_3_kernel(
    x_ptr, out_ptr, part_3_ptr, part_4_ptr, D, x_stride, rest, out_stride,
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
    part_3 = tl.load(part_3_ptr + row, mask=row_inside, other=0.0)
    part_4 = tl.load(part_4_ptr + row, mask=row_inside, other=0.0)
    out = x - part_3 - tl.log(part_4 + (part_3 - part_3))
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
    logsumexp_so_far = tl.full((BLOCK_X, 1), -float("inf"), tl.float64)
    logsumexp_so_far_1 = tl.full((BLOCK_X, 1), 0.0, tl.float64)
    row_inside = (row < rest) | (EVEN_X == 1)
    for start in range(0, D, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < D) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0)
        lanes = tl.where(r_inside, x, -float("inf"))
        lanes_1 = tl.where(r_inside, tl.full((1, 1), 1.0, tl.float64), 0.0)
        most = tl.max(lanes, axis=1, keep_dims=True)
        finite = tl.where(tl.abs(most) == float("inf"), 0.0, most)
        turn = most
        turn_1 = tl.sum(lanes_1 * tl.exp(lanes - finite), axis=1, keep_dims=True)
        most_1 = tl.maximum(logsumexp_so_far, turn)
        finite_1 = tl.where(tl.abs(most_1) == float("inf"), 0.0, most_1)
        next = logsumexp_so_far_1 * tl.exp(
            logsumexp_so_far - finite_1
        ) + turn_1 * tl.exp(turn - finite_1)
        logsumexp_so_far = most_1
        logsumexp_so_far_1 = next
    logsumexp = logsumexp_so_far
    logsumexp_1 = logsumexp_so_far_1
    t = tl.log(logsumexp_1 + (logsumexp - logsumexp))
    for start_1 in range(0, D, BLOCK_R):
        r = (start_1 + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside_1 = (r < D) | (EVEN_R == 1)
        inside_1 = row_inside & r_inside_1
        x_1 = tl.load(x_ptr + row * x_stride + r, mask=inside_1, other=0.0)
        out = x_1 - logsumexp - t
        tl.store(out_ptr + row * out_stride + r, out, mask=inside_1)
