@triton.jit
def t_float16_part_1_looped_kernel(
    x_ptr, b_ptr, part_1_ptr, C, N, q_6, H_W, C_x_stride, x_stride, N_C,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i_1 = row % C
    row_rest = row // C
    i = row_rest % N
    part = row_rest // N
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0.0, tl.float32)
    row_inside = (row < N_C) | (EVEN_X == 1)
    b = tl.load(b_ptr + i_1, mask=row_inside, other=0.0).to(tl.float32)
    for start in range(0, q_6, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < q_6) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(
            x_ptr + i * C_x_stride + i_1 * x_stride + part * q_6 + r,
            mask=inside & (part * q_6 + r < H_W),
            other=0.0,
        ).to(tl.float32)
        lanes = tl.where(r_inside, tl.where(part * q_6 + r < H_W, x * b, 0.0), 0.0)
        sum_lanes = sum_lanes + lanes
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    tl.store(part_1_ptr + row, sum, mask=row_inside)


@triton.jit
def t_float16_part_2_kernel(
    out_ptr, part_1_ptr, C, N_C, N, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    BLOCK_Y: tl.constexpr, EVEN_Y: tl.constexpr, WIDE: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    blocks_col = tl.cdiv(C, BLOCK_Y)
    pid_col = pid % blocks_col
    pid_row = pid // blocks_col
    if WIDE:
        pid_row = pid_row.to(tl.int64)
        pid_col = pid_col.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None, None]
    r = tl.arange(0, BLOCK_R)[None, :, None]
    if WIDE:
        r = r.to(tl.int64)
    col = (pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y))[None, None, :]
    row_inside = (row < N) | (EVEN_X == 1)
    r_inside = (r < 64) | (EVEN_R == 1)
    col_inside = (col < C) | (EVEN_Y == 1)
    inside = row_inside & r_inside & col_inside
    part_1 = tl.load(part_1_ptr + row * C + col + r * N_C, mask=inside, other=0.0)
    out = tl.sum(part_1, axis=1, keep_dims=True)
    inside_1 = row_inside & col_inside
    tl.store(out_ptr + row * out_stride + col, out.to(out_ptr.dtype.element_ty), mask=inside_1)


@triton.jit
def t_float16_kernel(
    x_ptr, b_ptr, out_ptr, C, x_stride, N_C, H_W, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i_1 = row % C
    i = row // C
    r = tl.arange(0, BLOCK_R)[None, :]
    if WIDE:
        r = r.to(tl.int64)
    row_inside = (row < N_C) | (EVEN_X == 1)
    r_inside = (r < H_W) | (EVEN_R == 1)
    inside = row_inside & r_inside
    x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + i_1, mask=row_inside, other=0.0).to(tl.float32)
    lanes = tl.where(r_inside, x * b, 0.0)
    out = tl.sum(lanes, axis=1, keep_dims=True)
    tl.store(out_ptr + i * out_stride + i_1, out.to(out_ptr.dtype.element_ty), mask=row_inside)


@triton.jit
def t_float16_looped_kernel(
    x_ptr, b_ptr, out_ptr, C, H_W, x_stride, N_C, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i_1 = row % C
    i = row // C
    out_lanes = tl.full((BLOCK_X, BLOCK_R), 0.0, tl.float32)
    row_inside = (row < N_C) | (EVEN_X == 1)
    b = tl.load(b_ptr + i_1, mask=row_inside, other=0.0).to(tl.float32)
    for start in range(0, H_W, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < H_W) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0).to(tl.float32)
        lanes = tl.where(r_inside, x * b, 0.0)
        out_lanes = out_lanes + lanes
    out = tl.sum(out_lanes, axis=1, keep_dims=True)
    tl.store(out_ptr + i * out_stride + i_1, out.to(out_ptr.dtype.element_ty), mask=row_inside)


