# SPDX-License-Identifier: Apache-2.0
# conv2d with bias and ReLU, images as NCHW and weights as [F, C, KH, KW], by its definition: a tile
# has BLOCK_P pixels of one image's result and BLOCK_F features, and every tap of every channel adds
# the pixels it reads times its weight of each feature, element by element. Nothing is arranged
# anew and no matrix is formed; `conv2d_nchw.py` gives the channels of a tap to `tl.dot`.
import triton
import triton.language as tl


@triton.jit
def direct_nchw(x, w, bias, y, height, width, out_height, out_width, channels, features,
                KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr,
                DILATION: tl.constexpr, HAS_BIAS: tl.constexpr, RELU: tl.constexpr,
                BLOCK_F: tl.constexpr, BLOCK_P: tl.constexpr):
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    f = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    image = tl.program_id(2)
    is_pixel = p < out_height * out_width
    is_feature = f < features
    line = p // out_width
    top = line * STRIDE - PADDING
    left = (p - line * out_width) * STRIDE - PADDING
    acc = tl.zeros((BLOCK_F, BLOCK_P), dtype=tl.float32)
    for c in range(channels):
        plane = x + (image * channels + c) * height * width
        taps = w + (f * channels + c) * (KH * KW)
        for r in tl.static_range(KH):
            row = top + r * DILATION
            has_row = is_pixel & (row >= 0) & (row < height)
            for s in tl.static_range(KW):
                column = left + s * DILATION
                pixel = tl.load(plane + row * width + column, other=0.0,
                                mask=has_row & (column >= 0) & (column < width)).to(tl.float32)
                weight = tl.load(taps + (r * KW + s), mask=is_feature, other=0.0).to(tl.float32)
                acc += weight[:, None] * pixel[None, :]
    if HAS_BIAS:
        acc += tl.load(bias + f, mask=is_feature, other=0.0).to(tl.float32)[:, None]
    if RELU:
        acc = tl.where(acc < 0.0, 0.0, acc)
    planes = (image * features + f) * out_height * out_width
    tl.store(y + planes[:, None] + p[None, :], acc, mask=is_feature[:, None] & is_pixel[None, :])


def launch(x, w, bias=None, stride=1, padding=0, dilation=1, relu=False, block_f=8, block_p=128):
    """Upstream's way of calling the kernel: x [N, C, H, W], w [F, C, KH, KW]."""
    import torch

    n, channels, height, width = x.shape
    features, _, kh, kw = w.shape
    out_height = (height + 2 * padding - dilation * (kh - 1) - 1) // stride + 1
    out_width = (width + 2 * padding - dilation * (kw - 1) - 1) // stride + 1
    y = torch.empty((n, features, out_height, out_width), device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(out_height * out_width, block_p), triton.cdiv(features, block_f), n)
    direct_nchw[grid](
        x, w, x if bias is None else bias, y, height, width, out_height, out_width, channels,
        features, KH=kh, KW=kw, STRIDE=stride, PADDING=padding, DILATION=dilation,
        HAS_BIAS=bias is not None, RELU=relu, BLOCK_F=block_f, BLOCK_P=block_p)
    return y
