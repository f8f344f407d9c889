# SPDX-License-Identifier: Apache-2.0
# Gradients of functions of rows that are too long for one program to hold: PARTS programs hold a
# part of the row each, so that it is read once; they tell each other their sums and wait for those
# of the others. The counter of a row only grows: it is 0 before the first launch. PARTS is a power
# of 2, the same in all launches that share counters.
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
def softmax_backward_split(y, dy, dx, partial, counter, n_cols, PARTS: tl.constexpr,
                           BLOCK: tl.constexpr):
    row = (tl.program_id(0) // PARTS).to(tl.int64)
    part = tl.program_id(0) % PARTS
    cols = part * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    result = tl.load(y + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    gradient = tl.load(dy + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    partial += row * (2 * PARTS)
    tl.store(partial + part, tl.sum(result * gradient, axis=0))
    meet(counter + row, PARTS)
    total = tl.sum(tl.load(partial + tl.arange(0, PARTS), cache_modifier=".cg"), axis=0)
    tl.store(dx + row * n_cols + cols, result * (gradient - total), mask=mask)


@triton.jit
def layer_norm_backward_split(x, weight, mean, rstd, dy, dx, partial, counter, n_cols,
                              PARTS: tl.constexpr, BLOCK: tl.constexpr):
    row = (tl.program_id(0) // PARTS).to(tl.int64)
    part = tl.program_id(0) % PARTS
    cols = part * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    scale = tl.load(rstd + row)
    value = tl.load(x + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    gradient = tl.load(dy + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    gradient *= tl.load(weight + cols, mask=mask, other=0.0).to(tl.float32)
    # Beyond the row the gradient is 0, and so is its product.
    normal = (value - tl.load(mean + row)) * scale
    partial += row * (2 * PARTS)
    tl.store(partial + part, tl.sum(normal * gradient, axis=0))
    tl.store(partial + PARTS + part, tl.sum(gradient, axis=0))
    meet(counter + row, PARTS)
    parts = tl.arange(0, PARTS)
    along = tl.sum(tl.load(partial + parts, cache_modifier=".cg"), axis=0) / n_cols
    middle = tl.sum(tl.load(partial + PARTS + parts, cache_modifier=".cg"), axis=0) / n_cols
    tl.store(dx + row * n_cols + cols, (gradient - middle - normal * along) * scale, mask=mask)


@triton.jit
def rms_norm_backward_split(x, weight, rstd, dy, dx, partial, counter, n_cols,
                            PARTS: tl.constexpr, BLOCK: tl.constexpr):
    row = (tl.program_id(0) // PARTS).to(tl.int64)
    part = tl.program_id(0) % PARTS
    cols = part * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    scale = tl.load(rstd + row)
    normal = tl.load(x + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32) * scale
    gradient = tl.load(dy + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    gradient *= tl.load(weight + cols, mask=mask, other=0.0).to(tl.float32)
    partial += row * (2 * PARTS)
    tl.store(partial + part, tl.sum(normal * gradient, axis=0))
    meet(counter + row, PARTS)
    along = tl.sum(tl.load(partial + tl.arange(0, PARTS), cache_modifier=".cg"), axis=0) / n_cols
    tl.store(dx + row * n_cols + cols, (gradient - normal * along) * scale, mask=mask)


@triton.jit
def cross_entropy_backward_split(x, target, dloss, dx, partial, counter, n_cols,
                                 PARTS: tl.constexpr, BLOCK: tl.constexpr):
    row = (tl.program_id(0) // PARTS).to(tl.int64)
    part = tl.program_id(0) % PARTS
    cols = part * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    wanted = tl.load(target + row)
    gradient = tl.load(dloss + row)
    value = tl.load(x + row * n_cols + cols, mask=mask, other=-float("inf")).to(tl.float32)
    largest = tl.max(value, axis=0)
    shift = tl.where(largest == -float("inf"), 0.0, largest)  # -inf - -inf is no number
    power = tl.exp(value - shift)
    partial += row * (2 * PARTS)
    tl.store(partial + part, largest)
    tl.store(partial + PARTS + part, tl.sum(power, axis=0))
    meet(counter + row, PARTS)
    parts = tl.arange(0, PARTS)
    maxima = tl.load(partial + parts, cache_modifier=".cg")
    sums = tl.load(partial + PARTS + parts, cache_modifier=".cg")
    top = tl.max(maxima, axis=0)
    total = tl.sum(sums * tl.exp(maxima - top), axis=0)
    share = power * (tl.exp(shift - top) / total)
    result = tl.where(cols == wanted, share - 1.0, share) * gradient
    tl.store(dx + row * n_cols + cols, result, mask=mask)
