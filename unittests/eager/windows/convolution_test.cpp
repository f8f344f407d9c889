// SPDX-License-Identifier: Apache-2.0
// conv2d against the sum of its definition, written here over zero-padded indices, and permute;
// results, and the reference with its bounds.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <fmt/format.h>

#include <cmath>

namespace nereid::eager {
namespace {

struct Form {
  int64_t batch, channels, height, width, features, kernelHeight, kernelWidth;
  int64_t stride, padding, dilation, groups;
};

const std::vector<Form> &forms() {
  static const std::vector<Form> list = {
      {2, 3, 7, 9, 5, 3, 3, 1, 1, 1, 1},   // plain
      {1, 8, 13, 11, 6, 1, 1, 1, 0, 1, 1}, // 1x1
      {2, 4, 15, 16, 8, 3, 3, 2, 1, 1, 1}, // strided
      {1, 4, 17, 12, 3, 3, 3, 1, 2, 2, 1}, // dilated
      {2, 8, 9, 9, 12, 3, 3, 1, 1, 1, 4},  // grouped
      {2, 6, 10, 21, 6, 3, 3, 2, 1, 1, 6}, // depthwise
      {1, 2, 8, 9, 4, 4, 2, 3, 3, 2, 2},   // everything at once
      {1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1},   // one element
  };
  return list;
}

Tensor normal(std::vector<int64_t> shape, uint64_t seed, DType dtype = DType::F32) {
  Tensor tensor = Tensor::empty(std::move(shape), dtype);
  runtime::fillNormal(tensor, seed);
  return tensor;
}

struct Operands {
  Tensor x, w, b;
  explicit Operands(const Form &f, DType dtype = DType::F32)
      : x(normal({f.batch, f.channels, f.height, f.width}, 1, dtype)),
        w(normal({f.features, f.channels / f.groups, f.kernelHeight, f.kernelWidth}, 2, dtype)),
        b(normal({f.features}, 3, dtype)) {}
};

int64_t resultSize(int64_t size, int64_t kernel, const Form &f) {
  return (size + 2 * f.padding - f.dilation * (kernel - 1) - 1) / f.stride + 1;
}

/// One element of the result, by the definition.
double element(const Form &f, const Operands &in, int64_t n, int64_t o, int64_t y, int64_t x) {
  int64_t perGroup = f.channels / f.groups, first = o / (f.features / f.groups) * perGroup;
  double sum = in.b.at(o);
  for (int64_t c = 0; c < perGroup; ++c) {
    for (int64_t r = 0; r < f.kernelHeight; ++r) {
      for (int64_t s = 0; s < f.kernelWidth; ++s) {
        int64_t row = y * f.stride + r * f.dilation - f.padding;
        int64_t column = x * f.stride + s * f.dilation - f.padding;
        bool isInside = row >= 0 && row < f.height && column >= 0 && column < f.width;
        int64_t pixel = ((n * f.channels + first + c) * f.height + row) * f.width + column;
        int64_t weight = ((o * perGroup + c) * f.kernelHeight + r) * f.kernelWidth + s;
        sum += isInside ? in.x.at(pixel) * in.w.at(weight) : 0;
      }
    }
  }
  return sum;
}

std::map<std::string, Attribute> attributesOf(const Form &f) {
  return {
      {"stride", f.stride}, {"padding", f.padding}, {"dilation", f.dilation}, {"groups", f.groups}};
}

TEST(Convolution, EqualsItsDefinitionInEveryForm) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
    double unit = dtype == DType::BF16  ? 0x1p-8
                  : dtype == DType::F16 ? 0x1p-11
                  : dtype == DType::F32 ? 0x1p-20
                                        : 0x1p-49;
    for (const Form &f : forms()) {
      Operands in(f, dtype);
      Tensor out = call("conv2d", {in.x, in.w, in.b}, attributesOf(f));
      int64_t height = resultSize(f.height, f.kernelHeight, f);
      int64_t width = resultSize(f.width, f.kernelWidth, f);
      ASSERT_EQ(out.shape(), (std::vector<int64_t>{f.batch, f.features, height, width}));
      ASSERT_EQ(out.dtype(), dtype);
      for (int64_t i = 0; i < out.elementCount(); ++i) {
        double expected = element(f, in, i / (f.features * height * width),
                                  i / (height * width) % f.features, i / width % height, i % width);
        ASSERT_NEAR(out.at(i), expected, unit * (1 + std::fabs(expected)) * 4)
            << torchName(dtype) << " form " << &f - forms().data() << " at " << i;
      }
    }
  }
}

