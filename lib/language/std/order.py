# SPDX-License-Identifier: Apache-2.0
# Functions that move elements along one dimension: sorting by a bitonic network, the largest
# values, reversal, and interleaving of two tiles.


@triton.constexpr_function
def _log2(count):
    power = 0
    for i in tl.static_range(1, 32):
        if count >> i > 0:
            power = i
    return power


@triton.constexpr_function
def _dimension(dim, rank, name):
    tl.static_assert(rank > 0, f"'{name}' expects a tile, but got a scalar")
    index = rank - 1 if dim is None else dim
    tl.static_assert(
        index >= -rank and index < rank,
        f"'{name}' expects a dimension below the rank {rank}, but got {index}",
    )
    return index + rank if index < 0 else index


@triton.jit
def _positions(shape: tl.constexpr, axis: tl.constexpr):
    """For each element of a tile its position along the axis."""
    position = tl.arange(0, shape[axis])
    for i in tl.static_range(len(shape)):
        if i != axis:
            position = tl.expand_dims(position, i)
    return tl.broadcast_to(position, shape)


@triton.jit
def _exchange(x, position, stride, takes_smaller, axis: tl.constexpr):
    """Each element and the one `stride` apart put in order. Both sides of a pair compare alike, so
    that no element is lost, whatever compares with a NaN."""
    other = tl.gather(x, position ^ stride, axis)
    if x.dtype.is_int():
        return tl.where((other < x) == takes_smaller, other, x)
    smaller = tl.where(other < x, other, x)
    larger = tl.where(other > x, other, x)
    return tl.where(takes_smaller, smaller, larger)


@triton.jit
def _merge(
    x,
    position,
    levels: tl.constexpr,
    up: tl.constexpr,
    falling: tl.constexpr,
    axis: tl.constexpr,
):
    """Bitonic blocks of 2**levels elements become sorted: rising where bit `up` of the position is
    set, falling elsewhere; all falling when `up` is None. The other way round unless `falling`."""
    for step in range(levels):
        bit = levels - 1 - step
        if up is None:
            takes_smaller = (position & (1 << bit)) != 0
        else:
            takes_smaller = ((position ^ (position >> (up - bit))) & (1 << bit)) != 0
        x = _exchange(x, position, 1 << bit, takes_smaller == falling, axis)
    return x


@triton.jit
def _sort_blocks(x, position, levels: tl.constexpr, falling: tl.constexpr, axis: tl.constexpr):
    """Blocks of 2**levels elements become sorted, rising and falling in turns; `falling` first."""
    for level in range(1, levels + 1):
        for step in range(level):
            stride = 1 << (level - 1 - step)
            # Whether the position has the same bit at `stride` as where its block's turn stands.
            is_same = ((position ^ (position >> (step + 1))) & stride) == 0
            x = _exchange(x, position, stride, is_same != falling, axis)
    return x


@triton.jit
def sort(x, dim: tl.constexpr = None, descending: tl.constexpr = False):
    axis: tl.constexpr = _dimension(dim, len(x.shape), "sort")
    is_falling: tl.constexpr = True if descending else False
    return _sort_blocks(x, _positions(x.shape, axis), _log2(x.shape[axis]), is_falling, axis)


@triton.jit
def topk(x, k: tl.constexpr, dim: tl.constexpr = None, descending: tl.constexpr = True):
    axis: tl.constexpr = _dimension(dim, len(x.shape), "topk")
    size: tl.constexpr = x.shape[axis]
    tl.static_assert(
        k > 0 and k <= size and k & (k - 1) == 0,
        f"'topk' expects for k a power of two up to {size}, but got {k}",
    )
    levels: tl.constexpr = _log2(k)
    halvings: tl.constexpr = _log2(size) - levels
    position = _positions(x.shape, axis)
    is_falling: tl.constexpr = True if descending else False
    # Blocks of k, falling in the lower half of the tile and rising in the upper one. Then the
    # larger of each pair of elements from the two halves: of a falling and a rising block that is
    # the k largest of both, first rising, then falling. For the smallest, all the other way round.
    result = _sort_blocks(x, position, levels - 1 if levels > 0 else 0, is_falling, axis)
    first_up: tl.constexpr = levels + halvings - 1 if halvings > 0 else None
    result = _merge(result, position, levels, first_up, is_falling, axis)
    for i in tl.static_range(halvings):
        half: tl.constexpr = size >> (i + 1)
        position = _positions(x.shape[:axis] + (half,) + x.shape[axis + 1:], axis)
        low = tl.gather(result, position, axis)
        high = tl.gather(result, position + half, axis)
        takes_high = high > low if is_falling else high < low
        result = tl.where(takes_high, high, low)
        up: tl.constexpr = levels + halvings - i - 2 if i + 1 < halvings else None
        result = _merge(result, position, levels, up, is_falling, axis)
    return result


@triton.jit
def flip(x, dim: tl.constexpr = None):
    axis: tl.constexpr = _dimension(dim, len(x.shape), "flip")
    return tl.gather(x, x.shape[axis] - 1 - _positions(x.shape, axis), axis)


@triton.jit
def squeeze(x, dim: tl.constexpr):
    axis: tl.constexpr = _dimension(dim, len(x.shape), "squeeze")
    tl.static_assert(
        x.shape[axis] == 1,
        f"'squeeze' expects a dimension of size 1, but got {x.shape[axis]}",
    )
    return tl.reshape(x, x.shape[:axis] + x.shape[axis + 1:])


@triton.jit
def unsqueeze(x, dim: tl.constexpr):
    return tl.reshape(x, x.shape[:dim] + (1,) + x.shape[dim:])


@triton.jit
def interleave(a, b):
    pairs = tl.join(a, b)
    rank: tl.constexpr = len(pairs.shape)
    if rank == 1:
        return pairs
    else:
        return tl.reshape(pairs, pairs.shape[:rank - 2] + (2 * pairs.shape[rank - 2],))
