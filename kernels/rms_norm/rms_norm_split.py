# SPDX-License-Identifier: Apache-2.0
# RMS norm of rows that are too long for one program to hold: PARTS programs hold a part of ROWS rows
# each, so that the rows are read once, and the weight once for ROWS of them. Each tells the others
# its sum of squares, waits until all have told theirs, and scales what it holds. The counter of a
# group of rows only grows: it is 0 before the first launch, and a launch that follows needs no
# other. PARTS is a power of 2, the same in all launches that share counters.
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
def rms_norm_split(x, weight, out, partial, counter, row_stride, n_rows, n_cols, eps,
                   PARTS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    group = (tl.program_id(0) // PARTS).to(tl.int64)
    part = tl.program_id(0) % PARTS
    lines = tl.arange(0, ROWS)
    rows = group * ROWS + lines
    cols = part * BLOCK + tl.arange(0, BLOCK)
    inside = cols < n_cols
    mask = (rows[:, None] < n_rows) & inside[None, :]
    places = rows[:, None] * row_stride + cols[None, :]
    value = tl.load(x + places, mask=mask, other=0.0).to(tl.float32)
    partial += group * (ROWS * PARTS)
    tl.store(partial + lines * PARTS + part, tl.sum(value * value, axis=1))
    scale = tl.load(weight + cols, mask=inside, other=0.0).to(tl.float32)
    meet(counter + group, PARTS)
    told = lines[:, None] * PARTS + tl.arange(0, PARTS)[None, :]
    squares = tl.sum(tl.load(partial + told, cache_modifier=".cg"), axis=1)
    rstd = 1.0 / tl.sqrt(squares / n_cols + eps)
    tl.store(out + places, value * rstd[:, None] * scale[None, :], mask=mask)


def launch(x, weight, eps=1e-6, parts=16, rows=2):
    """Upstream's way of calling the kernel, on a contiguous torch matrix."""
    import torch

    out = torch.empty_like(x)
    n_rows, n_cols = x.shape
    groups = triton.cdiv(n_rows, rows)
    partial = torch.empty(groups, rows * parts, device=x.device, dtype=torch.float32)
    counter = torch.zeros(groups, device=x.device, dtype=torch.int32)
    block = triton.next_power_of_2(triton.cdiv(n_cols, parts))
    rms_norm_split[(groups * parts,)](
        x, weight, out, partial, counter, x.stride(0), n_rows, n_cols, eps, PARTS=parts,
        ROWS=rows, BLOCK=block, num_warps=max(1, rows * block // 2048))
    return out
