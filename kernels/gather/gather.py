# SPDX-License-Identifier: Apache-2.0
# Picks elements of each row by indices: out[r, j] = x[r, index[r, j]]. One program owns a block of
# one row of the indices.
import triton
import triton.language as tl


@triton.jit
def gather(x, index, out, x_stride, out_stride, n_out, BLOCK: tl.constexpr):
    row = tl.program_id(1).to(tl.int64)
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_out
    picked = tl.load(index + row * out_stride + cols, mask=mask, other=0)
    value = tl.load(x + row * x_stride + picked, mask=mask)
    tl.store(out + row * out_stride + cols, value, mask=mask)


def launch(x, index):
    """Upstream's way of calling the kernel, on torch matrices whose rows are contiguous."""
    import torch

    out = torch.empty(index.shape, dtype=x.dtype, device=x.device)
    n_rows, n_out = index.shape
    gather[(triton.cdiv(n_out, 1024), n_rows)](
        x, index, out, x.stride(0), index.stride(0), n_out, BLOCK=1024
    )
    return out
