# SPDX-License-Identifier: Apache-2.0
# Grouped and depthwise conv2d with bias and ReLU, images as NHWC and weights as [KH, KW, C / GROUPS,
# F], for few channels in a group: no matrix is large enough to be multiplied, so a tile is BLOCK_W
# pixels of one row of the result by BLOCK_F features, and all taps of all channels of a group are
# added element by element. CHANNELS and FEATURES are those of one group; depthwise is 1 and 1.
import triton
import triton.language as tl


@triton.jit
def grouped_nhwc(x, w, bias, y, height, width, out_height, out_width, channels, features,
                 KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr,
                 DILATION: tl.constexpr, CHANNELS: tl.constexpr, FEATURES: tl.constexpr,
                 HAS_BIAS: tl.constexpr, RELU: tl.constexpr, BLOCK_W: tl.constexpr,
                 BLOCK_F: tl.constexpr):
    line = tl.program_id(0)
    image = line // out_height
    top = (line % out_height) * STRIDE - PADDING
    column = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    f = tl.program_id(2) * BLOCK_F + tl.arange(0, BLOCK_F)
    first_channel = f // FEATURES * CHANNELS
    left = column * STRIDE - PADDING
    is_feature = (f < features)[None, :]
    acc = tl.zeros((BLOCK_W, BLOCK_F), dtype=tl.float32)
    for r in tl.static_range(KH):
        from_row = top + r * DILATION
        x_row = x + (image * height + from_row) * width * channels
        part = tl.zeros((BLOCK_W, BLOCK_F), dtype=tl.float32)
        has_row = (from_row >= 0) & (from_row < height)
        for s in tl.static_range(KW):
            from_column = left + s * DILATION
            inside = has_row & (from_column >= 0) & (from_column < width)
            x_ptrs = x_row + from_column[:, None] * channels + first_channel[None, :]
            for c in tl.static_range(CHANNELS):
                a = tl.load(x_ptrs + c, mask=inside[:, None] & is_feature, other=0.0)
                b = tl.load(w + ((r * KW + s) * CHANNELS + c) * features + f[None, :],
                            mask=is_feature, other=0.0)
                part += a.to(tl.float32) * b.to(tl.float32)
        acc += part
    if HAS_BIAS:
        acc += tl.load(bias + f[None, :], mask=is_feature, other=0.0).to(tl.float32)
    if RELU:
        acc = tl.where(acc < 0.0, 0.0, acc)
    y_ptrs = y + (line * out_width + column)[:, None] * features + f[None, :]
    tl.store(y_ptrs, acc, mask=(column < out_width)[:, None] & is_feature)


def launch(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1, relu=False, block_w=16,
           block_f=32):
    """Upstream's way of calling the kernel: x [N, H, W, C], w [KH, KW, C / groups, F]."""
    import torch

    n, height, width, channels = x.shape
    kh, kw, group_channels, features = w.shape
    out_height = (height + 2 * padding - dilation * (kh - 1) - 1) // stride + 1
    out_width = (width + 2 * padding - dilation * (kw - 1) - 1) // stride + 1
    y = torch.empty((n, out_height, out_width, features), device=x.device, dtype=x.dtype)
    grid = (n * out_height, triton.cdiv(out_width, block_w), triton.cdiv(features, block_f))
    grouped_nhwc[grid](
        x, w, x if bias is None else bias, y, height, width, out_height, out_width, channels,
        features, KH=kh, KW=kw, STRIDE=stride, PADDING=padding, DILATION=dilation,
        CHANNELS=group_channels, FEATURES=features // groups, HAS_BIAS=bias is not None,
        RELU=relu, BLOCK_W=block_w, BLOCK_F=block_f)
    return y
