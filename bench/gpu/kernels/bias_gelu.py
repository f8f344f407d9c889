# SPDX-License-Identifier: Apache-2.0
# gelu(x + bias) with one bias for each column, by the approximation with tanh. A program makes a
# piece of one row; programs that follow each other have neighbouring pieces.
import triton
import triton.language as tl


@triton.jit
def bias_gelu(x, bias, out, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(1).to(tl.int64)
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    value = tl.load(x + row * n_cols + cols, mask=mask).to(tl.float32)
    value += tl.load(bias + cols, mask=mask).to(tl.float32)
    twice_u = 1.5957691216057308 * (value + 0.044715 * value * value * value)
    tl.store(out + row * n_cols + cols, value * tl.sigmoid(twice_u), mask=mask)
