# SPDX-License-Identifier: Apache-2.0
# Gradients of functions of rows that are too long to hold. One program walks the beginning of its
# row twice, in pieces of BLOCK columns, and holds the last HELD columns, at least a piece, from one
# walk to the next; the second walk goes back to front, as what the first one read last is still in
# cache.
import triton
import triton.language as tl


@triton.jit
def softmax_backward_long(y, dy, dx, n_cols, BLOCK: tl.constexpr, HELD: tl.constexpr):
    tl.static_assert(BLOCK <= HELD)
    begin = tl.program_id(0).to(tl.int64) * n_cols
    y += begin
    dy += begin
    dx += begin
    columns = tl.arange(0, BLOCK)
    walked = tl.cdiv(tl.maximum(n_cols - HELD, 0), BLOCK) * BLOCK
    products = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, walked, BLOCK):
        cols = start + columns
        result = tl.load(y + cols, eviction_policy="evict_last").to(tl.float32)
        gradient = tl.load(dy + cols, eviction_policy="evict_last").to(tl.float32)
        products += result * gradient

    ends = walked + tl.arange(0, HELD)
    inside = ends < n_cols
    held = tl.load(y + ends, mask=inside, other=0.0, eviction_policy="evict_first").to(tl.float32)
    wanted = tl.load(dy + ends, mask=inside, other=0.0,
                     eviction_policy="evict_first").to(tl.float32)
    total = tl.sum(products, axis=0) + tl.sum(held * wanted, axis=0)
    tl.store(dx + ends, held * (wanted - total), mask=inside, eviction_policy="evict_first")

    for back in range(0, walked, BLOCK):
        cols = walked - BLOCK - back + columns
        result = tl.load(y + cols, eviction_policy="evict_first").to(tl.float32)
        gradient = tl.load(dy + cols, eviction_policy="evict_first").to(tl.float32)
        tl.store(dx + cols, result * (gradient - total), eviction_policy="evict_first")


@triton.jit
def layer_norm_backward_long(x, weight, mean, rstd, dy, dx, n_cols, BLOCK: tl.constexpr,
                             HELD: tl.constexpr):
    tl.static_assert(BLOCK <= HELD)
    row = tl.program_id(0).to(tl.int64)
    begin = row * n_cols
    x += begin
    dy += begin
    dx += begin
    columns = tl.arange(0, BLOCK)
    walked = tl.cdiv(tl.maximum(n_cols - HELD, 0), BLOCK) * BLOCK
    centre = tl.load(mean + row)
    scale = tl.load(rstd + row)
    products = tl.zeros((BLOCK,), dtype=tl.float32)
    gradients = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, walked, BLOCK):
        cols = start + columns
        value = tl.load(x + cols, eviction_policy="evict_last").to(tl.float32)
        gradient = tl.load(dy + cols, eviction_policy="evict_last").to(tl.float32)
        gradient *= tl.load(weight + cols).to(tl.float32)
        products += (value - centre) * gradient
        gradients += gradient

    ends = walked + tl.arange(0, HELD)
    inside = ends < n_cols
    held = tl.load(x + ends, mask=inside, other=0.0, eviction_policy="evict_first").to(tl.float32)
    held = (held - centre) * scale
    wanted = tl.load(dy + ends, mask=inside, other=0.0,
                     eviction_policy="evict_first").to(tl.float32)
    wanted *= tl.load(weight + ends, mask=inside, other=0.0).to(tl.float32)
    # Beyond the row the gradient is 0, and so is its product.
    along = (tl.sum(products, axis=0) * scale + tl.sum(held * wanted, axis=0)) / n_cols
    middle = (tl.sum(gradients, axis=0) + tl.sum(wanted, axis=0)) / n_cols
    tl.store(dx + ends, (wanted - middle - held * along) * scale, mask=inside,
             eviction_policy="evict_first")

    for back in range(0, walked, BLOCK):
        cols = walked - BLOCK - back + columns
        value = tl.load(x + cols, eviction_policy="evict_first").to(tl.float32)
        gradient = tl.load(dy + cols, eviction_policy="evict_first").to(tl.float32)
        gradient *= tl.load(weight + cols).to(tl.float32)
        normal = (value - centre) * scale
        tl.store(dx + cols, (gradient - middle - normal * along) * scale,
                 eviction_policy="evict_first")


