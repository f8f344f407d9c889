# SPDX-License-Identifier: Apache-2.0
# Softmax over rows that are too long for one program to hold: PARTS programs hold a part of the row
# each, so that it is read once. Each tells the others its maximum and its sum around it, waits until
# all have told theirs, and scales what it holds. The counter of a row only grows: it is 0 before the
# first launch, and a launch that follows needs no other. PARTS is a power of 2, the same in all
# launches that share counters.
import triton
import triton.language as tl


@triton.jit
def meet(counter, PARTS: tl.constexpr):
    """Waits until PARTS programs have come here, whose stores are seen then."""
    came = tl.atomic_add(counter, 1, sem="acq_rel")
    goal = (came // PARTS + 1) * PARTS
    seen = tl.atomic_add(counter, 0, sem="acquire")
    while seen < goal:
        seen = tl.atomic_add(counter, 0, sem="acquire")


@triton.jit
def softmax_split(x, out, partial, counter, x_stride, out_stride, n_cols, PARTS: tl.constexpr,
                  BLOCK: tl.constexpr):
    LOG2_E: tl.constexpr = 1.4426950408889634
    row = (tl.program_id(0) // PARTS).to(tl.int64)
    part = tl.program_id(0) % PARTS
    cols = part * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    value = tl.load(x + row * x_stride + cols, mask=mask, other=-float("inf")).to(tl.float32)
    largest = tl.max(value, axis=0)
    shift = tl.where(largest == -float("inf"), 0.0, largest)  # -inf - -inf is no number
    power = tl.exp2((value - shift) * LOG2_E)
    partial += row * (2 * PARTS)
    tl.store(partial + part, largest)
    tl.store(partial + PARTS + part, tl.sum(power, axis=0))
    meet(counter + row, PARTS)
    parts = tl.arange(0, PARTS)
    maxima = tl.load(partial + parts, cache_modifier=".cg")
    sums = tl.load(partial + PARTS + parts, cache_modifier=".cg")
    top = tl.max(maxima, axis=0)
    total = tl.sum(sums * tl.exp2((maxima - top) * LOG2_E), axis=0)
    scale = tl.exp2((shift - top) * LOG2_E) / total
    tl.store(out + row * out_stride + cols, power * scale, mask=mask)


def launch(x, parts=8):
    """Upstream's way of calling the kernel, on a torch matrix whose rows are contiguous."""
    import torch

    out = torch.empty_like(x)
    n_rows, n_cols = x.shape
    partial = torch.empty(n_rows, 2 * parts, device=x.device, dtype=torch.float32)
    counter = torch.zeros(n_rows, device=x.device, dtype=torch.int32)
    block = triton.next_power_of_2(triton.cdiv(n_cols, parts))
    softmax_split[(n_rows * parts,)](x, out, partial, counter, x.stride(0), out.stride(0), n_cols,
                                     PARTS=parts, BLOCK=block, num_warps=max(1, block // 2048))
    return out
