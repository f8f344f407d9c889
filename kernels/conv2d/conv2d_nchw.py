# SPDX-License-Identifier: Apache-2.0
# y = relu(conv2d(x, w) + bias), images as NCHW and weights as [KH, KW, C / GROUPS, F], or with
# PACKED, panel by panel, as [F / BLOCK_F, KH, KW, C / GROUPS, BLOCK_F]: an implicit matrix product.
# A tile has BLOCK_P pixels of one image's result and BLOCK_F features; every tap of the window adds
# the product of the pixels it reads and its weights. Pixels in the padding are masked.
import triton
import triton.language as tl


@triton.jit
def conv2d_nchw(x, w, bias, y, height, width, out_height, out_width, channels, features,
                KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr,
                DILATION: tl.constexpr, GROUPS: tl.constexpr, HAS_BIAS: tl.constexpr,
                RELU: tl.constexpr, PACKED: tl.constexpr, BLOCK_P: tl.constexpr,
                BLOCK_F: tl.constexpr, BLOCK_C: tl.constexpr):
    image = tl.program_id(2) // GROUPS
    group = tl.program_id(2) % GROUPS
    group_channels = channels // GROUPS
    group_features = features // GROUPS
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    f = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    c = tl.arange(0, BLOCK_C)
    line = p // out_width
    is_pixel = p < out_height * out_width
    first_feature = group * group_features
    if PACKED:
        is_feature = tl.full((BLOCK_F, ), True, tl.int1)
        w += (first_feature + tl.program_id(1) * BLOCK_F) * KH * KW * group_channels
        w_columns = tl.arange(0, BLOCK_F)
        w_stride = BLOCK_F
    else:
        is_feature = f < group_features
        w_columns = first_feature + f
        w_stride = features
    top = line * STRIDE - PADDING
    left = (p - line * out_width) * STRIDE - PADDING
    plane = height * width
    x += (image * channels + group * group_channels) * plane
    acc = tl.zeros((BLOCK_P, BLOCK_F), dtype=tl.float32)
    for r in range(KH):
        for s in range(KW):
            from_row = top + r * DILATION
            from_column = left + s * DILATION
            inside = is_pixel
            if PADDING > 0:
                inside &= (from_row >= 0) & (from_row < height)
                inside &= (from_column >= 0) & (from_column < width)
            x_ptrs = x + (from_row * width + from_column)[:, None] + c[None, :] * plane
            w_rows = (r * KW + s) * group_channels + c
            w_ptrs = w + w_rows[:, None] * w_stride + w_columns[None, :]
            for start in range(0, group_channels, BLOCK_C):
                is_channel = c < group_channels - start
                a = tl.load(x_ptrs, mask=inside[:, None] & is_channel[None, :], other=0.0)
                b = tl.load(w_ptrs, mask=is_channel[:, None] & is_feature[None, :], other=0.0)
                acc = tl.dot(a, b, acc, input_precision="ieee")
                x_ptrs += BLOCK_C * plane
                w_ptrs += BLOCK_C * w_stride
    if HAS_BIAS:
        acc += tl.load(bias + first_feature + f, mask=is_feature, other=0.0)[None, :]
    if RELU:
        acc = tl.where(acc < 0.0, 0.0, acc)
    out = (image * features + first_feature + f) * out_height * out_width
    y_ptrs = y + out[None, :] + p[:, None]
    tl.store(y_ptrs, acc, mask=is_pixel[:, None] & is_feature[None, :])


def launch(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1, relu=False, block_p=128,
           block_f=64, block_c=64):
    """Upstream's way of calling the kernel: x [N, C, H, W], w [F, C / groups, KH, KW]."""
    import torch

    n, channels, height, width = x.shape
    features, group_channels, kh, kw = w.shape
    packed = features // groups % block_f == 0
    if packed:  # once for all images
        w = w.reshape(features // block_f, block_f, group_channels, kh, kw)
        w = w.permute(0, 3, 4, 2, 1).contiguous()
    else:
        w = w.permute(2, 3, 1, 0).contiguous()
    out_height = (height + 2 * padding - dilation * (kh - 1) - 1) // stride + 1
    out_width = (width + 2 * padding - dilation * (kw - 1) - 1) // stride + 1
    y = torch.empty((n, features, out_height, out_width), device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(out_height * out_width, block_p), triton.cdiv(features // groups, block_f),
            n * groups)
    conv2d_nchw[grid](
        x, w, x if bias is None else bias, y, height, width, out_height, out_width, channels,
        features, KH=kh, KW=kw, STRIDE=stride, PADDING=padding, DILATION=dilation, GROUPS=groups,
        HAS_BIAS=bias is not None, RELU=relu, PACKED=packed, BLOCK_P=block_p, BLOCK_F=block_f,
        BLOCK_C=block_c)
    return y
