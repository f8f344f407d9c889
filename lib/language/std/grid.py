# SPDX-License-Identifier: Apache-2.0
# Orders of tiles in a grid.


@triton.jit
def swizzle2d(i, j, size_i, size_j, size_g):
    """Walks a row-major size_i x size_j grid in groups of size_g rows, column by column."""
    index = i * size_j + j
    group = index // (size_g * size_j)
    first_row = group * size_g
    rows = tl.minimum(size_i - first_row, size_g)  # the last group may have fewer
    inside = index % (size_g * size_j)
    return first_row + inside % rows, inside // rows
