// SPDX-License-Identifier: Apache-2.0
// Other sizes, their gradients, parts of several lengths and points between pixels: baseline and
// reference against PyTorch's formulas, evaluated in fractions on 0, 1, 2 and so on in 4 rows of 5.
// Gradients were made by handing each weight of the forward formula back.
#include "unittests/eager/windows/WindowExamples.h"

#include <limits>

namespace nereid::eager {
namespace {

const std::vector<Example> &examples() {
  static const std::vector<Example> list = {
      {"torch.ops.aten.upsample_linear1d_backward(x[None], [5], [1, 4, 3], False)[0]",
       "[4, 3]",
       {0.6, 3.6, 5.8, 8.6, 12.6, 13.8, 16.6, 21.6, 21.8, 24.6, 30.6, 29.8}},
      {"torch.ops.aten.upsample_linear1d_backward(x[None], [5], [1, 4, 3], True)[0]",
       "[4, 3]",
       {0.5, 4, 5.5, 8, 14, 13, 15.5, 24, 20.5, 23, 34, 28}},
      {"torch.ops.aten.upsample_linear1d_backward(x[None], [5], [1, 4, 8], False)[0]",
       "[4, 8]",
       {0, 0.1, 0.9, 1, 1, 2.7,  1.5, 2.8, 3.5,  2.1, 5.4,  3.5, 3.5, 7.2,  3.5, 6.3,
        7, 4.1, 9.9, 6, 6, 11.7, 5.5, 9.8, 10.5, 6.1, 14.4, 8.5, 8.5, 16.2, 7.5, 13.3}},
      {"torch.ops.aten.upsample_linear1d_backward(x[None, :, :4], [4], [1, 4, 2], True)[0]",
       "[4, 2]",
       {4.0 / 3, 14.0 / 3, 34.0 / 3, 44.0 / 3, 64.0 / 3, 74.0 / 3, 94.0 / 3, 104.0 / 3}},
      {"torch.ops.aten.upsample_linear1d_backward(x[None], [5], [1, 4, 1], True)[0]",
       "[4, 1]",
       {10, 35, 60, 85}},
      {"torch.ops.aten.upsample_bilinear2d_backward(x[None, None], [4, 5], [1, 1, 2, 3], False)[0, "
       "0]",
       "[2, 3]",
       {11.2, 18.45, 21.6, 39.2, 49.95, 49.6}},
      {"torch.ops.aten.upsample_bicubic2d_backward(x[None, None], [4, 5], [1, 1, 2, 3], False)[0, "
       "0]",
       "[2, 3]",
       {527173.0 / 64000, 14.77575, 1263429.0 / 64000, 2715323.0 / 64000, 50.88825,
        3451579.0 / 64000}},
      {"torch.ops.aten.upsample_bicubic2d_backward(x[None, None], [4, 5], [1, 1, 3, 4], True)[0, "
       "0]",
       "[3, 4]",
       {1975.0 / 3456, 18935.0 / 6912, 35315.0 / 6912, 5125.0 / 864, 93955.0 / 6912,
        132139.0 / 6912, 153811.0 / 6912, 142975.0 / 6912, 46025.0 / 2304, 10045.0 / 384,
        10955.0 / 384, 58375.0 / 2304}},
      {"F.interpolate(x[None, None], size=(5, 3), mode=\"bicubic\")[0, 0]",
       "[5, 3]",
       {-961.0 / 21600, 1.69625, 74239.0 / 21600, 71561.0 / 21600, 5.05375, 146761.0 / 21600,
        419.0 / 54, 9.5, 607.0 / 54, 263639.0 / 21600, 13.94625, 338839.0 / 21600, 336161.0 / 21600,
        17.30375, 411361.0 / 21600}},
      {"F.interpolate(x[None, None], scale_factor=(0.5, 2), mode=\"bicubic\", "
       "align_corners=True)[0, 0]",
       "[2, 10]",
       {0,
        259.0 / 729,
        614.0 / 729,
        37.0 / 27,
        1261.0 / 729,
        1655.0 / 729,
        71.0 / 27,
        2302.0 / 729,
        2657.0 / 729,
        4,
        15,
        11194.0 / 729,
        11549.0 / 729,
        442.0 / 27,
        12196.0 / 729,
        12590.0 / 729,
        476.0 / 27,
        13237.0 / 729,
        13592.0 / 729,
        19}},
      {"F.interpolate(x.unflatten(0, (2, 2))[None, None], size=(3, 3, 4), mode=\"trilinear\")[0, "
       "0].flatten(0, 1)",
       "[9, 4]",
       {0.125,  1.375,  2.625,  3.875,  2.625,  3.875,  5.125,  6.375,  5.125,
        6.375,  7.625,  8.875,  5.125,  6.375,  7.625,  8.875,  7.625,  8.875,
        10.125, 11.375, 10.125, 11.375, 12.625, 13.875, 10.125, 11.375, 12.625,
        13.875, 12.625, 13.875, 15.125, 16.375, 15.125, 16.375, 17.625, 18.875}},
      {"F.interpolate(x[None, None], size=(3, 3), mode=\"area\")[0, 0]",
       "[3, 3]",
       {3, 4.5, 6, 8, 9.5, 11, 13, 14.5, 16}},
      {"F.interpolate(x[None, None], size=(8, 2), mode=\"area\")[0, 0]",
       "[8, 2]",
       {1, 3, 1, 3, 6, 8, 6, 8, 11, 13, 11, 13, 16, 18, 16, 18}},
      {"F.adaptive_avg_pool1d(x, 3)",
       "[4, 3]",
       {0.5, 2, 3.5, 5.5, 7, 8.5, 10.5, 12, 13.5, 15.5, 17, 18.5}},
      {"F.adaptive_avg_pool2d(x[None], (3, 5))[0]",
       "[3, 5]",
       {2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5, 16.5}},
      {"F.adaptive_max_pool2d(-x[None], (3, 2))[0]", "[3, 2]", {0, -2, -5, -7, -10, -12}},
      {"F.adaptive_max_pool2d(-x[None], (3, 2), return_indices=True)[1][0]",
       "[3, 2]",
       {0, 2, 5, 7, 10, 12}},
      {"torch.ops.aten._adaptive_avg_pool2d_backward(x[None, :3, :2], x[None])[0]",
       "[4, 5]",
       {0,   0,   1.0 / 6,  1.0 / 6,  1.0 / 6,  5.0 / 6, 5.0 / 6, 2,   7.0 / 6,  7.0 / 6,
        2.5, 2.5, 16.0 / 3, 17.0 / 6, 17.0 / 6, 5.0 / 3, 5.0 / 3, 3.5, 11.0 / 6, 11.0 / 6}},
      {"torch.ops.aten._adaptive_avg_pool2d_backward(x[None], x[None, :2, :3])[0]",
       "[2, 3]",
       {8.5, 18, 18.5, 38.5, 58, 48.5}},
      {"torch.ops.aten._adaptive_avg_pool2d_backward(x[None, :2, :1], x[None])[0]",
       "[4, 5]",
       {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}},
      {"F.max_unpool2d(x[None, :2, :2], F.max_pool2d(x[None], 2, return_indices=True)[1], 2, "
       "output_size=(4, 5))[0]",
       "[4, 5]",
       {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 6, 0}},
      {"F.grid_sample(x[None, None], (x[:, :4] * 0.125 - 1.3125).unflatten(1, (2, 2))[None], "
       "\"bilinear\", \"zeros\", False)[0, 0]",
       "[4, 2]",
       {0, 0, 2.15625, 5.28125, 9.96875, 13.09375, 17.78125, 2945.0 / 256}},
      {"F.grid_sample(x[None, None], (x[:, :4] * 0.125 - 1.3125).unflatten(1, (2, 2))[None], "
       "\"bilinear\", \"zeros\", True)[0, 0]",
       "[4, 2]",
       {0, 105.0 / 256, 3.90625, 6.28125, 9.84375, 12.21875, 15.78125, 18.15625}},
      {"F.grid_sample(x[None, None], (x[:, :4] * 0.125 - 1.3125).unflatten(1, (2, 2))[None], "
       "\"bilinear\", \"border\", False)[0, 0]",
       "[4, 2]",
       {0, 0, 2.15625, 5.28125, 9.96875, 13.09375, 17.78125, 19}},
      {"F.grid_sample(x[None, None], (x[:, :4] * 0.125 - 1.3125).unflatten(1, (2, 2))[None], "
       "\"bilinear\", \"border\", True)[0, 0]",
       "[4, 2]",
       {0, 0.46875, 3.90625, 6.28125, 9.84375, 12.21875, 15.78125, 18.15625}},
      {"F.grid_sample(x[None, None], (x[:, :4] * 0.125 - 1.3125).unflatten(1, (2, 2))[None], "
       "\"bilinear\", \"reflection\", False)[0, 0]",
       "[4, 2]",
       {0.28125, 0, 2.15625, 5.28125, 9.96875, 13.09375, 17.78125, 19}},
      {"F.grid_sample(x[None, None], (x[:, :4] * 0.125 - 1.3125).unflatten(1, (2, 2))[None], "
       "\"bilinear\", \"reflection\", True)[0, 0]",
       "[4, 2]",
       {2.03125, 0.59375, 3.90625, 6.28125, 9.84375, 12.21875, 15.78125, 18.15625}},
      {"F.grid_sample(x[None, None], (x[:, :4] * 0.125 - 1.3125).unflatten(1, (2, 2))[None], "
       "\"nearest\", \"zeros\", False)[0, 0]",
       "[4, 2]",
       {0, 0, 0, 6, 12, 12, 18, 19}},
      {"F.grid_sample(x[None, None], (x[:, :4] * 0.125 - 1.3125).unflatten(1, (2, 2))[None], "
       "\"nearest\", \"zeros\", True)[0, 0]",
       "[4, 2]",
       {0, 0, 6, 6, 12, 12, 18, 19}},
      {"F.grid_sample(x[None, None], (x[:, :4] * 0.125 - 1.3125).unflatten(1, (2, 2))[None], "
       "\"nearest\", \"border\", False)[0, 0]",
       "[4, 2]",
       {0, 0, 0, 6, 12, 12, 18, 19}},
      {"F.grid_sample(x[None, None], (x[:, :4] * 0.125 - 1.3125).unflatten(1, (2, 2))[None], "
       "\"nearest\", \"border\", True)[0, 0]",
       "[4, 2]",
       {0, 0, 6, 6, 12, 12, 18, 19}},
      {"F.grid_sample(x[None, None], (x[:, :4] * 0.125 - 1.3125).unflatten(1, (2, 2))[None], "
       "\"nearest\", \"reflection\", False)[0, 0]",
       "[4, 2]",
       {0, 0, 0, 6, 12, 12, 18, 19}},
      {"F.grid_sample(x[None, None], (x[:, :4] * 0.125 - 1.3125).unflatten(1, (2, 2))[None], "
       "\"nearest\", \"reflection\", True)[0, 0]",
       "[4, 2]",
       {1, 0, 6, 6, 12, 12, 18, 19}},
  };
  return list;
}

TEST(Resizing, IsWhatPyTorchMakes) { expectExamples(examples(), DType::F64, 1e-12); }

TEST(Resizing, OfHalvesKeepsTheirType) { expectExamples(examples(), DType::F16, 4e-3); }

/// In front of the first element lies the second one too, times 0, as in PyTorch; behind the last
/// one nothing.
TEST(Resizing, TheFirstOfTwoNeighboursBegins) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor x = counted(DType::F64);
  x.set(0, infinity);
  x.set(6, infinity);
  x.set(14, infinity);
  for (const auto &values :
       results("F.interpolate(x[None], scale_factor=2, mode=\"linear\")[0]", "[4, 10]", x)) {
    EXPECT_EQ(values[0], infinity);
    EXPECT_TRUE(std::isnan(values[10]));
    EXPECT_EQ(values[11], infinity);
    EXPECT_EQ(values[29], infinity);
  }
  for (const auto &values :
       results("F.interpolate(x[None, :, :1], size=3, mode=\"linear\")[0]", "[4, 3]", x)) {
    EXPECT_EQ(values[3], 5);
  }
}

/// What is beyond the edges is not read: neither of its infinities makes NaN.
TEST(Resizing, OtherPartsAndOutsidesAreNotRead) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor x = counted(DType::F64);
  x.set(4, infinity);
  x.set(15, -infinity);
  for (const auto &values : results("F.adaptive_avg_pool1d(x, 3)", "[4, 3]", x)) {
    EXPECT_EQ(values[0], 0.5);
    EXPECT_EQ(values[1], 2);
    EXPECT_EQ(values[2], infinity);
    EXPECT_EQ(values[9], -infinity);
    EXPECT_EQ(values[10], 17);
  }
  for (const auto &values :
       results("torch.ops.aten.upsample_linear1d_backward(x[None], [5], [1, 4, 3], False)[0]",
               "[4, 3]", x)) {
    EXPECT_NEAR(values[0], 0.6, 1e-12);
    EXPECT_EQ(values[2], infinity);
    EXPECT_EQ(values[9], -infinity);
    EXPECT_NEAR(values[11], 29.8, 1e-12);
  }
  const std::string points = "(x[None, :, :2] * 0.0 + 0.5).unflatten(1, (2, 2)).flip(3)";
  x.set(4, 4);
  x.set(15, 15);
  x.set(0, infinity); // its product with 0 is NaN, which is no place
  for (const auto &values : results("F.grid_sample(x[None, None, :, 1:], " + points +
                                        ", align_corners=True)[0, 0, 0, :1]",
                                    "[1]", x)) {
    EXPECT_EQ(values[0], 0); // far outside, as PyTorch's kernels for GPUs have it
  }
}

} // namespace
} // namespace nereid::eager
