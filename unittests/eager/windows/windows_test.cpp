// SPDX-License-Identifier: Apache-2.0
// Windows, other sizes and their gradients: baseline and reference against what PyTorch 2.11 makes
// of 0, 1, 2 and so on in 4 rows of 5.
#include "unittests/eager/windows/WindowExamples.h"

#include <limits>

namespace nereid::eager {
namespace {

const std::vector<Example> &examples() {
  static const std::vector<Example> list = {
      {"F.max_pool2d(x[None], 3, stride=2, padding=1)[0]", "[2, 3]", {6, 8, 9, 16, 18, 19}},
      {"F.max_pool2d(x[None], 2, ceil_mode=True)[0]", "[2, 3]", {6, 8, 9, 16, 18, 19}},
      {"F.max_pool2d(-x[None], (2, 3), stride=1, padding=(1, 0), dilation=(2, 1))[0]",
       "[4, 3]",
       {-5, -6, -7, -0, -1, -2, -5, -6, -7, -10, -11, -12}},
      {"F.max_pool1d(x, 2, padding=1)", "[4, 3]", {0, 2, 4, 5, 7, 9, 10, 12, 14, 15, 17, 19}},
      {"F.avg_pool2d(x[None], 2)[0]", "[2, 2]", {3, 5, 13, 15}},
      {"F.avg_pool2d(x[None], 3, stride=2, padding=1, ceil_mode=True)[0]",
       "[3, 3]",
       {4.0 / 3, 3, 8.0 / 3, 7, 12, 9, 31.0 / 6, 8.5, 37.0 / 6}},
      {"F.avg_pool2d(x[None], 3, stride=1, padding=1, count_include_pad=False)[0]",
       "[4, 5]",
       {3, 3.5, 4.5, 5.5, 6, 5.5, 6, 7, 8, 8.5, 10.5, 11, 12, 13, 13.5, 13, 13.5, 14.5, 15.5, 16}},
      {"F.avg_pool2d(x[None], (2, 1), divisor_override=4)[0]",
       "[2, 5]",
       {1.25, 1.75, 2.25, 2.75, 3.25, 6.25, 6.75, 7.25, 7.75, 8.25}},
      {"F.avg_pool1d(x, 3, 1, 1)",
       "[4, 5]",
       {1.0 / 3, 1,  2,  3,  7.0 / 3, 11.0 / 3, 6,  7,  8,  17.0 / 3,
        7,       11, 12, 13, 9,       31.0 / 3, 16, 17, 18, 37.0 / 3}},
      {"F.lp_pool1d(x, 2, 2, ceil_mode=True)",
       "[4, 3]",
       {1, 2989.0 / 829, 5572.0 / 985, 5639.0 / 722, 10577.0 / 995, 8935.0 / 702, 1665.0 / 112,
        13605.0 / 769, 19601.0 / 990, 18949.0 / 864, 11909.0 / 481, 4756.0 / 177}},
      {"F.adaptive_avg_pool2d(x[None], (2, 1))[0]", "[2, 1]", {4.5, 14.5}},
      {"F.adaptive_max_pool1d(x, 5)", "[4, 5]", {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,
                                                 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}},
      {"F.max_pool2d(x[None], 2, return_indices=True)[1][0]", "[2, 2]", {6, 8, 16, 18}},
      {"F.max_pool2d(-x[None], 3, 2, 1, return_indices=True)[1][0]", "[2, 3]", {0, 1, 3, 5, 6, 8}},
      {"F.unfold(x[None], (2, 3), stride=(2, 1))",
       "[6, 6]",
       {0, 1, 2, 10, 11, 12, 1, 2, 3, 11, 12, 13, 2, 3, 4, 12, 13, 14,
        5, 6, 7, 15, 16, 17, 6, 7, 8, 16, 17, 18, 7, 8, 9, 17, 18, 19}},
      {"F.fold(F.unfold(x[None], (2, 3), stride=(1, 2)), (4, 5), (2, 3), stride=(1, 2))[0]",
       "[4, 5]",
       {0, 1, 4, 3, 4, 10, 12, 28, 16, 18, 20, 22, 48, 26, 28, 15, 16, 34, 18, 19}},
      {"F.fold(F.unfold(x[None], 2, dilation=2, padding=1), (4, 5), 2, 2, 1)[0]",
       "[4, 5]",
       {0, 2, 4, 6, 4, 10, 24, 28, 32, 18, 20, 44, 48, 52, 28, 15, 32, 34, 36, 19}},
      {"torch.ops.aten.unfold_backward(x.unfold(1, 3, 2), [4, 5], 1, 3, 2)",
       "[4, 5]",
       {0, 1, 4, 3, 4, 5, 6, 14, 8, 9, 10, 11, 24, 13, 14, 15, 16, 34, 18, 19}},
      {"F.conv1d(x, x.flip(1)[None, :, :2], stride=2, dilation=2, padding=1)",
       "[1, 3]",
       {482, 1082, 608}},
      {"F.conv_transpose1d(x, x[:, None, :3], stride=2, padding=1, output_padding=1)",
       "[1, 10]",
       {380, 790, 414, 858, 448, 926, 482, 994, 516, 562}},
      {"F.conv_transpose2d(x[None], x[None, None, :2, :2], stride=(2, 1))[0]",
       "[8, 6]",
       {0,   0,   1,   2,  3,  4,  0,  5,  16, 27, 38, 24,  0,   5,   6,   7,
        8,   9,   25,  60, 71, 82, 93, 54, 0,  10, 11, 12,  13,  14,  50,  115,
        126, 137, 148, 84, 0,  15, 16, 17, 18, 19, 75, 170, 181, 192, 203, 114}},
      {"F.conv3d(x.unflatten(0, (2, 2))[None], x[None, None, :2, :3].unflatten(2, (2, "
       "1)))[0].flatten(0, 1)",
       "[2, 3]",
       {205, 226, 247, 310, 331, 352}},
      {"F.interpolate(x[None, None], scale_factor=(1, 2))[0, 0]",
       "[4, 10]",
       {0,  0,  1,  1,  2,  2,  3,  3,  4,  4,  5,  5,  6,  6,  7,  7,  8,  8,  9,  9,
        10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18, 18, 19, 19}},
      {"F.interpolate(x[None], size=3)[0]", "[4, 3]", {0, 1, 3, 5, 6, 8, 10, 11, 13, 15, 16, 18}},
      {"F.interpolate(x[None], size=7, mode=\"nearest-exact\")[0]",
       "[4, 7]",
       {0,  1,  1,  2,  3,  3,  4,  5,  6,  6,  7,  8,  8,  9,
        10, 11, 11, 12, 13, 13, 14, 15, 16, 16, 17, 18, 18, 19}},
      {"F.interpolate(x[None], scale_factor=2, mode=\"linear\")[0]",
       "[4, 10]",
       {0,  0.25,  0.75,  1.25,  1.75,  2.25,  2.75,  3.25,  3.75,  4,
        5,  5.25,  5.75,  6.25,  6.75,  7.25,  7.75,  8.25,  8.75,  9,
        10, 10.25, 10.75, 11.25, 11.75, 12.25, 12.75, 13.25, 13.75, 14,
        15, 15.25, 15.75, 16.25, 16.75, 17.25, 17.75, 18.25, 18.75, 19}},
      {"F.interpolate(x[None, None], size=(7, 9), mode=\"bilinear\", align_corners=True)[0, 0]",
       "[7, 9]",
       {0,  0.5,  1,  1.5,  2,  2.5,  3,  3.5,  4,  2.5,  3,  3.5,  4,  4.5,  5,  5.5,
        6,  6.5,  5,  5.5,  6,  6.5,  7,  7.5,  8,  8.5,  9,  7.5,  8,  8.5,  9,  9.5,
        10, 10.5, 11, 11.5, 10, 10.5, 11, 11.5, 12, 12.5, 13, 13.5, 14, 12.5, 13, 13.5,
        14, 14.5, 15, 15.5, 16, 16.5, 15, 15.5, 16, 16.5, 17, 17.5, 18, 18.5, 19}},
      {"F.interpolate(x[None], size=2, mode=\"linear\")[0]",
       "[4, 2]",
       {0.75, 3.25, 5.75, 8.25, 10.75, 13.25, 15.75, 18.25}},
      {"F.interpolate(x[None], scale_factor=1.5)[0]",
       "[4, 7]",
       {0,  0,  1,  2,  2,  3,  4,  5,  5,  6,  7,  7,  8,  9,
        10, 10, 11, 12, 12, 13, 14, 15, 15, 16, 17, 17, 18, 19}},
      {"torch.ops.aten.upsample_nearest1d_backward(x[None], [5], [1, 4, 3])[0]",
       "[4, 3]",
       {1, 5, 4, 11, 15, 9, 21, 25, 14, 31, 35, 19}},
      {"torch.ops.aten.upsample_nearest1d_backward(x[None], [5], [1, 4, 8])[0]",
       "[4, 8]",
       {0,  1,  0, 2,  3,  0, 4,  0, 5,  6,  0, 7,  8,  0, 9,  0,
        10, 11, 0, 12, 13, 0, 14, 0, 15, 16, 0, 17, 18, 0, 19, 0}},
      {"F.pixel_shuffle(x[:, None], 2)[0]", "[2, 10]", {0,  5,  1,  6,  2,  7,  3,  8,  4,  9,
                                                        10, 15, 11, 16, 12, 17, 13, 18, 14, 19}},
      {"F.pixel_unshuffle(x[None, :, :4], 2).flatten(1)",
       "[4, 4]",
       {0, 2, 10, 12, 1, 3, 11, 13, 5, 7, 15, 17, 6, 8, 16, 18}},
      {"torch.channel_shuffle(x[None], 2)[0]", "[4, 5]", {0, 1, 2, 3, 4, 10, 11, 12, 13, 14,
                                                          5, 6, 7, 8, 9, 15, 16, 17, 18, 19}},
      {"torch.ops.aten.reflection_pad1d_backward(x, x[:, :3], [1, 1])",
       "[4, 3]",
       {1, 6, 3, 6, 21, 8, 11, 36, 13, 16, 51, 18}},
      {"torch.ops.aten.replication_pad1d_backward(x, x[:, :2], [1, 2])",
       "[4, 2]",
       {1, 9, 11, 24, 21, 39, 31, 54}},
      {"torch.ops.aten.select_backward(x[0], [2, 5], 0, -1)",
       "[2, 5]",
       {0, 0, 0, 0, 0, 0, 1, 2, 3, 4}},
      {"torch.ops.aten.slice_backward(x, [4, 9], 1, 0, 9, 2)",
       "[4, 9]",
       {0,  0, 1,  0, 2,  0, 3,  0, 4,  5,  0, 6,  0, 7,  0, 8,  0, 9,
        10, 0, 11, 0, 12, 0, 13, 0, 14, 15, 0, 16, 0, 17, 0, 18, 0, 19}},
      {"torch.ops.aten.avg_pool2d_backward(x[None, :3, :3], x[None], [2, 3], [1, 1], [0, 0], "
       "False, True, None)[0]",
       "[4, 5]",
       {0,   1.0 / 6,  0.5, 0.5, 1.0 / 3,  5.0 / 6, 2,   3.5, 8.0 / 3,  1.5,
        2.5, 16.0 / 3, 8.5, 6,   19.0 / 6, 5.0 / 3, 3.5, 5.5, 23.0 / 6, 2}},
      {"torch.ops.aten.max_pool2d_with_indices_backward(x[None, :2, :2], x[None], [2, 2], [2, 2], "
       "[0, 0], [1, 1], False, F.max_pool2d(x[None], 2, return_indices=True)[1])[0]",
       "[4, 5]",
       {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 6, 0}},
      {"F.affine_grid(x[:2, :3][None], (1, 1, 2, 3), align_corners=False)[0].flatten(1)",
       "[2, 6]",
       {1.5, 2.0 / 3, 1.5, 4, 1.5, 22.0 / 3, 2.5, 20.0 / 3, 2.5, 10, 2.5, 40.0 / 3}},
      {"F.local_response_norm(x[None], 3, alpha=1.0, beta=1.0)[0]",
       "[4, 5]",
       {0,          3.0 / 40,   3.0 / 28,   9.0 / 76,   3.0 / 25,   15.0 / 128, 18.0 / 161,
        21.0 / 200, 24.0 / 245, 27.0 / 296, 30.0 / 353, 33.0 / 416, 36.0 / 485, 39.0 / 560,
        42.0 / 641, 45.0 / 328, 12.0 / 95,  51.0 / 436, 27.0 / 248, 57.0 / 560}},
  };
  return list;
}

TEST(Windows, AreWhatPyTorchMakes) { expectExamples(examples(), DType::F64, 1e-6); }

TEST(Windows, OfHalvesKeepTheirType) { expectExamples(examples(), DType::F16, 4e-3); }

TEST(Windows, OfIntegersBeginBelowAllOfThem) {
  for (DType dtype : {DType::I8, DType::I32, DType::I64, DType::U8}) {
    Tensor x = counted(dtype);
    const bool isSigned = dtype != DType::U8;
    for (int64_t i = 0; isSigned && i < x.elementCount(); ++i) {
      x.set(i, static_cast<double>(i - 120));
    }
    const double shift = isSigned ? -120 : 0;
    for (const auto &values : results("F.max_pool2d(x[None], 3, 2, 1)[0]", "[2, 3]", x)) {
      expectNear(values, {6 + shift, 8 + shift, 9 + shift, 16 + shift, 18 + shift, 19 + shift}, 0,
                 std::string(torchName(dtype)));
    }
  }
}

/// The last NaN of a window has its place; where nothing is larger than -inf the first element of
/// the image has, which of places two apart is that of the second row.
TEST(Windows, NaNWinsAndPaddingNeverDoes) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor x = counted(DType::F64);
  for (int64_t i = 0; i < 8; ++i) {
    x.set(i, -infinity);
  }
  x.set(12, NAN);
  x.set(18, NAN);
  const std::string pool = "F.max_pool2d(x[None], 3, 2, 1, return_indices=True)";
  for (const auto &values : results(pool + "[0][0]", "[2, 3]", x)) {
    EXPECT_EQ(values[0], -infinity);
    EXPECT_EQ(values[2], 9);
    EXPECT_TRUE(std::isnan(values[4]));
  }
  for (const auto &places : results(pool + "[1][0]", "[2, 3]", x, "int64")) {
    EXPECT_EQ(places, (std::vector<double>{0, 8, 9, 16, 18, 18}));
  }
  const std::string apart = "F.max_pool2d(x[None], (2, 3), 1, (1, 1), (2, 1), return_indices=True)";
  for (const auto &places : results(apart + "[1][0]", "[4, 5]", x, "int64")) {
    EXPECT_EQ(places, (std::vector<double>{5,  5,  8,  9,  9,  11, 12, 12, 12, 14,
                                           16, 17, 18, 18, 18, 11, 12, 12, 12, 14}));
  }
}

} // namespace
} // namespace nereid::eager