TEST(Convolution, KnownNumbers) {
  Tensor x = make({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
  // Padding "same" of an even kernel: what is missing is added behind.
  Tensor w = make({1, 1, 1, 2}, {10, 1});
  EXPECT_EQ(list(call("conv2d", {x, w}, {{"padding", std::string("same")}})),
            (std::vector<double>{12, 23, 30, 45, 56, 60}));
  EXPECT_EQ(list(call("conv2d", {x, w}, {{"padding", std::string("valid")}})),
            (std::vector<double>{12, 23, 45, 56}));
  // One number for height, another for width; an image without batch.
  Tensor image = make({1, 2, 3}, {1, 2, 3, 4, 5, 6}), one = make({1, 1, 1, 1}, {1});
  Tensor out =
      call("conv2d", {image, one, make({1}, {100})},
           {{"stride", std::vector<int64_t>{2, 1}}, {"padding", std::vector<int64_t>{0, 1}}});
  EXPECT_EQ(out.shape(), (std::vector<int64_t>{1, 1, 5}));
  EXPECT_EQ(list(out), (std::vector<double>{100, 101, 102, 103, 100}));
}

TEST(Convolution, TakesAnyStrides) {
  const Form &f = forms()[2];
  Operands in(f);
  Tensor last = Tensor::empty({f.batch, f.height, f.width, f.channels}, DType::F32);
  for (int64_t i = 0; i < last.elementCount(); ++i) {
    int64_t c = i % f.channels, pixel = i / f.channels;
    int64_t n = pixel / (f.height * f.width), at = pixel % (f.height * f.width);
    last.set(i, in.x.at((n * f.channels + c) * f.height * f.width + at));
  }
  Tensor x = call("permute", {last}, {{"dims", std::vector<int64_t>{0, 3, 1, -2}}});
  ASSERT_EQ(x.data(), last.data()); // a view
  EXPECT_EQ(list(call("conv2d", {x, in.w, in.b}, attributesOf(f))),
            list(call("conv2d", {in.x, in.w, in.b}, attributesOf(f))));
}

TEST(Convolution, RefusesWhatDoesNotFit) {
  Tensor x = make({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}), w = make({1, 1, 1, 2}, {10, 1});
  EXPECT_EQ(errorOf("conv2d", {x, make({1, 2, 1, 1}, {1, 2})}), "E0604");
  EXPECT_EQ(errorOf("conv2d", {x, w, make({2}, {1, 2})}), "E0604");
  EXPECT_EQ(errorOf("conv2d", {x, make({1, 1, 3, 1}, {1, 2, 3})}), "E0604");
  EXPECT_EQ(errorOf("conv2d", {x, w}, {{"stride", int64_t{0}}}), "E0608");
  EXPECT_EQ(errorOf("conv2d", {x, w}, {{"padding", 0.5}}), "E0608");
  EXPECT_EQ(errorOf("conv2d", {x, w}, {{"stride", std::string("same")}}), "E0608");
  EXPECT_EQ(errorOf("permute", {x}, {{"dims", std::vector<int64_t>{0, 1, 2}}}), "E0604");
  Tensor more = call("unsqueeze", {make({2, 2}, {1, 2, 3, 4})}, {{"dim", int64_t{-2}}});
  EXPECT_EQ(more.shape(), (std::vector<int64_t>{2, 1, 2}));
  EXPECT_EQ(list(more), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(errorOf("unsqueeze", {more}, {{"dim", int64_t{4}}}), "E0604");
}

Operator graphOf(const Form &f, const std::string &body) {
  Diagnostics diags;
  std::string numbers = fmt::format("stride={}, padding={}, dilation={}, groups={}", f.stride,
                                    f.padding, f.dilation, f.groups);
  auto op = definition::parseOperator(
      "conv2d.toml",
      fmt::format("[operator]\nname = \"p\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = "
                  "'''\n{}'''\n[inputs.x]\nshape = [{}, {}, {}, {}]\n[inputs.w]\nshape = [{}, {}, "
                  "{}, {}]\n[inputs.b]\nshape = [{}]\n[outputs.out]\nshape = [{}, {}, {}, "
                  "{}]\n[performance]\ncases = [{{ name = \"given\" }}]\n",
                  fmt::format(fmt::runtime(body), numbers), f.batch, f.channels, f.height, f.width,
                  f.features, f.channels / f.groups, f.kernelHeight, f.kernelWidth, f.features,
                  f.batch, f.features, resultSize(f.height, f.kernelHeight, f),
                  resultSize(f.width, f.kernelWidth, f)),
      diags);
  EXPECT_TRUE(op) << diags.render();
  return *op;
}

TEST(ConvolutionReference, EqualsItsDefinitionAndBoundsWhatMayDiffer) {
  for (const Form &f : forms()) {
    Operands in(f);
    Operator op = graphOf(f, "out = conv2d(x, w, b, {})\n");
    std::vector<Tensor> inputs = {in.x, in.w, in.b};
    auto reference =
        runReference(op, inputs, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
    ASSERT_TRUE(reference) << render(reference.error());
    const ReferenceOutput &out = (*reference)[0];
    int64_t height = resultSize(f.height, f.kernelHeight, f);
    int64_t width = resultSize(f.width, f.kernelWidth, f);
    for (int64_t i = 0; i < out.values.elementCount(); ++i) {
      double expected = element(f, in, i / (f.features * height * width),
                                i / (height * width) % f.features, i / width % height, i % width);
      ASSERT_NEAR(out.values.at(i), expected, 1e-12) << &f - forms().data() << " at " << i;
      ASSERT_GT(out.bounds.at(i), 0x1p-25 * std::fabs(expected));
      ASSERT_LT(out.bounds.at(i), 1e-3);
    }
  }
}

/// Padding is zeros, which are multiplied.
TEST(ConvolutionReference, InfiniteWeightsOnPaddingAreNaN) {
  Form f{1, 1, 3, 4, 1, 3, 3, 1, 1, 1, 1};
  Operands in(f);
  in.w.set(0, INFINITY);
  std::vector<Tensor> inputs = {in.x, in.w, in.b};
  auto reference = runReference(graphOf(f, "out = conv2d(x, w, b, {})\n"), inputs, DType::F32,
                                Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(reference);
  const Tensor out = call("conv2d", inputs, attributesOf(f));
  for (int64_t i = 0; i < 12; ++i) {
    const bool isBorder = i < 4 || i % 4 == 0;
    const double value = (*reference)[0].values.at(i);
    EXPECT_EQ((*reference)[0].bounds.at(i), 0) << i;
    EXPECT_EQ(std::isnan(value), isBorder) << i;
    EXPECT_EQ(std::isnan(out.at(i)), isBorder) << i;
    EXPECT_TRUE(isBorder || value == std::copysign(INFINITY, in.x.at(i - 5))) << i;
  }
}

TEST(ConvolutionReference, JudgesAnImplementation) {
  for (const Form &f : forms()) {
    Operands in(f);
    Operator op = graphOf(f, "out = relu(conv2d(x, w, b, {})) + x.sum() * 0\n");
    std::vector<Tensor> inputs = {in.x, in.w, in.b};
    Tensor out = call("relu", {call("conv2d", inputs, attributesOf(f))});
    std::vector<Tensor> outputs = {out};
    auto good = checkOutputs(op, inputs, outputs, DType::F32, Rounding::OncePerResult,
                             runtime::defaultPool());
    ASSERT_TRUE(good) << render(good.error());
    EXPECT_TRUE(good->passed()) << &f - forms().data() << " worst " << good->worstRatio;
    EXPECT_EQ(good->elements, out.elementCount());
    out.set(out.elementCount() - 1, out.at(out.elementCount() - 1) + 0.01);
    auto bad = checkOutputs(op, inputs, outputs, DType::F32, Rounding::OncePerResult,
                            runtime::defaultPool());
    ASSERT_TRUE(bad);
    EXPECT_EQ(bad->mismatches, 1) << &f - forms().data();
    EXPECT_EQ(bad->first.index, out.elementCount() - 1);
  }
}

TEST(ConvolutionReference, PermutedOperandsAndErrorsOfEarlierSteps) {
  Form f{3, 4, 6, 5, 8, 3, 3, 1, 1, 1, 1};
  Operands in(f);
  Operator op = graphOf(f, "y = conv2d(x * 3.0, w.permute(0, 1, 2, 3), b, {})\n"
                           "out = y.permute(0, 2, 3, 1).permute(0, 3, 1, 2)\n");
  std::vector<Tensor> inputs = {in.x, in.w, in.b};
  auto reference =
      runReference(op, inputs, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(reference) << render(reference.error());
  Operator plain = graphOf(f, "out = conv2d(x, w, b, {})\n");
  auto smaller =
      runReference(plain, inputs, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(smaller);
  for (int64_t i = 0; i < (*reference)[0].values.elementCount(); ++i) {
    double bias = in.b.at(i / 30 % 8), value = (*smaller)[0].values.at(i);
    ASSERT_NEAR((*reference)[0].values.at(i), 3 * (value - bias) + bias, 1e-11) << i;
    // Three times the magnitudes, and one rounding more of each product.
    ASSERT_GT((*reference)[0].bounds.at(i), (*smaller)[0].bounds.at(i)) << i;
  }
}

} // namespace
} // namespace nereid::eager
