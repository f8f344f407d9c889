# SPDX-License-Identifier: Apache-2.0
# Root-mean-square normalisation over the last dimension of a matrix, with weight. One program owns
# one row and holds it whole; BLOCK is the row length rounded up to a power of two.
import triton
import triton.language as tl


@triton.jit
def rms_norm(x, weight, out, row_stride, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    value = tl.load(x + row * row_stride + cols, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(value * value, axis=0) / n_cols + eps)
    scale = tl.load(weight + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * row_stride + cols, value * rstd * scale, mask=mask)


def launch(x, weight, eps=1e-6):
    """Upstream's way of calling the kernel, on a contiguous torch matrix."""
    import torch

    out = torch.empty_like(x)
    n_rows, n_cols = x.shape
    block = triton.next_power_of_2(n_cols)
    rms_norm[(n_rows,)](x, weight, out, x.stride(0), n_cols, eps, BLOCK=block)
    return out
