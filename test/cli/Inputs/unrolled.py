# Loops that are unrolled, with bodies of some size.
import triton
import triton.language as tl


@triton.jit
def scores(x, w, out, n_blocks, stride, BLOCKS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    weight = tl.load(w + o)
    found = tl.zeros((BLOCKS,), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in tl.static_range(BLOCKS):
        if i < n_blocks:
            v = tl.load(x + (row * n_blocks + i) * stride + o, mask=o < stride, other=0.0)
            rstd = tl.rsqrt(tl.sum(v * v) / stride + 1e-6)
            score = tl.sum(v * rstd * weight)
            found = tl.where(tl.arange(0, BLOCKS) == i, score, found)
            total += v * score
    tl.store(out + row * (BLOCKS + BLOCK) + tl.arange(0, BLOCKS), found)
    tl.store(out + row * (BLOCKS + BLOCK) + BLOCKS + o, total)


@triton.jit
def taps(x, w, out, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in tl.static_range(7):
        total += tl.load(x + o + i) * tl.load(w + i)
    tl.store(out + o, total)
