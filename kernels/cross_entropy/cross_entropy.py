# SPDX-License-Identifier: Apache-2.0
# Cross entropy of each row of logits with one class index per row: log(sum(exp(x))) - x[target].
# One program owns one row and holds it whole. The row's maximum is taken from x[target], not added to
# the logarithm, where a small loss beside a large maximum would be lost. A row whose target is
# ignore_index has no loss.
import triton
import triton.language as tl


@triton.jit
def cross_entropy(x, target, loss, x_stride, n_cols, ignore_index, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x += row * x_stride
    # What the end needs is asked for beside the row, so that nothing is waited for there.
    wanted = tl.load(target + row)
    value = tl.load(x + cols, mask=mask, other=-float("inf")).to(tl.float32)
    is_row = wanted != ignore_index
    logit = tl.load(x + wanted, mask=is_row, other=0.0).to(tl.float32)
    largest = tl.max(value, axis=0)
    log_total = tl.log(tl.sum(tl.exp(value - largest), axis=0))
    tl.store(loss + row, tl.where(is_row, log_total - (logit - largest), 0.0))


def launch(x, target, ignore_index=-100):
    """Upstream's way of calling the kernel, on a torch matrix whose rows are contiguous."""
    import torch

    n_rows, n_cols = x.shape
    loss = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    block = triton.next_power_of_2(n_cols)
    cross_entropy[(n_rows,)](
        x, target, loss, x.stride(0), n_cols, ignore_index, BLOCK=block
    )
    return loss
