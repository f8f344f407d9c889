# SPDX-License-Identifier: Apache-2.0
# Grouped and depthwise conv2d with bias and ReLU, images as NCHW and weights as [F, C / GROUPS, KH,
# KW], for few channels in a group: no matrix is large enough to be multiplied, so a tile is BLOCK_H
# by BLOCK_W pixels of one feature and all taps of all its channels are added element by element.
# CHANNELS and FEATURES are those of one group; depthwise is 1 and 1.
import triton
import triton.language as tl


@triton.jit
def grouped_nchw(x, w, bias, y, height, width, out_height, out_width, groups, KH: tl.constexpr,
                 KW: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr,
                 DILATION: tl.constexpr, CHANNELS: tl.constexpr, FEATURES: tl.constexpr,
                 HAS_BIAS: tl.constexpr, RELU: tl.constexpr, BLOCK_H: tl.constexpr,
                 BLOCK_W: tl.constexpr):
    plane = tl.program_id(0)
    group = plane // FEATURES
    f = plane % (groups * FEATURES)
    row = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    column = tl.program_id(2) * BLOCK_W + tl.arange(0, BLOCK_W)
    x += group * CHANNELS * height * width
    w += f * (CHANNELS * KH * KW)
    acc = tl.zeros((BLOCK_H, BLOCK_W), dtype=tl.float32)
    for c in tl.static_range(CHANNELS):
        for r in tl.static_range(KH):
            from_row = row * STRIDE - PADDING + r * DILATION
            has_row = (from_row >= 0) & (from_row < height)
            for s in tl.static_range(KW):
                from_column = column * STRIDE - PADDING + s * DILATION
                has_column = (from_column >= 0) & (from_column < width)
                a = tl.load(x + (c * height + from_row)[:, None] * width + from_column[None, :],
                            mask=has_row[:, None] & has_column[None, :], other=0.0)
                b = tl.load(w + (c * KH + r) * KW + s)
                acc += a.to(tl.float32) * b.to(tl.float32)
    if HAS_BIAS:
        acc += tl.load(bias + f).to(tl.float32)
    if RELU:
        acc = tl.where(acc < 0.0, 0.0, acc)
    y_ptrs = y + (plane * out_height + row)[:, None] * out_width + column[None, :]
    tl.store(y_ptrs, acc, mask=(row < out_height)[:, None] & (column < out_width)[None, :])


def launch(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1, relu=False, block_h=16,
           block_w=64):
    """Upstream's way of calling the kernel: x [N, C, H, W], w [F, C / groups, KH, KW]."""
    import torch

    n, channels, height, width = x.shape
    features, group_channels, kh, kw = w.shape
    out_height = (height + 2 * padding - dilation * (kh - 1) - 1) // stride + 1
    out_width = (width + 2 * padding - dilation * (kw - 1) - 1) // stride + 1
    y = torch.empty((n, features, out_height, out_width), device=x.device, dtype=x.dtype)
    grid = (n * features, triton.cdiv(out_height, block_h), triton.cdiv(out_width, block_w))
    grouped_nchw[grid](
        x, w, x if bias is None else bias, y, height, width, out_height, out_width, groups, KH=kh,
        KW=kw, STRIDE=stride, PADDING=padding, DILATION=dilation, CHANNELS=group_channels,
        FEATURES=features // groups, HAS_BIAS=bias is not None, RELU=relu, BLOCK_H=block_h,
        BLOCK_W=block_w)
    return y
