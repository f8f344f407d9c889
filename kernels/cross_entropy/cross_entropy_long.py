# SPDX-License-Identifier: Apache-2.0
# Cross entropy of rows that are too long to hold: one program walks its row once, in pieces of
# BLOCK columns. Each lane has WIDTH neighbours of a piece, and keeps a maximum and a sum of its own
# while the walk goes on, so that lanes need each other once a row. Differences are taken before they
# are scaled for powers of 2: a maximum far from 0 costs the loss no digits.
import triton
import triton.language as tl


@triton.jit
def cross_entropy_long(x, target, loss, x_stride, n_cols, ignore_index, BLOCK: tl.constexpr,
                       WIDTH: tl.constexpr):
    LOG2_E: tl.constexpr = 1.4426950408889634
    LANES: tl.constexpr = BLOCK // WIDTH
    row = tl.program_id(0).to(tl.int64)
    x += row * x_stride
    wanted = tl.load(target + row)
    places = tl.arange(0, LANES)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]

    largest = tl.full((LANES,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((LANES,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + places
        value = tl.load(x + cols, mask=cols < n_cols, other=-float("inf"),
                        eviction_policy="evict_first").to(tl.float32)
        higher = tl.maximum(largest, tl.max(value, axis=1))
        shift = tl.where(higher == -float("inf"), 0.0, higher)  # -inf - -inf is no number
        power = tl.exp2((value - shift[:, None]) * LOG2_E)
        total = total * tl.exp2((largest - shift) * LOG2_E) + tl.sum(power, axis=1)
        largest = higher
    # Asked for in front of what lanes need each other for, so that both wait at once.
    is_row = wanted != ignore_index
    logit = tl.load(x + wanted, mask=is_row, other=0.0).to(tl.float32)
    shift = tl.max(largest, axis=0)
    log_total = tl.log(tl.sum(total * tl.exp2((largest - shift) * LOG2_E), axis=0))
    tl.store(loss + row, tl.where(is_row, log_total - (logit - shift), 0.0))


def launch(x, target, ignore_index=-100, block=16384):
    """Upstream's way of calling the kernel, on a torch matrix whose rows are contiguous."""
    import torch

    n_rows, n_cols = x.shape
    loss = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    cross_entropy_long[(n_rows,)](x, target, loss, x.stride(0), n_cols, ignore_index, BLOCK=block,
                                  WIDTH=16 // x.element_size(), num_warps=32)
    return loss
