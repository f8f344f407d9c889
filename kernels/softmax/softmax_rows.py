# SPDX-License-Identifier: Apache-2.0
# Softmax over the last dimension of short rows: one program holds ROWS whole rows, so that a row of
# few columns does not leave most of its lanes, or most of a launch, without work. The rows of a
# program are reduced side by side, each along its own line of the tile.
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, out, x_stride, out_stride, n_rows, n_cols, ROWS: tl.constexpr,
                 BLOCK: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    value = tl.load(x + rows[:, None] * x_stride + cols[None, :], mask=mask,
                    other=-float("inf")).to(tl.float32)
    top = tl.max(value, axis=1)
    # Rows beyond the last one have no finite number; they are not stored.
    numerator = tl.exp(value - top[:, None])
    denominator = tl.sum(numerator, axis=1)
    tl.store(out + rows[:, None] * out_stride + cols[None, :], numerator / denominator[:, None],
             mask=mask)


def launch(x, rows=16):
    """Upstream's way of calling the kernel, on a torch matrix whose rows are contiguous."""
    import torch

    out = torch.empty_like(x)
    n_rows, n_cols = x.shape
    softmax_rows[(triton.cdiv(n_rows, rows),)](
        x, out, x.stride(0), out.stride(0), n_rows, n_cols, ROWS=rows,
        BLOCK=triton.next_power_of_2(n_cols))
    return out
