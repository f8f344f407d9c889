# SPDX-License-Identifier: Apache-2.0
# y = relu(conv2d(x, w) + bias), images as NCHW and weights as [KH, KW, F, C / GROUPS]: an implicit
# matrix product. A tile has BLOCK_F features and BLOCK_P pixels of the result, so that neighbouring
# results read neighbouring pixels; every tap of the window adds the product of its weights and the
# pixels it reads. Pixels in the padding are masked.
import triton
import triton.language as tl


@triton.jit
def conv2d_nchw(x, w, bias, y, height, width, out_height, out_width, channels, features,
                KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr,
                DILATION: tl.constexpr, GROUPS: tl.constexpr, HAS_BIAS: tl.constexpr,
                RELU: tl.constexpr, BLOCK_F: tl.constexpr, BLOCK_P: tl.constexpr,
                BLOCK_C: tl.constexpr):
    # Where every pixel of the result has its own in the image, they are one list of neighbours;
    # else a tile is a part of one line.
    WHOLE: tl.constexpr = STRIDE == 1 and 2 * PADDING == DILATION * (KW - 1)
    row = 0
    span = out_height * out_width
    if not WHOLE:
        row = tl.program_id(0) // tl.cdiv(out_width, BLOCK_P)
        span = out_width
    image = tl.program_id(2) // GROUPS
    group = tl.program_id(2) % GROUPS
    group_channels = channels // GROUPS
    group_features = features // GROUPS
    p = (tl.program_id(0) % tl.cdiv(span, BLOCK_P)) * BLOCK_P + tl.arange(0, BLOCK_P)
    f = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    c = tl.arange(0, BLOCK_C)
    is_pixel = p < span
    is_feature = f < group_features
    line = row
    column = p
    if WHOLE:
        line = p // out_width
        column = p - line * out_width
    top = line * STRIDE - PADDING
    left = column * STRIDE - PADDING
    plane = height * width
    x += (image * channels + group * group_channels) * plane
    w += group * group_features * group_channels
    acc = tl.zeros((BLOCK_F, BLOCK_P), dtype=tl.float32)
    for r in range(KH):
        for s in range(KW):
            from_row = top + r * DILATION
            from_column = left + s * DILATION
            inside = is_pixel
            if PADDING > 0:
                inside &= (from_row >= 0) & (from_row < height)
                inside &= (from_column >= 0) & (from_column < width)
            if WHOLE:
                pixel = p + (r * DILATION - PADDING) * width + s * DILATION - PADDING
            else:
                pixel = from_row * width + from_column
            w_ptrs = w + ((r * KW + s) * features + f)[:, None] * group_channels + c[None, :]
            x_ptrs = x + c[:, None] * plane + pixel[None, :]
            for start in range(0, group_channels, BLOCK_C):
                is_channel = c < group_channels - start
                a = tl.load(w_ptrs, mask=is_feature[:, None] & is_channel[None, :], other=0.0)
                b = tl.load(x_ptrs, mask=is_channel[:, None] & inside[None, :], other=0.0)
                acc = tl.dot(a, b, acc, input_precision="ieee")
                w_ptrs += BLOCK_C
                x_ptrs += BLOCK_C * plane
    if HAS_BIAS:
        acc += tl.load(bias + group * group_features + f, mask=is_feature, other=0.0)[:, None]
    if RELU:
        acc = tl.maximum(acc, 0.0)
    out = (image * features + group * group_features + f) * out_height + row
    y_ptrs = y + out[:, None] * out_width + p[None, :]
    tl.store(y_ptrs, acc, mask=is_feature[:, None] & is_pixel[None, :])


def launch(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1, relu=False, block_f=128,
           block_p=64, block_c=64):
    """Upstream's way of calling the kernel: x [N, C, H, W], w [F, C / groups, KH, KW]."""
    import torch

    n, channels, height, width = x.shape
    features, _, kh, kw = w.shape
    taps = w.permute(2, 3, 0, 1).contiguous()  # once for all images
    out_height = (height + 2 * padding - dilation * (kh - 1) - 1) // stride + 1
    out_width = (width + 2 * padding - dilation * (kw - 1) - 1) // stride + 1
    y = torch.empty((n, features, out_height, out_width), device=x.device, dtype=x.dtype)
    is_whole = stride == 1 and 2 * padding == dilation * (kw - 1)
    blocks = (triton.cdiv(out_height * out_width, block_p) if is_whole
              else out_height * triton.cdiv(out_width, block_p))
    grid = (blocks, triton.cdiv(features // groups, block_f), n * groups)
    conv2d_nchw[grid](
        x, taps, x if bias is None else bias, y, height, width, out_height, out_width, channels,
        features, KH=kh, KW=kw, STRIDE=stride, PADDING=padding, DILATION=dilation, GROUPS=groups,
        HAS_BIAS=bias is not None, RELU=relu, BLOCK_F=block_f, BLOCK_P=block_p, BLOCK_C=block_c)
    return y
