// SPDX-License-Identifier: Apache-2.0
// Sizes that a function leaves open, conversions of types and indices of loops: what the text of
// the function says, written anew here.
#include "unittests/linalg/Computes.h"

#include <cmath>
#include <limits>

namespace nereid::importer {
namespace {

using runtime::Tensor;
using Sizes = std::map<std::string, int64_t>;

Tensor normal(std::vector<int64_t> shape, DType dtype = DType::F32, uint64_t seed = 1) {
  Tensor tensor = Tensor::empty(std::move(shape), dtype);
  (void)fillNormal(tensor, seed);
  return tensor;
}
Tensor integers(std::vector<int64_t> shape, DType dtype, int64_t low = -100, int64_t high = 100) {
  Tensor tensor = Tensor::empty(std::move(shape), dtype);
  (void)fillIntegers(tensor, 7, low, high);
  return tensor;
}
Tensor result(std::vector<int64_t> shape, DType dtype = DType::F32) {
  return Tensor::empty(std::move(shape), dtype);
}
void expectOpen(const std::string &function, const Sizes &sizes, const Elements &inputs,
                const Tensor &out, const std::function<double(int64_t)> &compute) {
  expectComputes("open.mlir", function, sizes, inputs, {out},
                 [&](size_t, int64_t i) { return compute(i); });
}
int64_t whole(const Tensor &x, int64_t i) { return static_cast<int64_t>(x.at(i)); }
int64_t floored(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

const Sizes plane = {{"arg0.0", 6}, {"arg0.1", 9}};
const Sizes line = {{"arg0.0", 256}};

TEST(Open, Reductions) {
  const Tensor half = normal({6, 9}, DType::F16), single = normal({6, 9}),
               brain = normal({6, 9}, DType::BF16);
  expectOpen("half_sum", plane, {half}, result({6}), [&](int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < 9; ++j) {
      sum += half.at(i * 9 + j) * half.at(i * 9 + j);
    }
    return sum;
  });
  expectOpen("mean_rows", plane, {single}, result({6}), [&](int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < 9; ++j) {
      sum += single.at(i * 9 + j);
    }
    return sum / 9;
  });
  expectOpen("total", plane, {brain}, result({}), [&](int64_t) {
    double sum = 1;
    for (int64_t i = 0; i < 54; ++i) {
      sum += brain.at(i);
    }
    return sum;
  });
  const Tensor x = integers({6, 9}, DType::I8), start = integers({9}, DType::I32);
  expectOpen("integer_sums", plane, {x, start}, result({9}, DType::I32), [&](int64_t j) {
    int64_t sum = whole(start, j);
    for (int64_t i = 0; i < 6; ++i) {
      sum += whole(x, i * 9 + j) * i;
    }
    return static_cast<double>(sum);
  });
}

TEST(Open, IndicesOfLoops) {
  const Tensor x = normal({6, 9});
  expectOpen("causal", plane, {x}, result({6, 9}), [&](int64_t i) {
    return i / 9 < i % 9 ? -std::numeric_limits<double>::infinity() : x.at(i);
  });
  expectOpen("positions", plane, {x}, result({6, 9}), [&](int64_t i) {
    const int64_t j = i % 9;
    return static_cast<double>(j / 3 * 3 - j % 3);
  });
  const Tensor places = integers({256}, DType::I64);
  expectOpen("argument_of_index", line, {places}, result({256}, DType::I64),
             [&](int64_t i) { return static_cast<double>(std::max(whole(places, i), i)); });
}

TEST(Open, ProductsOfNarrowerTypes) {
  const Tensor x = integers({4, 13}, DType::I8, -128, 128),
               w = integers({13, 5}, DType::I8, -128, 128), factors = normal({5});
  expectOpen("quantised", {{"arg0.1", 13}}, {x, w, factors}, result({4, 5}), [&](int64_t i) {
    int64_t sum = 0;
    for (int64_t k = 0; k < 13; ++k) {
      sum += whole(x, i / 5 * 13 + k) * whole(w, k * 5 + i % 5);
    }
    return static_cast<float>(sum) * static_cast<float>(factors.at(i % 5));
  });
  const Tensor a = normal({4, 13}, DType::F16), b = normal({13, 5}, DType::F16, 2),
               c = normal({4, 5}, DType::F32, 3);
  expectOpen("half_product", {{"arg0.0", 4}, {"arg0.1", 13}, {"arg1.1", 5}}, {a, b, c},
             result({4, 5}), [&](int64_t i) {
               double sum = c.at(i);
               for (int64_t k = 0; k < 13; ++k) {
                 sum += a.at(i / 5 * 13 + k) * b.at(k * 5 + i % 5);
               }
               return sum;
             });
}

TEST(Open, ConversionsOfIntegers) {
  const Tensor x = integers({256}, DType::I8, -128, 128), y = integers({256}, DType::I32);
  expectOpen("unsigned", line, {x}, result({256}), [&](int64_t i) {
    const int64_t bits = whole(x, i) & 255;
    return static_cast<double>(bits + bits - whole(x, i));
  });
  expectOpen("bits", line, {y}, result({256}, DType::I32), [&](int64_t i) {
    const bool bit = (whole(y, i) & 1) != 0, isLess = whole(y, i) <= 7;
    return (bit ? -1 : 0) + (bit ? 10 : 0) + (bit != isLess ? 7 : -7);
  });
  expectOpen("divisions", line, {y}, result({256}, DType::I32), [&](int64_t i) {
    const int64_t v = whole(y, i);
    return static_cast<double>(v / 7 + floored(v, 7) * 10000 - floored(-v, 7) - v % 7 * 100);
  });
  const Tensor flags = integers({256}, DType::Bool, 0, 2), z = integers({256}, DType::I64);
  expectOpen("weights", line, {flags, z}, result({256}, DType::F64), [&](int64_t i) {
    return static_cast<double>(flags.at(i) != 0 ? 1 - whole(z, i) : 0);
  });
}

TEST(Open, ConversionsOfFloats) {
  const Tensor x = normal({256});
  expectOpen("whole", line, {x}, result({256}, DType::I8), [&](int64_t i) {
    const auto v = static_cast<int32_t>(static_cast<float>(x.at(i)) * 100.0F);
    return static_cast<double>(static_cast<int8_t>(v));
  });
  expectOpen("narrow", line, {x}, result({256}, DType::F16), [&](int64_t i) {
    return static_cast<double>(fromHalf(toHalf(x.at(i)))) * fromHalf(toHalf(0.333));
  });
}

/// What one operation runs over together is one size; a number among them is all of them.
TEST(Open, SizesThatAreTied) {
  const Tensor x = normal({7, 4}), b = normal({4}, DType::F32, 2),
               w = normal({7, 4}, DType::F32, 3);
  expectOpen("tied", {}, {x, b, w}, result({7, 4}),
             [&](int64_t i) { return x.at(i) * b.at(i % 4) + w.at(i); });
  const Tensor row = normal({33});
  expectComputes("open.mlir", "given_size", {{"arg0.0", 33}}, {row},
                 {result({33}), result({33}, DType::I32)}, [&](size_t number, int64_t i) {
                   const auto share = static_cast<float>(i) / 33.0F;
                   return number == 0 ? row.at(i) * share : 5;
                 });
  const Tensor across = normal({8}), other = normal({5, 9});
  expectOpen("outer", {{"arg0.0", 8}, {"arg1.0", 5}, {"arg1.1", 9}}, {across, other},
             result({5, 8}), [&](int64_t i) { return -across.at(i % 8); });
}

} // namespace
} // namespace nereid::importer
