# SPDX-License-Identifier: Apache-2.0
# Kernels for what the launcher has to choose and to pass on.
import triton
import triton.language as tl


@triton.jit
def affine(x, bias, out, n, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    value = tl.load(x + i * stride, mask=mask)
    if bias is not None:
        value += tl.load(bias + i, mask=mask)
    tl.store(out + i, value, mask=mask)


@triton.jit
def scalars(out, a, b, c, d, e, f, g, h, i, j, k, l, default):
    tl.store(out + 0, a.to(tl.float64))
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, c.to(tl.float64))
    tl.store(out + 3, d.to(tl.float64))
    tl.store(out + 4, e.to(tl.float64))
    tl.store(out + 5, f.to(tl.float64))
    tl.store(out + 6, g.to(tl.float64))
    tl.store(out + 7, h.to(tl.float64))
    tl.store(out + 8, i.to(tl.float64))
    tl.store(out + 9, j.to(tl.float64))
    tl.store(out + 10, k.to(tl.float64))
    tl.store(out + 11, l.to(tl.float64))
    tl.store(out + 12, default.to(tl.float64))


@triton.jit
def turn(source, target):
    i = tl.program_id(0) * 4
    j = tl.program_id(1) * 8
    target.store([j, i], tl.trans(source.load([i, j])))
