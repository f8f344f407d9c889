# SPDX-License-Identifier: Apache-2.0
# Running sums along each row of a matrix. One program walks one row block by block and carries the
# sum of what is behind it, so rows may have any length.
import triton
import triton.language as tl


@triton.jit
def cumsum(x, out, x_stride, out_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * x_stride
    out += row * out_stride
    before = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        value = tl.load(x + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(out + cols, before + tl.cumsum(value, axis=0), mask=mask)
        before += tl.sum(value, axis=0)


def launch(x):
    """Upstream's way of calling the kernel, on a torch matrix whose rows are contiguous."""
    import torch

    out = torch.empty_like(x)
    n_rows, n_cols = x.shape
    cumsum[(n_rows,)](x, out, x.stride(0), out.stride(0), n_cols, BLOCK=1024)
    return out
