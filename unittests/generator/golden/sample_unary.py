@triton.jit
def t_float16_kernel(
    x_ptr, out_ptr, rest_D,
    BLOCK_Y: tl.constexpr, EVEN_Y: tl.constexpr, WIDE: tl.constexpr,
):
    pid_col = tl.program_id(axis=0)
    if WIDE:
        pid_col = pid_col.to(tl.int64)
    col = pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y)
    inside = (col < rest_D) | (EVEN_Y == 1)
    x = tl.load(x_ptr + col, mask=inside, other=0.0).to(tl.float32)
    t = -tl.abs(
        tl.floor(x)
    ) + tl.sqrt(x) * tl.exp(x) - tl.log(x) / libdevice.pow(tl.sin(x), tl.cos(x)) + libdevice.tanh(x) * tl.erf(x)
    out = t - libdevice.expm1(x) * (x - libdevice.log1p(x)) / tl.sigmoid(x)
    tl.store(out_ptr + col, out.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def t_float64_kernel(
    x_ptr, out_ptr, rest_D,
    BLOCK_Y: tl.constexpr, EVEN_Y: tl.constexpr, WIDE: tl.constexpr,
):
    pid_col = tl.program_id(axis=0)
    if WIDE:
        pid_col = pid_col.to(tl.int64)
    col = pid_col * BLOCK_Y + tl.arange(0, BLOCK_Y)
    inside = (col < rest_D) | (EVEN_Y == 1)
    x = tl.load(x_ptr + col, mask=inside, other=0.0)
    t = -tl.abs(
        tl.floor(x)
    ) + tl.sqrt(x) * tl.exp(x) - tl.log(x) / libdevice.pow(tl.sin(x), tl.cos(x)) + libdevice.tanh(x) * tl.erf(x)
    out = t - libdevice.expm1(x) * (x - libdevice.log1p(x)) / tl.sigmoid(x)
    tl.store(out_ptr + col, out, mask=inside)
