# SPDX-License-Identifier: Apache-2.0
# Rows of a table by indices: out[t, :] = weight[index[t], :]. One program copies one row.
import triton
import triton.language as tl


@triton.jit
def embedding(index, weight, out, n_cols, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    row = tl.load(index + token).to(tl.int64)
    value = tl.load(weight + row * n_cols + cols, mask=mask)
    tl.store(out + token * n_cols + cols, value, mask=mask)


def launch(index, weight):
    """Upstream's way of calling the kernel, on a contiguous torch matrix of weights."""
    import torch

    n_cols = weight.shape[1]
    out = torch.empty((index.numel(), n_cols), dtype=weight.dtype, device=weight.device)
    block = triton.next_power_of_2(n_cols)
    embedding[(index.numel(),)](index, weight, out, n_cols, BLOCK=block)
    return out
