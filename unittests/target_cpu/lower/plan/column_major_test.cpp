// SPDX-License-Identifier: Apache-2.0
// Tiles whose neighbours in memory lie along another dimension than the last one, read whole and
// reduced, stored the same way or row by row.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

struct Shape {
  int64_t rows, columns;
};

/// A kernel of one tile `v` with its addresses in both orders.
std::string kernelOf(const std::string &load, const std::string &body) {
  return fmt::format(R"(
@triton.jit
def kernel(x, out, sums, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    by_column = columns[None, :] * M + rows[:, None]
    by_row = columns[None, :] + rows[:, None] * N
    v = tl.load(x + {})
    {}
)",
                     load, body);
}

std::string compare(const std::string &source, const Shape &shape, DType type,
                    const std::string &name) {
  Tensor x = randomTensor({shape.rows * shape.columns}, type, 1);
  Tensor out = randomTensor({shape.rows * shape.columns}, type, 2);
  Tensor sums = randomTensor({std::max(shape.rows, shape.columns)}, type, 3);
  const std::string signature =
      fmt::format("x=*{0}, out=*{0}, sums=*{0}, M={1}, N={2}", name, shape.rows, shape.columns);
  return compareWithOracle(source, signature, {1, 1, 1}, {&x, &out, &sums},
                           type == DType::F32 ? 1e-4 : 2e-2);
}

TEST(ColumnMajor, ReducedAndThenStored) {
  const std::vector<std::string> bodies = {
      "tl.store(sums + columns, tl.sum(v, axis=0))\n    tl.store(out + {}, v)",
      "tl.store(sums + rows, tl.sum(v, axis=1))\n    tl.store(out + {}, v)",
      "tl.store(sums + rows, tl.max(v, axis=1))\n    tl.store(out + {}, v + v)",
      "tl.store(out + {}, v)\n    tl.store(sums + rows, tl.sum(v, axis=1))",
      "tl.store(out + {}, v - tl.max(v, axis=0)[None, :])",
      "tl.store(out + {}, v - tl.max(v, axis=1)[:, None])",
  };
  for (const Shape &shape : {Shape{64, 32}, {32, 64}, {16, 4}}) {
    for (const char *load : {"by_column", "by_row"}) {
      for (const char *store : {"by_column", "by_row"}) {
        for (const std::string &body : bodies) {
          std::string source = kernelOf(load, fmt::format(fmt::runtime(body), store));
          EXPECT_EQ(compare(source, shape, DType::F32, "fp32"), "")
              << shape.rows << "x" << shape.columns << source;
        }
      }
    }
  }
}

TEST(ColumnMajor, OtherTypes) {
  std::string source = kernelOf("by_column", "tl.store(sums + rows, tl.max(v, axis=1))\n"
                                             "    tl.store(out + by_column, v)");
  for (auto [type, name] : {std::pair{DType::F16, "fp16"},
                            {DType::BF16, "bf16"},
                            {DType::I32, "i32"},
                            {DType::I8, "i8"},
                            {DType::I64, "i64"},
                            {DType::F64, "fp64"}}) {
    EXPECT_EQ(compare(source, {64, 32}, type, name), "") << name;
  }
}

/// A modifier that asks for stores past the caches, on a store of blocks that are transposed.
TEST(ColumnMajor, NonTemporalExplicitly) {
  std::string source = kernelOf("by_column", "tl.store(sums + rows, tl.sum(v, axis=1))\n"
                                             "    tl.store(out + by_column, v, "
                                             "cache_modifier='.cs')");
  EXPECT_EQ(compare(source, {64, 32}, DType::F32, "fp32"), "");
}

TEST(ColumnMajor, OrdersOfThreeDimensions) {
  const char *dims[] = {"a", "b", "c"};
  const int sizes[] = {4, 16, 32};
  int order[] = {0, 1, 2};
  do {
    // Neighbours in memory along order[2].
    std::string at =
        fmt::format("{} * {} + {} * {} + {}", dims[order[0]], sizes[order[1]] * sizes[order[2]],
                    dims[order[1]], sizes[order[2]], dims[order[2]]);
    for (int axis : {0, 1, 2}) {
      std::string source = fmt::format(R"(
@triton.jit
def kernel(x, out, sums):
    a = tl.arange(0, 4)[:, None, None]
    b = tl.arange(0, 16)[None, :, None]
    c = tl.arange(0, 32)[None, None, :]
    v = tl.load(x + {0})
    total = tl.sum(v, axis={1})
    tl.store(sums + tl.arange(0, {2}), tl.sum(total, axis=0))
    tl.store(out + {0}, v)
    tl.store(out + 2048 + a * 512 + b * 32 + c, v - tl.max(v, axis={1}, keep_dims=True))
)",
                                       at, axis, axis == 2 ? 16 : 32);
      Tensor x = randomTensor({2048}, DType::F32, 1), out = randomTensor({4096}, DType::F32, 2);
      Tensor sums = randomTensor({32}, DType::F32, 3);
      EXPECT_EQ(
          compareWithOracle(source, "*fp32, *fp32, *fp32", {1, 1, 1}, {&x, &out, &sums}, 1e-4), "")
          << source;
    }
  } while (std::next_permutation(std::begin(order), std::end(order)));
}

} // namespace
