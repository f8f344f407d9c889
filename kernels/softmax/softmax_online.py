# SPDX-License-Identifier: Apache-2.0
# Softmax over the last dimension in two walks: the first one keeps a running maximum and a running
# sum in each lane. When the maximum grows from m to m', the sum of powers exp(x - m) becomes one of
# exp(x - m') by the factor exp(m - m'), which is at most 1, so that nothing overflows. Lanes are
# joined by the same rule at the end of the walk.
import triton
import triton.language as tl


@triton.jit
def softmax_online(x, out, x_stride, out_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * x_stride
    out += row * out_stride
    lanes = tl.arange(0, BLOCK)

    largest = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        value = tl.load(x + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(largest, value)
        shift = tl.where(higher == -float("inf"), 0.0, higher)  # -inf - -inf is no number
        total = total * tl.exp(largest - shift) + tl.exp(value - shift)
        largest = higher
    top = tl.max(largest, axis=0)
    # A lane without a finite number has a sum of 0, whatever its maximum is.
    scale = 1.0 / tl.sum(total * tl.exp(largest - top), axis=0)

    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        mask = cols < n_cols
        value = tl.load(x + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(out + cols, tl.exp(value - top) * scale, mask=mask)


def launch(x, block=1024):
    """Upstream's way of calling the kernel, on a torch matrix whose rows are contiguous."""
    import torch

    out = torch.empty_like(x)
    n_rows, n_cols = x.shape
    softmax_online[(n_rows,)](x, out, x.stride(0), out.stride(0), n_cols, BLOCK=block)
    return out
