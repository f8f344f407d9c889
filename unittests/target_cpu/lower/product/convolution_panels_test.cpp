// SPDX-License-Identifier: Apache-2.0
// The convolutions of kernels/conv2d with weights panel by panel, several panels and groups:
// against the interpreter on every vector width, and against plain loops in double precision.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

struct Convolution {
  int64_t images, height, width, channels, features, taps, stride, padding, dilation, groups;
  int64_t blockP, blockF, blockC;
  int64_t out(int64_t size) const {
    return (size + 2 * padding - dilation * (taps - 1) - 1) / stride + 1;
  }
};

std::string kernelText(const std::string &name) {
  std::ifstream file(NEREID_SOURCE_DIR "/kernels/conv2d/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string signatureOf(const Convolution &c, bool isLast) {
  return fmt::format("x=*fp32, w=*fp32, bias=*fp32, y=*fp32, {}height=i32, width=i32, "
                     "out_height=i32, out_width=i32, channels=i32, features=i32, KH={}, KW={}, "
                     "STRIDE={}, PADDING={}, DILATION={}, GROUPS={}, HAS_BIAS=1, RELU=1, PACKED=1, "
                     "BLOCK_P={}, BLOCK_F={}, BLOCK_C={}",
                     isLast ? "pixels=i32, " : "", c.taps, c.taps, c.stride, c.padding, c.dilation,
                     c.groups, c.blockP, c.blockF, c.blockC);
}

/// One element of the result; x and y as [N, H, W, C] with `isLast`, else as [N, C, H, W].
double expected(const Convolution &c, bool isLast, const Tensor &x, const Tensor &w,
                const Tensor &bias, int64_t image, int64_t f, int64_t row, int64_t column) {
  const int64_t channels = c.channels / c.groups;
  const int64_t first = f / (c.features / c.groups) * channels;
  double sum = bias.at(f);
  for (int64_t r = 0; r < c.taps; ++r) {
    for (int64_t s = 0; s < c.taps; ++s) {
      const int64_t i = row * c.stride + r * c.dilation - c.padding;
      const int64_t j = column * c.stride + s * c.dilation - c.padding;
      for (int64_t k = 0; k < channels && i >= 0 && i < c.height && j >= 0 && j < c.width; ++k) {
        const int64_t at = isLast ? ((image * c.height + i) * c.width + j) * c.channels + first + k
                                  : ((image * c.channels + first + k) * c.height + i) * c.width + j;
        const int64_t panelRow = ((f / c.blockF * c.taps + r) * c.taps + s) * channels + k;
        sum += x.at(at) * w.at(panelRow * c.blockF + f % c.blockF);
      }
    }
  }
  return std::max(sum, 0.0);
}

void check(const Convolution &c, bool isLast) {
  const int64_t height = c.out(c.height), width = c.out(c.width), pixels = height * width;
  Tensor x = randomTensor({c.images, c.channels, c.height, c.width}, DType::F32, 1);
  Tensor w = randomTensor({c.taps * c.taps * c.channels / c.groups, c.features}, DType::F32, 2);
  Tensor bias = randomTensor({c.features}, DType::F32, 3);
  Tensor y = randomTensor({c.images, pixels, c.features}, DType::F32, 4);
  Arguments arguments = {&x, &w, &bias, &y};
  if (isLast) {
    arguments.push_back(c.images * pixels);
  }
  for (int64_t size : {c.height, c.width, height, width, c.channels, c.features}) {
    arguments.push_back(size);
  }
  auto blocks = [](int64_t size, int64_t block) {
    return static_cast<int32_t>((size + block - 1) / block);
  };
  std::array<int32_t, 3> grid{blocks(isLast ? c.images * pixels : pixels, c.blockP),
                              blocks(c.features / c.groups, c.blockF),
                              static_cast<int32_t>(isLast ? c.groups : c.images * c.groups)};
  const double terms = static_cast<double>(c.taps * c.taps * c.channels);
  std::vector<Tensor> results;
  ASSERT_EQ(compareWithOracle(kernelText(isLast ? "conv2d_nhwc.py" : "conv2d_nchw.py"),
                              signatureOf(c, isLast), grid, arguments, 1e-6 * (terms + 10),
                              &results),
            "");
  const Tensor &result = results[3];
  for (int64_t image = 0; image < c.images; ++image) {
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      for (int64_t f = 0; f < c.features; f += 7) {
        const int64_t at = isLast ? (image * pixels + pixel) * c.features + f
                                  : (image * c.features + f) * pixels + pixel;
        ASSERT_NEAR(result.at(at),
                    expected(c, isLast, x, w, bias, image, f, pixel / width, pixel % width),
                    1e-6 * (terms + 10))
            << "image " << image << " pixel " << pixel << " feature " << f;
      }
    }
  }
}

const Convolution cases[] = {
    // Two panels, three panels with a dilated window, groups of one panel each, a stride, no
    // padding.
    {2, 7, 9, 20, 128, 3, 1, 1, 1, 1, 32, 64, 16},  {1, 9, 8, 33, 192, 3, 1, 2, 2, 1, 64, 64, 32},
    {2, 6, 5, 32, 128, 3, 1, 1, 1, 2, 32, 64, 16},  {1, 11, 10, 24, 128, 3, 2, 1, 1, 1, 16, 64, 32},
    {2, 5, 7, 70, 256, 1, 1, 0, 1, 1, 128, 64, 64}, {1, 13, 5, 16, 64, 5, 1, 4, 1, 1, 32, 32, 16},
};

TEST(ConvolutionPanels, ChannelsLast) {
  for (const Convolution &c : cases) {
    check(c, true);
  }
}

TEST(ConvolutionPanels, ChannelsFirst) {
  for (const Convolution &c : cases) {
    check(c, false);
  }
}

} // namespace
