# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.jit
def add_twice(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(x + offsets, mask=inside) + 2.0 * tl.load(y + offsets, mask=inside)
    tl.store(x + offsets, value, mask=inside)
