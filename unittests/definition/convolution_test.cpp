// SPDX-License-Identifier: Apache-2.0
// conv2d and permute in a definition: shapes told from names and numbers, what is refused, and the
// work that is counted, all against numbers worked out by hand.
#include "unittests/definition/Loading.h"

#include "lib/definition/operations/Operations.h"

#include <gtest/gtest.h>

namespace nereid::definition {
namespace {

/// x and w as given, b: [F]; out of the declared shape.
Loaded convolution(const std::string &body, const std::string &x, const std::string &w,
                   const std::string &out) {
  std::string sizes;
  for (const char *symbol : {"N", "H", "W", "R", "S"}) {
    bool isUsed = (x + w).find("\"" + std::string(symbol) + "\"") != std::string::npos;
    sizes += isUsed ? (sizes.empty() ? "" : ", ") + std::string(symbol) + " = 5" : "";
  }
  return load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = '''\n" +
              body + "\n'''\n[inputs.x]\nshape = " + x + "\n[inputs.w]\nshape = " + w +
              "\n[inputs.b]\nshape = [8]\n[outputs.out]\nshape = " + out +
              "\n[performance]\ncases = [{ " + (sizes.empty() ? "name = \"given\"" : sizes) +
              " }]\n");
}

constexpr const char *image = "[\"N\", 4, \"H\", \"W\"]";

/// Shape of the result for x [N, 4, 30, 31] and the weight.
std::string shapeOf(const std::string &call, const std::string &weight) {
  Loaded loaded =
      convolution("y = " + call + "\nout = y.sum()", "[\"N\", 4, 30, 31]", weight, "[]");
  EXPECT_TRUE(loaded.op) << loaded.diags.render();
  for (const Node &node : loaded.op ? loaded.op->nodes : std::vector<Node>{}) {
    if (node.op == "conv2d") {
      return text(node.shape);
    }
  }
  return "";
}

std::string codeOf(const std::string &call, const std::string &x, const std::string &w) {
  return convolution("out = " + call, x, w, "[\"N\", 8, \"H\", \"W\"]").code();
}

TEST(Conv2dShape, SizesAreTheFloorOfTheWindowsThatFit) {
  // (30 + 2 * 1 - 2 - 1) / 2 + 1 = 15, (31 + 2 - 2 - 1) / 2 + 1 = 16
  EXPECT_EQ(shapeOf("conv2d(x, w, b, stride=2, padding=1)", "[8, 4, 3, 3]"), "[N, 8, 15, 16]");
  // (30 + 6 - 2 * 4 - 1) / 3 + 1 = 10, (31 - 1 * 2 - 1) / 1 + 1 = 29
  EXPECT_EQ(shapeOf("F.conv2d(x, w, None, (3, 1), [3, 0], (2, 1))", "[8, 4, 5, 3]"),
            "[N, 8, 10, 29]");
  EXPECT_EQ(shapeOf("conv2d(x, w, padding=\"valid\")", "[8, 4, 30, 31]"), "[N, 8, 1, 1]");
  EXPECT_EQ(shapeOf("conv2d(x, w, padding='same', dilation=3)", "[8, 4, 4, 3]"), "[N, 8, 30, 31]");
  EXPECT_EQ(shapeOf("conv2d(x, w, groups=4)", "[8, 1, 1, 1]"), "[N, 8, 30, 31]");
}

TEST(Conv2dShape, NamesStayWhereTheSizeDoes) {
  Loaded loaded = convolution("out = relu(conv2d(x, w, b, padding=1))", image, "[8, 4, 3, 3]",
                              "[\"N\", 8, \"H\", \"W\"]");
  EXPECT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_TRUE(convolution("out = conv2d(x, w, b, padding='same')", image, "[8, 4, \"R\", \"S\"]",
                          "[\"N\", 8, \"H\", \"W\"]")
                  .op);
  EXPECT_TRUE(
      convolution("out = conv2d(x, w)", "[4, \"H\", \"W\"]", "[8, 4, 1, 1]", "[8, \"H\", \"W\"]")
          .op);
}

TEST(Conv2dShape, RefusesWhatPytorchRefuses) {
  EXPECT_EQ(codeOf("conv2d(x, w, b)", image, "[8, 3, 1, 1]"), "E0604");              // channels
  EXPECT_EQ(codeOf("conv2d(x, w, groups=3)", image, "[8, 2, 1, 1]"), "E0604");       // channels
  EXPECT_EQ(codeOf("conv2d(x, w, groups=4)", image, "[6, 1, 1, 1]"), "E0604");       // features
  EXPECT_EQ(codeOf("conv2d(x, w, b)", image, "[9, 4, 1, 1]"), "E0604");              // bias
  EXPECT_EQ(codeOf("conv2d(x, w, b)", image, "[8, 4, 3, 3]"), "E0604");              // H - 2
  EXPECT_EQ(codeOf("conv2d(x, w, b)", "[\"N\", 4, 2, 2]", "[8, 4, 3, 3]"), "E0604"); // too small
  EXPECT_EQ(codeOf("conv2d(x, b, b)", image, "[8, 4, 1, 1]"), "E0604");              // rank
  EXPECT_EQ(codeOf("conv2d(x, w, stride=0)", image, "[8, 4, 1, 1]"), "E0608");
  EXPECT_EQ(codeOf("conv2d(x, w, padding=-1)", image, "[8, 4, 1, 1]"), "E0608");
  EXPECT_EQ(codeOf("conv2d(x, w, padding=(1, 1, 1))", image, "[8, 4, 1, 1]"), "E0608");
  EXPECT_EQ(codeOf("conv2d(x, w, padding='full')", image, "[8, 4, 1, 1]"), "E0608");
  EXPECT_EQ(codeOf("conv2d(x, w, padding='same', stride=2)", image, "[8, 4, 1, 1]"), "E0608");
  EXPECT_EQ(codeOf("conv2d(x, w, groups=0)", image, "[8, 4, 1, 1]"), "E0608");
  EXPECT_EQ(codeOf("conv2d(x, w, stride=b)", image, "[8, 4, 1, 1]"), "E0608");
}

TEST(PermuteShape, ListsDimensionsInTheirNewOrder) {
  for (const char *call : {"x.permute(0, 2, 3, 1)", "torch.permute(x, (0, 2, 3, 1))",
                           "permute(x, dims=[-4, -2, -1, -3])"}) {
    Loaded loaded =
        convolution(std::string("out = ") + call, image, "[1]", "[\"N\", \"H\", \"W\", 4]");
    EXPECT_TRUE(loaded.op) << call << "\n" << loaded.diags.render();
  }
  for (const char *call : {"x.unsqueeze(1)", "torch.unsqueeze(x, dim=-4)"}) {
    Loaded loaded =
        convolution(std::string("out = ") + call, image, "[1]", "[\"N\", 1, 4, \"H\", \"W\"]");
    EXPECT_TRUE(loaded.op) << call << "\n" << loaded.diags.render();
  }
  EXPECT_EQ(codeOf("x.unsqueeze(5)", image, "[1]"), "E0604");
  EXPECT_EQ(codeOf("x.unsqueeze(-6)", image, "[1]"), "E0604");
  EXPECT_EQ(codeOf("x.unsqueeze(0)", "[\"...\", \"H\"]", "[1]"), "E0604");
  for (const char *call : {"x.permute(0, 2, 1)", "x.permute(0, 1, 2, 2)", "x.permute(0, 1, 2, 4)",
                           "x.permute(0, 1, 2, 3, 4)"}) {
    EXPECT_EQ(codeOf(call, image, "[1]"), "E0604") << call;
  }
  EXPECT_EQ(codeOf("x.permute(0, 1, 2, b)", image, "[1]"), "E0608");
  EXPECT_EQ(codeOf("x.permute(1, 0)", "[\"...\", \"H\"]", "[1]"), "E0604");
}

TEST(Conv2dWork, FusedFormMovesItsOperandsOnceAndUnfusedEveryStep) {
  Loaded loaded = convolution("y = conv2d(x, w)\nz = y + b.sum()\nout = relu(z)", image,
                              "[8, 4, 1, 1]", "[\"N\", 8, \"H\", \"W\"]");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  Binding binding{{{"N", 2}, {"H", 9}, {"W", 7}}, {}};
  const double pixels = 2 * 9 * 7, in = 4 * pixels, out = 8 * pixels;
  Work fused = countWork(*loaded.op, binding, DType::F32);
  EXPECT_EQ(fused.bytesRead, 4 * (in + 8 * 4 + 8));
  EXPECT_EQ(fused.bytesWritten, 4 * out);
  // 4 products and sums for each result, a bias of 8 added up, one addition, one comparison
  EXPECT_EQ(fused.flops, out * 2 * 4 + 8 + out + out);
  Work unfused = countUnfusedWork(*loaded.op, binding, DType::F32);
  EXPECT_EQ(unfused.bytesRead, 4 * (in + 8 * 4 + 8 + out + 1 + out));
  EXPECT_EQ(unfused.bytesWritten, 4 * (out + 1 + out + out));
}

TEST(Conv2dWork, AGroupMultipliesItsOwnChannelsAndABiasIsAddedOnce) {
  Loaded loaded = convolution("out = conv2d(x, w, b, groups=2, padding=1)", image, "[8, 2, 3, 3]",
                              "[\"N\", 8, \"H\", \"W\"]");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  Binding binding{{{"N", 1}, {"H", 5}, {"W", 6}}, {}};
  EXPECT_EQ(countWork(*loaded.op, binding, DType::F32).flops, 8 * 30 * (2 * 2 * 9 + 1));
}

TEST(Conv2dWork, APermutedImageIsReadOnce) {
  Loaded loaded =
      convolution("y = conv2d(x.permute(0, 3, 1, 2), w)\nout = y.permute(0, 2, 3, 1)",
                  "[\"N\", \"H\", \"W\", 4]", "[8, 4, 1, 1]", "[\"N\", \"H\", \"W\", 8]");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  Binding binding{{{"N", 1}, {"H", 5}, {"W", 6}}, {}};
  Work unfused = countUnfusedWork(*loaded.op, binding, DType::F32);
  EXPECT_EQ(unfused.bytesRead, 4 * (30 * 4 + 8 * 4));
  EXPECT_EQ(unfused.bytesWritten, 4 * 30 * 8);
}

} // namespace
} // namespace nereid::definition
