// SPDX-License-Identifier: Apache-2.0
// Pooling, columns, other sizes and their gradients in bodies: shapes with sizes as names,
// constraints that follow, and what is refused.
#include "unittests/definition/Loading.h"

namespace nereid::definition {
namespace {

/// One operation on an image x; its result is reduced, so that its shape need not be declared.
Loaded windowed(const std::string &expression, const std::string &x,
                const std::string &type = "float32") {
  std::string sizes = "C = 8, K = 4"; // of w, and those that x has
  for (const char *name : {"N", "H", "W"}) {
    sizes += x.find(std::string("\"") + name + "\"") != std::string::npos
                 ? std::string(", ") + name + " = 16"
                 : "";
  }
  return load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"" + type +
              "\"]\nbody = '''\ny = " + expression +
              "\nout = (y * 1.0).sum()\n'''\n[inputs.x]\nshape = " + x +
              "\n[inputs.w]\nshape = [\"K\", \"C\", 3, 3]\n[inputs.v]\nshape = [8, 4, 2]\n"
              "[outputs.out]\nshape = []\n"
              "[performance]\ncases = [{ " +
              sizes + " }]\n");
}

const char *const image = "[\"N\", \"C\", \"H\", \"W\"]";

std::string shapeOf(const std::string &expression, const std::string &x = image) {
  Loaded loaded = windowed(expression, x);
  EXPECT_TRUE(loaded.op) << expression << "\n" << loaded.diags.render();
  if (!loaded.op) {
    return "";
  }
  const auto &nodes = loaded.op->nodes;
  const Node &product = nodes[static_cast<size_t>(nodes.back().inputs[0])];
  return text(nodes[static_cast<size_t>(product.inputs[0])].shape);
}

std::string constraintsOf(const std::string &expression) {
  Loaded loaded = windowed(expression, image);
  EXPECT_TRUE(loaded.op) << expression << "\n" << loaded.diags.render();
  std::string all;
  for (const Constraint &constraint :
       loaded.op ? loaded.op->constraints : std::vector<Constraint>{}) {
    all += constraint.text + "; ";
  }
  return all;
}

std::string codeOf(const std::string &expression, const std::string &x = image,
                   const std::string &type = "float32") {
  return windowed(expression, x, type).code();
}

TEST(Windows, ShapesFollowFromKernelStrideAndPadding) {
  EXPECT_EQ(shapeOf("F.max_pool2d(x, 2)"), "[N, C, H // 2, W // 2]");
  EXPECT_EQ(shapeOf("F.max_pool2d(x, 3, 2, 1)"), "[N, C, (H + 1) // 2, (W + 1) // 2]");
  EXPECT_EQ(shapeOf("F.max_pool2d(x, (3, 1), stride=(1, 2))"), "[N, C, H - 2, (W + 1) // 2]");
  EXPECT_EQ(shapeOf("F.max_pool2d(x, 5, 1, 2, dilation=(1, 2))"), "[N, C, H, W - 4]");
  EXPECT_EQ(shapeOf("F.max_pool2d(x, 2, ceil_mode=True)"), "[N, C, (H + 1) // 2, (W + 1) // 2]");
  // A window that began in the padding behind is none.
  EXPECT_EQ(shapeOf("F.max_pool2d(x, 2, 2, 1, ceil_mode=True)"),
            "[N, C, (H // 2) + 1, (W // 2) + 1]");
  EXPECT_EQ(shapeOf("F.max_pool2d(x, 2, return_indices=True)[1]"), "[N, C, H // 2, W // 2]");
  EXPECT_EQ(shapeOf("F.avg_pool1d(x[0], 4, 2, 1)"), "[C, H, W // 2]");
  EXPECT_EQ(shapeOf("F.avg_pool3d(x, (1, 2, 2))"), "[N, C, H // 2, W // 2]");
  EXPECT_EQ(shapeOf("F.adaptive_avg_pool2d(x, 1)"), "[N, C, 1, 1]");
  EXPECT_EQ(shapeOf("F.adaptive_max_pool2d(x, (2, 4))", "[\"N\", \"C\", 8, 8]"), "[N, C, 2, 4]");
  EXPECT_EQ(shapeOf("F.adaptive_avg_pool2d(x, (3, 5))"), "[N, C, 3, 5]");
  EXPECT_EQ(shapeOf("F.adaptive_max_pool2d(x, 7, return_indices=True)[1]"), "[N, C, 7, 7]");
  EXPECT_EQ(shapeOf("torch.ops.aten._adaptive_avg_pool2d_backward(x[..., :3, :3], x)"),
            "[N, C, H, W]");
  EXPECT_EQ(shapeOf("F.max_unpool2d(x, x.to(torch.int64), 3, 2, 1)"),
            "[N, C, 2 * H - 1, 2 * W - 1]");
  EXPECT_EQ(shapeOf("F.max_unpool2d(x, x.to(torch.int64), 2, output_size=(9, W))"), "[N, C, 9, W]");
  EXPECT_EQ(shapeOf("F.unfold(x, 3, padding=1)"), "[N, 9 * C, H * W]");
  EXPECT_EQ(shapeOf("F.fold(x, (4, 4), 2, stride=2)", "[\"N\", 12, 4]"), "[N, 3, 4, 4]");
}

TEST(Windows, ConvolutionsOfOtherDimensions) {
  EXPECT_EQ(shapeOf("F.conv2d(x, w)"), "[N, K, H - 2, W - 2]");
  EXPECT_EQ(shapeOf("F.conv2d(x, w, stride=2, padding=1)"), "[N, K, (H + 1) // 2, (W + 1) // 2]");
  EXPECT_EQ(shapeOf("F.conv1d(x, v, groups=2)", "[\"N\", 8, \"W\"]"), "[N, 8, W - 1]");
  EXPECT_EQ(shapeOf("F.conv3d(x.unsqueeze(2), w.unsqueeze(2), padding=(0, 1, 1))"),
            "[N, K, 1, H, W]");
  EXPECT_EQ(shapeOf("F.conv_transpose1d(x, v, stride=3)", "[\"N\", 8, \"W\"]"),
            "[N, 4, 3 * W - 1]");
  EXPECT_EQ(shapeOf("F.conv_transpose2d(x, w.permute(1, 0, 2, 3), None, 2, 1, 1)"),
            "[N, K, 2 * H, 2 * W]");
}

TEST(Windows, OtherSizes) {
  EXPECT_EQ(shapeOf("F.interpolate(x, scale_factor=2)"), "[N, C, 2 * H, 2 * W]");
  EXPECT_EQ(shapeOf("F.interpolate(x, scale_factor=(1.5, 0.5))"), "[N, C, (H // 2) + H, W // 2]");
  EXPECT_EQ(shapeOf("F.interpolate(x, size=(W, 7), mode=\"bilinear\")"), "[N, C, W, 7]");
  EXPECT_EQ(shapeOf("F.interpolate(x, size=(H, 5), mode=\"area\")"), "[N, C, H, 5]");
  EXPECT_EQ(shapeOf("F.interpolate(x, size=(W, 7), mode=\"bicubic\")"), "[N, C, W, 7]");
  EXPECT_EQ(shapeOf("torch.ops.aten.upsample_bilinear2d_backward(x, [H, W], [N, C, 7, W], True)"),
            "[N, C, 7, W]");
  EXPECT_EQ(shapeOf("F.grid_sample(x, x[..., :2])"), "[N, C, C, H]");
  EXPECT_EQ(shapeOf("F.grid_sample(x, x[..., :2], mode=\"bicubic\")"), "[N, C, C, H]");
  EXPECT_EQ(shapeOf("torch.ops.aten.upsample_nearest2d(x, [2 * H, W])"), "[N, C, 2 * H, W]");
  EXPECT_EQ(shapeOf("torch.ops.aten.upsample_nearest2d_backward(x, [H, W], [N, C, 2 * H, W])"),
            "[N, C, 2 * H, W]");
  EXPECT_EQ(shapeOf("F.pixel_shuffle(x, 2)", "[\"N\", 8, \"H\", \"W\"]"), "[N, 2, 2 * H, 2 * W]");
  EXPECT_EQ(shapeOf("F.pixel_unshuffle(x, 2)", "[\"N\", \"C\", 8, 4]"), "[N, 4 * C, 4, 2]");
  EXPECT_EQ(shapeOf("torch.ops.aten.slice_backward(x[:, :, ::2], [N, C, H, W], 2, 0, H, 2)"),
            "[N, C, H, W]");
  EXPECT_EQ(shapeOf("torch.ops.aten.reflection_pad1d_backward(x[0], x[0, :, :, 3:], [1, 2])"),
            "[C, H, W - 3]");
}

TEST(Windows, WhatSizesDecideIsAConstraint) {
  EXPECT_EQ(constraintsOf("F.max_pool2d(x, 3)"), "H >= 3; W >= 3; ");
  EXPECT_EQ(constraintsOf("F.max_pool2d(x, 3, 1, 1)"), "H >= 1; W >= 1; ");
  EXPECT_EQ(constraintsOf("F.conv2d(x, w, stride=2)"), "H >= 3; W >= 3; ");
  EXPECT_EQ(constraintsOf("F.conv2d(x, w, padding=\"same\")"), "");
  EXPECT_EQ(constraintsOf("F.interpolate(x, scale_factor=2)"), "");
}

TEST(Windows, RefusalsHaveAPlace) {
  EXPECT_EQ(codeOf("F.max_pool2d(x, 3, 1, 2)"), "E0604"); // more than half of the kernel
  EXPECT_EQ(codeOf("F.max_pool2d(x, 0)"), "E0608");
  EXPECT_EQ(codeOf("F.max_pool2d(x, (2, 2, 2))"), "E0608");
  EXPECT_EQ(codeOf("F.max_pool2d(x, H)"), "E0608");
  EXPECT_EQ(codeOf("F.max_pool2d(x)"), "E0608");
  EXPECT_EQ(codeOf("F.max_pool2d(x, 2, return_indices=True)"), "E0608"); // two tensors
  EXPECT_EQ(codeOf("F.max_pool2d(x, 2, kernel=3)"), "E0608");
  EXPECT_EQ(codeOf("F.max_pool1d(x, 2)"), "E0604");
  EXPECT_EQ(codeOf("F.max_pool2d(x, 9)", "[\"N\", \"C\", 8, 8]"), "E0604");
  EXPECT_EQ(codeOf("F.avg_pool2d(x, 2)", image, "int64"), "E0608");
  EXPECT_EQ(codeOf("F.avg_pool2d(x, 2, divisor_override=0)"), "E0608");
  EXPECT_EQ(codeOf("F.adaptive_avg_pool2d(x, 0)"), "E0608");
  EXPECT_EQ(codeOf("F.adaptive_avg_pool2d(x, (3, 3, 3))"), "E0608");
  EXPECT_EQ(codeOf("F.adaptive_avg_pool2d(x, 3)", image, "int64"), "E0608");
  EXPECT_EQ(codeOf("F.adaptive_max_pool2d(x, 3)", image, "int64"), "E0608");
  EXPECT_EQ(codeOf("F.max_unpool2d(x, w.to(torch.int64), 0)"), "E0608");
  EXPECT_EQ(codeOf("F.max_unpool2d(x, x, 2)"), "E0608"); // places are integers
  EXPECT_EQ(codeOf("F.fold(x, (4, 4), 2)", "[\"N\", 12, 4]"), "E0604");
  EXPECT_EQ(codeOf("F.conv1d(x, w)"), "E0604");
  EXPECT_EQ(codeOf("F.conv_transpose2d(x, w, stride=2, output_padding=2)"), "E0604");
  EXPECT_EQ(codeOf("F.interpolate(x)"), "E0608");
  EXPECT_EQ(codeOf("F.interpolate(x, scale_factor=0.3333)"), "E0608");
  EXPECT_EQ(codeOf("F.interpolate(x[0], scale_factor=2, mode=\"bicubic\")"), "E0608"); // one side
  EXPECT_EQ(codeOf("F.interpolate(x, scale_factor=2, mode=\"bicubic\", antialias=True)"), "E0608");
  EXPECT_EQ(codeOf("F.interpolate(x, scale_factor=2, mode=\"bicubic\")", image, "int32"), "E0608");
  EXPECT_EQ(codeOf("F.interpolate(x, size=3, mode=\"area\", align_corners=True)"), "E0608");
  EXPECT_EQ(codeOf("torch.ops.aten.upsample_bilinear2d_backward(x, [H, W], [C, 2 * H, W], False)"),
            "E0604");
  EXPECT_EQ(codeOf("torch.ops.aten.upsample_bilinear2d_backward(x, [H, W], [N, C, 2 * H, W])"),
            "E0608");
  EXPECT_EQ(codeOf("F.grid_sample(x, x)"), "E0604");
  EXPECT_EQ(codeOf("F.grid_sample(x, x[..., :2], mode=\"cubic\")"), "E0608");
  EXPECT_EQ(codeOf("F.grid_sample(x, x[..., :2], padding_mode=\"zero\")"), "E0608");
  EXPECT_EQ(codeOf("F.grid_sample(x, x[..., :2])", image, "int64"), "E0608");
  EXPECT_EQ(codeOf("F.interpolate(x, scale_factor=2, mode=\"linear\")"), "E0608");
  EXPECT_EQ(codeOf("F.interpolate(x, scale_factor=2, align_corners=True)"), "E0608");
  EXPECT_EQ(codeOf("F.pixel_shuffle(x, 2)"), "E0604"); // C may be any number
  EXPECT_EQ(codeOf("F.group_norm(x, 3)"), "E0604");
  EXPECT_EQ(codeOf("F.batch_norm(x)"), "E0608");
  EXPECT_EQ(codeOf("torch.ops.aten.select_backward(x, [N, C, H, W], 0, 1)"), "E0604");
  EXPECT_EQ(codeOf("torch._spread(x, 2)"), "E0603"); // no body names it
}

} // namespace
} // namespace nereid::definition
