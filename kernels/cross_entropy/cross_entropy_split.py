# SPDX-License-Identifier: Apache-2.0
# Cross entropy of rows that are too long for one program to hold: PARTS programs read a part of the
# row each and tell its maximum and the sum around it; the one that comes last joins them, so that
# nobody waits. The counter of a row only grows: it is 0 before the first launch, and a launch that
# follows needs no other. PARTS is a power of 2, the same in all launches that share counters.
import triton
import triton.language as tl


@triton.jit
def cross_entropy_split(x, target, loss, partial, counter, x_stride, n_cols, ignore_index,
                        PARTS: tl.constexpr, BLOCK: tl.constexpr):
    row = (tl.program_id(0) // PARTS).to(tl.int64)
    part = tl.program_id(0) % PARTS
    cols = part * BLOCK + tl.arange(0, BLOCK)
    x += row * x_stride
    value = tl.load(x + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
    largest = tl.max(value, axis=0)
    shift = tl.where(largest == -float("inf"), 0.0, largest)  # -inf - -inf is no number
    partial += row * (2 * PARTS)
    tl.store(partial + part, largest)
    tl.store(partial + PARTS + part, tl.sum(tl.exp(value - shift), axis=0))
    if tl.atomic_add(counter + row, 1, sem="acq_rel") % PARTS == PARTS - 1:
        parts = tl.arange(0, PARTS)
        maxima = tl.load(partial + parts, cache_modifier=".cg")
        sums = tl.load(partial + PARTS + parts, cache_modifier=".cg")
        top = tl.max(maxima, axis=0)
        log_total = tl.log(tl.sum(sums * tl.exp(maxima - top), axis=0))
        wanted = tl.load(target + row)
        if wanted == ignore_index:
            tl.store(loss + row, 0.0)
        else:
            tl.store(loss + row, log_total - (tl.load(x + wanted).to(tl.float32) - top))


def launch(x, target, ignore_index=-100, parts=8):
    """Upstream's way of calling the kernel, on a torch matrix whose rows are contiguous."""
    import torch

    n_rows, n_cols = x.shape
    loss = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    partial = torch.empty(n_rows, 2 * parts, dtype=torch.float32, device=x.device)
    counter = torch.zeros(n_rows, dtype=torch.int32, device=x.device)
    block = triton.next_power_of_2(triton.cdiv(n_cols, parts))
    cross_entropy_split[(n_rows * parts,)](
        x, target, loss, partial, counter, x.stride(0), n_cols, ignore_index, PARTS=parts,
        BLOCK=block, num_warps=max(1, block // 2048))
    return loss
