# SPDX-License-Identifier: Apache-2.0
# The patches of a convolution written out, images as NHWC: a row of `patches` is the window of one
# pixel of the result, [KH, KW, C], so that the convolution is the plain product of `patches` and
# weights as [KH * KW * C, F] (`../matmul/matmul_v4.py`, with its bias and ReLU). Every pixel of the
# image is written as often as windows read it: KH * KW times with stride 1.
import triton
import triton.language as tl


@triton.jit
def im2col_nhwc(x, patches, pixels, height, width, out_height, out_width, channels,
                KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr,
                DILATION: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr):
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    tap = tl.program_id(1)
    r = tap // KW
    s = tap % KW
    c = tl.program_id(2) * BLOCK_C + tl.arange(0, BLOCK_C)
    line = p // out_width
    image = line // out_height
    row = (line - image * out_height) * STRIDE - PADDING + r * DILATION
    column = (p - line * out_width) * STRIDE - PADDING + s * DILATION
    is_channel = c < channels
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width) & (p < pixels)
    pixel = (image * height + row) * width + column
    value = tl.load(x + pixel[:, None] * channels + c[None, :],
                    mask=inside[:, None] & is_channel[None, :], other=0.0)
    places = (p.to(tl.int64) * (KH * KW) + tap)[:, None] * channels + c[None, :]
    tl.store(patches + places, value, mask=(p < pixels)[:, None] & is_channel[None, :])


def launch(x, kh, kw, stride=1, padding=0, dilation=1, block_p=32, block_c=64):
    """Upstream's way of calling the kernel: x [N, H, W, C]."""
    import torch

    n, height, width, channels = x.shape
    out_height = (height + 2 * padding - dilation * (kh - 1) - 1) // stride + 1
    out_width = (width + 2 * padding - dilation * (kw - 1) - 1) // stride + 1
    pixels = n * out_height * out_width
    patches = torch.empty((pixels, kh * kw * channels), device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(pixels, block_p), kh * kw, triton.cdiv(channels, block_c))
    im2col_nhwc[grid](
        x, patches, pixels, height, width, out_height, out_width, channels, KH=kh, KW=kw,
        STRIDE=stride, PADDING=padding, DILATION=dilation, BLOCK_P=block_p, BLOCK_C=block_c)
    return patches