@triton.jit
def t_float64_part_1_looped_kernel(
    x_ptr, b_ptr, part_1_ptr, C, N, q_6, H_W, C_x_stride, x_stride, N_C,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i_1 = row % C
    row_rest = row // C
    i = row_rest % N
    part = row_rest // N
    sum_lanes = tl.full((BLOCK_X, BLOCK_R), 0.0, tl.float64)
    row_inside = (row < N_C) | (EVEN_X == 1)
    b = tl.load(b_ptr + i_1, mask=row_inside, other=0.0)
    for start in range(0, q_6, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < q_6) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(
            x_ptr + i * C_x_stride + i_1 * x_stride + part * q_6 + r,
            mask=inside & (part * q_6 + r < H_W),
            other=0.0,
        )
        lanes = tl.where(r_inside, tl.where(part * q_6 + r < H_W, x * b, 0.0), 0.0)
        sum_lanes = sum_lanes + lanes
    sum = tl.sum(sum_lanes, axis=1, keep_dims=True)
    tl.store(part_1_ptr + row, sum, mask=row_inside)


@triton.jit
def t_float64_part_2_kernel(
    out_ptr, part_1_ptr, C, N_C, N, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    BLOCK_Y: tl.constexpr, EVEN_Y: tl.constexpr, WIDE: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    blocks_col = tl.cdiv(C, BLOCK_Y)
    pid_col = pid % blocks_col
    pid_row = pid // blocks_col
    if WIDE:
        pid_row = pid_row.to(tl.int64)
        pid_col = pid_col.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None, None]
    r = tl.arange(0, BLOCK_R)[None, :, None]
    if WIDE:
        r = r.to(tl.int64)
    col = (pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y))[None, None, :]
    row_inside = (row < N) | (EVEN_X == 1)
    r_inside = (r < 64) | (EVEN_R == 1)
    col_inside = (col < C) | (EVEN_Y == 1)
    inside = row_inside & r_inside & col_inside
    part_1 = tl.load(part_1_ptr + row * C + col + r * N_C, mask=inside, other=0.0)
    out = tl.sum(part_1, axis=1, keep_dims=True)
    inside_1 = row_inside & col_inside
    tl.store(out_ptr + row * out_stride + col, out, mask=inside_1)


@triton.jit
def t_float64_kernel(
    x_ptr, b_ptr, out_ptr, C, x_stride, N_C, H_W, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i_1 = row % C
    i = row // C
    r = tl.arange(0, BLOCK_R)[None, :]
    if WIDE:
        r = r.to(tl.int64)
    row_inside = (row < N_C) | (EVEN_X == 1)
    r_inside = (r < H_W) | (EVEN_R == 1)
    inside = row_inside & r_inside
    x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0)
    b = tl.load(b_ptr + i_1, mask=row_inside, other=0.0)
    lanes = tl.where(r_inside, x * b, 0.0)
    out = tl.sum(lanes, axis=1, keep_dims=True)
    tl.store(out_ptr + i * out_stride + i_1, out, mask=row_inside)


@triton.jit
def t_float64_looped_kernel(
    x_ptr, b_ptr, out_ptr, C, H_W, x_stride, N_C, out_stride,
    BLOCK_X: tl.constexpr, EVEN_X: tl.constexpr, BLOCK_R: tl.constexpr, EVEN_R: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid_row = tl.program_id(axis=0)
    if WIDE:
        pid_row = pid_row.to(tl.int64)
    row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None]
    i_1 = row % C
    i = row // C
    out_lanes = tl.full((BLOCK_X, BLOCK_R), 0.0, tl.float64)
    row_inside = (row < N_C) | (EVEN_X == 1)
    b = tl.load(b_ptr + i_1, mask=row_inside, other=0.0)
    for start in range(0, H_W, BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R))[None, :]
        if WIDE:
            r = r.to(tl.int64)
        r_inside = (r < H_W) | (EVEN_R == 1)
        inside = row_inside & r_inside
        x = tl.load(x_ptr + row * x_stride + r, mask=inside, other=0.0)
        lanes = tl.where(r_inside, x * b, 0.0)
        out_lanes = out_lanes + lanes
    out = tl.sum(out_lanes, axis=1, keep_dims=True)
    tl.store(out_ptr + i * out_stride + i_1, out, mask=row_inside)
