# SPDX-License-Identifier: Apache-2.0
# y = relu(conv2d(x, w) + bias), images as NHWC and weights as [KH, KW, C / GROUPS, F], or with
# PACKED, panel by panel, as [F / BLOCK_F, KH, KW, C / GROUPS, BLOCK_F]: an implicit matrix product.
# A tile has BLOCK_P pixels of the result and BLOCK_F features; every tap of the window adds the
# product of the pixels it reads and its weights. Pixels in the padding are masked.
import triton
import triton.language as tl


@triton.jit
def conv2d_nhwc(x, w, bias, y, pixels, height, width, out_height, out_width, channels, features,
                KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr,
                DILATION: tl.constexpr, GROUPS: tl.constexpr, HAS_BIAS: tl.constexpr,
                RELU: tl.constexpr, PACKED: tl.constexpr, BLOCK_P: tl.constexpr,
                BLOCK_F: tl.constexpr, BLOCK_C: tl.constexpr):
    group = tl.program_id(2)
    group_channels = channels // GROUPS
    group_features = features // GROUPS
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    f = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    c = tl.arange(0, BLOCK_C)
    line = p // out_width
    image = line // out_height
    is_pixel = p < pixels
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
    top = (line - image * out_height) * STRIDE - PADDING
    left = (p - line * out_width) * STRIDE - PADDING
    acc = tl.zeros((BLOCK_P, BLOCK_F), dtype=tl.float32)
    for r in range(KH):
        for s in range(KW):
            from_row = top + r * DILATION
            from_column = left + s * DILATION
            inside = is_pixel
            if PADDING > 0:
                inside &= (from_row >= 0) & (from_row < height)
                inside &= (from_column >= 0) & (from_column < width)
            pixel = p  # of a result as large as the image, without a window
            if KH * KW * STRIDE > 1 or PADDING > 0:
                pixel = (image * height + from_row) * width + from_column
            x_ptrs = x + (pixel * channels + group * group_channels)[:, None] + c[None, :]
            w_rows = (r * KW + s) * group_channels + c
            w_ptrs = w + w_rows[:, None] * w_stride + w_columns[None, :]
            for start in range(0, group_channels, BLOCK_C):
                is_channel = c < group_channels - start
                a = tl.load(x_ptrs, mask=inside[:, None] & is_channel[None, :], other=0.0)
                b = tl.load(w_ptrs, mask=is_channel[:, None] & is_feature[None, :], other=0.0)
                acc = tl.dot(a, b, acc, input_precision="ieee")
                x_ptrs += BLOCK_C
                w_ptrs += BLOCK_C * w_stride
    if HAS_BIAS:
        acc += tl.load(bias + first_feature + f, mask=is_feature, other=0.0)[None, :]
    if RELU:
        acc = tl.where(acc < 0.0, 0.0, acc)
    y_ptrs = y + (p * features + first_feature)[:, None] + f[None, :]
    tl.store(y_ptrs, acc, mask=is_pixel[:, None] & is_feature[None, :])


def launch(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1, relu=False, block_p=128,
           block_f=64, block_c=64):
    """Upstream's way of calling the kernel: x [N, H, W, C], w [KH, KW, C / groups, F]."""
    import torch

    n, height, width, channels = x.shape
    kh, kw, group_channels, features = w.shape
    packed = features // groups % block_f == 0
    if packed:  # once for all images
        w = w.reshape(kh, kw, group_channels, features // block_f, block_f)
        w = w.permute(3, 0, 1, 2, 4).contiguous()
    out_height = (height + 2 * padding - dilation * (kh - 1) - 1) // stride + 1
    out_width = (width + 2 * padding - dilation * (kw - 1) - 1) // stride + 1
    y = torch.empty((n, out_height, out_width, features), device=x.device, dtype=x.dtype)
    pixels = n * out_height * out_width
    grid = (triton.cdiv(pixels, block_p), triton.cdiv(features // groups, block_f), groups)
    conv2d_nhwc[grid](
        x, w, x if bias is None else bias, y, pixels, height, width, out_height, out_width,
        channels, features, KH=kh, KW=kw, STRIDE=stride, PADDING=padding, DILATION=dilation,
        GROUPS=groups, HAS_BIAS=bias is not None, RELU=relu, PACKED=packed, BLOCK_P=block_p,
        BLOCK_F=block_f, BLOCK_C=block_c)
    return y
