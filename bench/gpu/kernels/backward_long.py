# SPDX-License-Identifier: Apache-2.0
# Gradients of functions of rows that are too long to hold. One program walks its row twice, in
# pieces of BLOCK columns; the second walk goes back to front, as what the first one read last is
# still in cache.
import triton
import triton.language as tl


@triton.jit
def softmax_backward_long(y, dy, dx, n_cols, BLOCK: tl.constexpr):
    begin = tl.program_id(0).to(tl.int64) * n_cols
    places = tl.arange(0, BLOCK)
    products = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + places
        mask = cols < n_cols
        result = tl.load(y + begin + cols, mask=mask, other=0.0,
                         eviction_policy="evict_last").to(tl.float32)
        gradient = tl.load(dy + begin + cols, mask=mask, other=0.0,
                           eviction_policy="evict_last").to(tl.float32)
        products += result * gradient
    total = tl.sum(products, axis=0)

    last = (n_cols - 1) // BLOCK * BLOCK
    for back in range(0, n_cols, BLOCK):
        cols = last - back + places
        mask = cols < n_cols
        result = tl.load(y + begin + cols, mask=mask, other=0.0,
                         eviction_policy="evict_first").to(tl.float32)
        gradient = tl.load(dy + begin + cols, mask=mask, other=0.0,
                           eviction_policy="evict_first").to(tl.float32)
        tl.store(dx + begin + cols, result * (gradient - total), mask=mask,
                 eviction_policy="evict_first")


@triton.jit
def layer_norm_backward_long(x, weight, mean, rstd, dy, dx, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    begin = row * n_cols
    places = tl.arange(0, BLOCK)
    centre = tl.load(mean + row)
    scale = tl.load(rstd + row)
    products = tl.zeros((BLOCK,), dtype=tl.float32)
    gradients = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + places
        mask = cols < n_cols
        value = tl.load(x + begin + cols, mask=mask, other=0.0,
                        eviction_policy="evict_last").to(tl.float32)
        gradient = tl.load(dy + begin + cols, mask=mask, other=0.0,
                           eviction_policy="evict_last").to(tl.float32)
        gradient *= tl.load(weight + cols, mask=mask, other=0.0).to(tl.float32)
        products += (value - centre) * gradient  # 0 beyond the row, as the gradient is
        gradients += gradient
    along = tl.sum(products, axis=0) * scale / n_cols
    middle = tl.sum(gradients, axis=0) / n_cols

    last = (n_cols - 1) // BLOCK * BLOCK
    for back in range(0, n_cols, BLOCK):
        cols = last - back + places
        mask = cols < n_cols
        value = tl.load(x + begin + cols, mask=mask, other=0.0,
                        eviction_policy="evict_first").to(tl.float32)
        gradient = tl.load(dy + begin + cols, mask=mask, other=0.0,
                           eviction_policy="evict_first").to(tl.float32)
        gradient *= tl.load(weight + cols, mask=mask, other=0.0).to(tl.float32)
        normal = (value - centre) * scale
        tl.store(dx + begin + cols, (gradient - middle - normal * along) * scale, mask=mask,
                 eviction_policy="evict_first")


@triton.jit
def rms_norm_backward_long(x, weight, rstd, dy, dx, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    begin = row * n_cols
    places = tl.arange(0, BLOCK)
    scale = tl.load(rstd + row)
    products = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + places
        mask = cols < n_cols
        value = tl.load(x + begin + cols, mask=mask, other=0.0,
                        eviction_policy="evict_last").to(tl.float32)
        gradient = tl.load(dy + begin + cols, mask=mask, other=0.0,
                           eviction_policy="evict_last").to(tl.float32)
        gradient *= tl.load(weight + cols, mask=mask, other=0.0).to(tl.float32)
        products += value * gradient
    along = tl.sum(products, axis=0) * scale / n_cols

    last = (n_cols - 1) // BLOCK * BLOCK
    for back in range(0, n_cols, BLOCK):
        cols = last - back + places
        mask = cols < n_cols
        value = tl.load(x + begin + cols, mask=mask, other=0.0,
                        eviction_policy="evict_first").to(tl.float32)
        gradient = tl.load(dy + begin + cols, mask=mask, other=0.0,
                           eviction_policy="evict_first").to(tl.float32)
        gradient *= tl.load(weight + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(dx + begin + cols, (gradient - value * scale * along) * scale, mask=mask,
                 eviction_policy="evict_first")


@triton.jit
def cross_entropy_backward_long(x, target, dloss, dx, n_cols, BLOCK: tl.constexpr,
                                WIDTH: tl.constexpr):
    LOG2_E: tl.constexpr = 1.4426950408889634
    LANES: tl.constexpr = BLOCK // WIDTH
    row = tl.program_id(0).to(tl.int64)
    begin = row * n_cols
    places = tl.arange(0, LANES)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    largest = tl.full((LANES,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((LANES,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + places
        value = tl.load(x + begin + cols, mask=cols < n_cols, other=-float("inf"),
                        eviction_policy="evict_last").to(tl.float32)
        higher = tl.maximum(largest, tl.max(value, axis=1))
        shift = tl.where(higher == -float("inf"), 0.0, higher)  # -inf - -inf is no number
        power = tl.exp2((value - shift[:, None]) * LOG2_E)
        total = total * tl.exp2((largest - shift) * LOG2_E) + tl.sum(power, axis=1)
        largest = higher
    shift = tl.max(largest, axis=0)
    scale = 1.0 / tl.sum(total * tl.exp2((largest - shift) * LOG2_E), axis=0)
    wanted = tl.load(target + row)
    gradient = tl.load(dloss + row)

    last = (n_cols - 1) // BLOCK * BLOCK
    for back in range(0, n_cols, BLOCK):
        cols = last - back + places
        mask = cols < n_cols
        value = tl.load(x + begin + cols, mask=mask, other=0.0,
                        eviction_policy="evict_first").to(tl.float32)
        share = tl.exp2((value - shift) * LOG2_E) * scale
        hit = tl.where(cols == wanted, 1.0, 0.0)
        tl.store(dx + begin + cols, (share - hit) * gradient, mask=mask,
                 eviction_policy="evict_first")
