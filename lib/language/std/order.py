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
def sort(x, dim: tl.constexpr = None, descending: tl.constexpr = False):
    axis: tl.constexpr = _dimension(dim, len(x.shape), "sort")
    levels: tl.constexpr = _log2(x.shape[axis])
    rising: tl.constexpr = 1 if descending else 0
    position = _positions(x.shape, axis)
    result = x
    # Blocks of 2**level elements become sorted, rising and falling in turns; every step exchanges
    # elements `stride` apart. Both sides of a pair decide alike, so that no element is lost.
    for level in range(1, levels + 1):
        is_rising = ((position >> level) & 1) == rising
        for step in range(level):
            stride = 1 << (level - 1 - step)
            other = tl.gather(result, position ^ stride, axis)
            wants_smaller = ((position & stride) == 0) == is_rising
            is_exchanged = (wants_smaller & (other < result)) | (~wants_smaller & (other > result))
            result = tl.where(is_exchanged, other, result)
    return result


@triton.jit
def topk(x, k: tl.constexpr, dim: tl.constexpr = None):
    axis: tl.constexpr = _dimension(dim, len(x.shape), "topk")
    tl.static_assert(
        k > 0 and k <= x.shape[axis] and k & (k - 1) == 0,
        f"'topk' expects for k a power of two up to {x.shape[axis]}, but got {k}",
    )
    largest = sort(x, axis, descending=True)
    shape: tl.constexpr = x.shape[:axis] + (k,) + x.shape[axis + 1:]
    return tl.gather(largest, _positions(shape, axis), axis)


@triton.jit
def flip(x, dim: tl.constexpr = None):
    axis: tl.constexpr = _dimension(dim, len(x.shape), "flip")
    return tl.gather(x, x.shape[axis] - 1 - _positions(x.shape, axis), axis)


@triton.jit
def interleave(a, b):
    pairs = tl.join(a, b)
    rank: tl.constexpr = len(pairs.shape)
    if rank == 1:
        return pairs
    else:
        return tl.reshape(pairs, pairs.shape[:rank - 2] + (2 * pairs.shape[rank - 2],))
