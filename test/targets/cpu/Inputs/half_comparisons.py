import triton
import triton.language as tl


@triton.jit
def relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(out + i, tl.where(a < 0.0, 0.0, a).to(tl.float16), mask=i < n)


@triton.jit
def truncated(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=0.0)
    b = tl.load(y + i, mask=i < n, other=0.0)
    tl.store(out + i, tl.floor(tl.where(a > b, a.to(tl.float32), 1.0)).to(tl.float16), mask=i < n)
