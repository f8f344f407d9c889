# SPDX-License-Identifier: Apache-2.0
# Root-mean-square normalisation of rows that are too long to hold: one program walks the beginning
# of its row twice, in pieces of BLOCK columns, and holds the last HELD columns, at least a piece,
# from one walk to the next. The second walk goes back to front: what the first one read last is
# still in cache.
import triton
import triton.language as tl


@triton.jit
def rms_norm_long(x, weight, out, row_stride, n_cols, eps, BLOCK: tl.constexpr, HELD: tl.constexpr):
    tl.static_assert(BLOCK <= HELD)  # no piece passes the end of the row
    row = tl.program_id(0).to(tl.int64)
    x += row * row_stride
    out += row * row_stride
    columns = tl.arange(0, BLOCK)
    walked = tl.cdiv(tl.maximum(n_cols - HELD, 0), BLOCK) * BLOCK

    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, walked, BLOCK):
        value = tl.load(x + (start + columns), eviction_policy="evict_last").to(tl.float32)
        squares += value * value

    ends = walked + tl.arange(0, HELD)
    inside = ends < n_cols
    held = tl.load(x + ends, mask=inside, other=0.0, eviction_policy="evict_first").to(tl.float32)
    total = tl.sum(squares, axis=0) + tl.sum(held * held, axis=0)
    rstd = tl.rsqrt(total / n_cols + eps)
    gain = tl.load(weight + ends, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + ends, held * rstd * gain, mask=inside, eviction_policy="evict_first")

    for back in range(0, walked, BLOCK):
        cols = walked - BLOCK - back + columns
        value = tl.load(x + cols, eviction_policy="evict_first").to(tl.float32)
        scale = tl.load(weight + cols).to(tl.float32)
        tl.store(out + cols, value * rstd * scale, eviction_policy="evict_first")


def launch(x, weight, eps=1e-6, block=8192, held=32768):
    """Upstream's way of calling the kernel, on a contiguous torch matrix."""
    import torch

    out = torch.empty_like(x)
    n_rows, n_cols = x.shape
    rms_norm_long[(n_rows,)](x, weight, out, x.stride(0), n_cols, eps, BLOCK=block, HELD=held,
                             num_warps=32)
    return out