@triton.jit
def rms_norm_backward_long(x, weight, rstd, dy, dx, n_cols, BLOCK: tl.constexpr,
                           HELD: tl.constexpr):
    tl.static_assert(BLOCK <= HELD)
    row = tl.program_id(0).to(tl.int64)
    begin = row * n_cols
    x += begin
    dy += begin
    dx += begin
    columns = tl.arange(0, BLOCK)
    walked = tl.cdiv(tl.maximum(n_cols - HELD, 0), BLOCK) * BLOCK
    scale = tl.load(rstd + row)
    products = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, walked, BLOCK):
        cols = start + columns
        value = tl.load(x + cols, eviction_policy="evict_last").to(tl.float32)
        gradient = tl.load(dy + cols, eviction_policy="evict_last").to(tl.float32)
        gradient *= tl.load(weight + cols).to(tl.float32)
        products += value * gradient

    ends = walked + tl.arange(0, HELD)
    inside = ends < n_cols
    held = tl.load(x + ends, mask=inside, other=0.0, eviction_policy="evict_first").to(tl.float32)
    wanted = tl.load(dy + ends, mask=inside, other=0.0,
                     eviction_policy="evict_first").to(tl.float32)
    wanted *= tl.load(weight + ends, mask=inside, other=0.0).to(tl.float32)
    along = (tl.sum(products, axis=0) + tl.sum(held * wanted, axis=0)) * scale / n_cols
    tl.store(dx + ends, (wanted - held * scale * along) * scale, mask=inside,
             eviction_policy="evict_first")

    for back in range(0, walked, BLOCK):
        cols = walked - BLOCK - back + columns
        value = tl.load(x + cols, eviction_policy="evict_first").to(tl.float32)
        gradient = tl.load(dy + cols, eviction_policy="evict_first").to(tl.float32)
        gradient *= tl.load(weight + cols).to(tl.float32)
        tl.store(dx + cols, (gradient - value * scale * along) * scale,
                 eviction_policy="evict_first")


@triton.jit
def cross_entropy_backward_long(x, target, dloss, dx, n_cols, BLOCK: tl.constexpr,
                                HELD: tl.constexpr, WIDTH: tl.constexpr):
    tl.static_assert(BLOCK <= HELD)
    LOG2_E: tl.constexpr = 1.4426950408889634
    LANES: tl.constexpr = BLOCK // WIDTH  # each keeps a maximum and a sum of its own
    row = tl.program_id(0).to(tl.int64)
    x += row * n_cols
    dx += row * n_cols
    places = tl.arange(0, LANES)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    walked = tl.cdiv(tl.maximum(n_cols - HELD, 0), BLOCK) * BLOCK
    wanted = tl.load(target + row)
    factor = tl.load(dloss + row)
    largest = tl.full((LANES,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((LANES,), dtype=tl.float32)
    for start in range(0, walked, BLOCK):
        value = tl.load(x + (start + places), eviction_policy="evict_last").to(tl.float32)
        higher = tl.maximum(largest, tl.max(value, axis=1))
        shift = tl.where(higher == -float("inf"), 0.0, higher)
        power = tl.exp2((value - shift[:, None]) * LOG2_E)
        total = total * tl.exp2((largest - shift) * LOG2_E) + tl.sum(power, axis=1)
        largest = higher

    ends = walked + tl.arange(0, HELD)
    inside = ends < n_cols
    held = tl.load(x + ends, mask=inside, other=-float("inf"),
                   eviction_policy="evict_first").to(tl.float32)
    shift = tl.maximum(tl.max(largest, axis=0), tl.max(held, axis=0))
    held = tl.exp2((held - shift) * LOG2_E)
    total *= tl.exp2((largest - shift) * LOG2_E)
    scale = 1.0 / (tl.sum(total, axis=0) + tl.sum(held, axis=0))
    tl.store(dx + ends, (held * scale - tl.where(ends == wanted, 1.0, 0.0)) * factor, mask=inside,
             eviction_policy="evict_first")

    columns = tl.arange(0, BLOCK)
    for back in range(0, walked, BLOCK):
        cols = walked - BLOCK - back + columns
        value = tl.load(x + cols, eviction_policy="evict_first").to(tl.float32)
        share = tl.exp2((value - shift) * LOG2_E) * scale
        tl.store(dx + cols, (share - tl.where(cols == wanted, 1.0, 0.0)) * factor,
                 eviction_policy="evict_first")
