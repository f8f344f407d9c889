# SPDX-License-Identifier: Apache-2.0
# The K largest elements of each row of a matrix, largest first; K is a power of two. One program
# owns one row and holds it whole; columns beyond the row load -inf, which is never among them
# unless the row is shorter than K.
import triton
import triton.language as tl


@triton.jit
def topk(x, out, x_stride, out_stride, n_cols, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    value = tl.load(x + row * x_stride + cols, mask=cols < n_cols, other=-float("inf"))
    tl.store(out + row * out_stride + tl.arange(0, K), tl.topk(value, K))


def launch(x, k):
    """Upstream's way of calling the kernel, on a torch matrix whose rows are contiguous."""
    import torch

    n_rows, n_cols = x.shape
    out = torch.empty((n_rows, k), dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(n_cols)
    topk[(n_rows,)](x, out, x.stride(0), out.stride(0), n_cols, K=k, BLOCK=block)
    return out
