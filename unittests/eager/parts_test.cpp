// SPDX-License-Identifier: Apache-2.0
// Bodies that write parts of tensors, of the baseline and the reference, against loops written out
// here.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

namespace nereid::eager {
namespace {

constexpr int64_t rows = 5, columns = 7;

/// What is written where, of x[i, j] = 10 i + j.
using Element = std::function<double(int64_t row, int64_t column)>;

double x(int64_t row, int64_t column) { return static_cast<double>(10 * row + column); }

void expectElements(const std::string &body, const Element &expected) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = '''\n" + body +
          "\n'''\n[inputs.x]\nshape = [\"M\", \"N\"]\n[outputs.out]\nshape = [\"M\", \"N\"]\n"
          "[performance]\ncases = [{ M = 5, N = 7 }]\n",
      diags);
  ASSERT_TRUE(op) << body << "\n" << diags.render();
  Tensor given = Tensor::empty({rows, columns}, DType::F32);
  std::vector<double> wanted;
  for (int64_t i = 0; i < rows * columns; ++i) {
    given.set(i, x(i / columns, i % columns));
    wanted.push_back(expected(i / columns, i % columns));
  }
  std::vector<Tensor> inputs = {given};
  auto outputs = runGraph(*op, inputs, runtime::defaultPool());
  auto reference =
      runReference(*op, inputs, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(outputs) << render(outputs.error());
  ASSERT_TRUE(reference) << render(reference.error());
  EXPECT_EQ(list((*outputs)[0]), wanted) << body;
  EXPECT_EQ(list((*reference)[0].values), wanted) << body;
}

TEST(WrittenParts, OfOneDimension) {
  expectElements("out = x.clone()\nout[:, 0] = 0",
                 [](int64_t i, int64_t j) { return j == 0 ? 0 : x(i, j); });
  expectElements("out = x.clone()\nout[-1] = x[0]",
                 [](int64_t i, int64_t j) { return i == rows - 1 ? x(0, j) : x(i, j); });
  expectElements("out = x.clone()\nout[..., 2:-1] *= 3", [](int64_t i, int64_t j) {
    return j >= 2 && j < columns - 1 ? 3 * x(i, j) : x(i, j);
  });
  expectElements("out = x.clone()\nout[:, 1:3] = x[:, -1:]", [](int64_t i, int64_t j) {
    return j == 1 || j == 2 ? x(i, columns - 1) : x(i, j);
  });
}

TEST(WrittenParts, OfSeveralDimensions) {
  expectElements("out = x.clone()\nout[1:-1, 2] = 5", [](int64_t i, int64_t j) {
    return i > 0 && i < rows - 1 && j == 2 ? 5 : x(i, j);
  });
  expectElements("out = torch.zeros_like(x)\nout[1:, 1:] = x[:-1, :-1]",
                 [](int64_t i, int64_t j) { return i > 0 && j > 0 ? x(i - 1, j - 1) : 0; });
}

TEST(WrittenParts, EachSecondAndThird) {
  expectElements("out = x.clone()\nout[:, ::2] = 0",
                 [](int64_t i, int64_t j) { return j % 2 == 0 ? 0 : x(i, j); });
  expectElements(
      "out = x.clone()\nout[1::3, 1::2] = x[:(M + 1) // 3, :N // 2]",
      [](int64_t i, int64_t j) { return i % 3 == 1 && j % 2 == 1 ? x(i / 3, j / 2) : x(i, j); });
}

TEST(WrittenParts, OneAfterTheOther) {
  expectElements("out = x.clone()\nfor k in range(1, 7):\n    out[:, k] += out[:, k - 1]",
                 [](int64_t i, int64_t j) {
                   double sum = 0;
                   for (int64_t k = 0; k <= j; ++k) {
                     sum += x(i, k);
                   }
                   return sum;
                 });
  expectElements("x[0] = x[1]\nx[1] = x[0] * 2\nout = x", [](int64_t i, int64_t j) {
    return i == 0 ? x(1, j) : i == 1 ? 2 * x(1, j) : x(i, j);
  });
}

TEST(WrittenParts, RowsOfAMask) { // that has fewer dimensions, the first ones
  expectElements("out = x.clone()\nout[x[:, 0] > 25] = -1",
                 [](int64_t i, int64_t j) { return i > 2 ? -1 : x(i, j); });
  expectElements("out = x.clone()\nout[x > 25] += 100",
                 [](int64_t i, int64_t j) { return x(i, j) > 25 ? x(i, j) + 100 : x(i, j); });
}

} // namespace
} // namespace nereid::eager
