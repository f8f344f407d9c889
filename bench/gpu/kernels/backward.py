# SPDX-License-Identifier: Apache-2.0
# Gradients of functions of rows. One program owns one row and holds it whole; what depends on all rows,
# the gradient of a weight, is no part of these.
import triton
import triton.language as tl


@triton.jit
def softmax_backward(y, dy, dx, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    result = tl.load(y + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    gradient = tl.load(dy + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    total = tl.sum(result * gradient, axis=0)
    tl.store(dx + row * n_cols + cols, result * (gradient - total), mask=mask)


@triton.jit
def layer_norm_backward(x, weight, mean, rstd, dy, dx, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    scale = tl.load(rstd + row)
    value = tl.load(x + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    normal = tl.where(mask, (value - tl.load(mean + row)) * scale, 0.0)
    gradient = tl.load(dy + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    gradient *= tl.load(weight + cols, mask=mask, other=0.0).to(tl.float32)
    along = tl.sum(normal * gradient, axis=0) / n_cols
    middle = tl.sum(gradient, axis=0) / n_cols
    tl.store(dx + row * n_cols + cols, (gradient - middle - normal * along) * scale, mask=mask)


@triton.jit
def rms_norm_backward(x, weight, rstd, dy, dx, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    scale = tl.load(rstd + row)
    value = tl.load(x + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    normal = value * scale
    gradient = tl.load(dy + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    gradient *= tl.load(weight + cols, mask=mask, other=0.0).to(tl.float32)
    along = tl.sum(normal * gradient, axis=0) / n_cols
    tl.store(dx + row * n_cols + cols, (gradient - normal * along) * scale, mask=mask)


@triton.jit
def cross_entropy_backward(x, target, dloss, dx, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    wanted = tl.load(target + row)
    value = tl.load(x + row * n_cols + cols, mask=mask, other=-float("inf")).to(tl.float32)
    weight = tl.exp(value - tl.max(value, axis=0))
    share = weight / tl.sum(weight, axis=0)
    hit = tl.where(cols == wanted, 1.0, 0.0)
    tl.store(dx + row * n_cols + cols, (share - hit) * tl.load(dloss + row), mask=mask)
