# SPDX-License-Identifier: Apache-2.0
# Softmax over rows that are too long to hold: one program walks the beginning of its row twice, in
# pieces of BLOCK columns, and holds the last HELD columns, at least a piece, from one walk to the
# next. Each lane has WIDTH neighbours of a piece, and keeps a maximum and a sum of its own while
# the first walk goes on, so that lanes need each other once a row. The second walk goes back to
# front: what the first one read last is still in cache. Differences are taken before they are
# scaled for powers of 2: a multiply-add of a huge value and a rounded maximum may leave anything.
import triton
import triton.language as tl


@triton.jit
def softmax_long(x, out, x_stride, out_stride, n_cols, BLOCK: tl.constexpr, HELD: tl.constexpr,
                 WIDTH: tl.constexpr):
    tl.static_assert(BLOCK <= HELD)  # no piece passes the end of the row
    LOG2_E: tl.constexpr = 1.4426950408889634
    LANES: tl.constexpr = BLOCK // WIDTH
    row = tl.program_id(0).to(tl.int64)
    x += row * x_stride
    out += row * out_stride
    places = tl.arange(0, LANES)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    walked = tl.cdiv(tl.maximum(n_cols - HELD, 0), BLOCK) * BLOCK

    largest = tl.full((LANES,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((LANES,), dtype=tl.float32)
    for start in range(0, walked, BLOCK):
        value = tl.load(x + (start + places), eviction_policy="evict_last").to(tl.float32)
        higher = tl.maximum(largest, tl.max(value, axis=1))
        shift = tl.where(higher == -float("inf"), 0.0, higher)  # -inf - -inf is no number
        power = tl.exp2((value - shift[:, None]) * LOG2_E)
        total = total * tl.exp2((largest - shift) * LOG2_E) + tl.sum(power, axis=1)
        largest = higher

    ends = walked + tl.arange(0, HELD)
    inside = ends < n_cols
    held = tl.load(x + ends, mask=inside, other=-float("inf"),
                   eviction_policy="evict_first").to(tl.float32)
    shift = tl.maximum(tl.max(largest, axis=0), tl.max(held, axis=0))
    held = tl.exp2((held - shift) * LOG2_E)
    total *= tl.exp2((largest - shift) * LOG2_E)
    scale = 1.0 / (tl.sum(total, axis=0) + tl.sum(held, axis=0))
    tl.store(out + ends, held * scale, mask=inside, eviction_policy="evict_first")

    columns = tl.arange(0, BLOCK)
    for back in range(0, walked, BLOCK):
        cols = walked - BLOCK - back + columns
        value = tl.load(x + cols, eviction_policy="evict_first").to(tl.float32)
        tl.store(out + cols, tl.exp2((value - shift) * LOG2_E) * scale,
                 eviction_policy="evict_first")


def launch(x, block=16384, held=16384):
    """Upstream's way of calling the kernel, on a torch matrix whose rows are contiguous."""
    import torch

    out = torch.empty_like(x)
    n_rows, n_cols = x.shape
    softmax_long[(n_rows,)](x, out, x.stride(0), out.stride(0), n_cols, BLOCK=block, HELD=held,
                            WIDTH=16 // x.element_size(), num_warps=32)
    return out
