# SPDX-License-Identifier: Apache-2.0
# A kernel that needs scratch memory: prefix sums of rows, written in the opposite order first.
import triton
import triton.language as tl


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * n + i, mask=i < n, other=0.0)
    turned = tl.flip(tl.cumsum(tl.flip(tl.cumsum(value, 0), 0) * 0.0, 0), 0)
    tl.store(out + row * n + i, tl.cumsum(value, 0) + turned, mask=i < n)
