// SPDX-License-Identifier: Apache-2.0
// Reads and writes at indices from tensors: eager execution against loops written here, and the
// reference with its bounds against eager execution, for indices that repeat, count from the end,
// lie at the ends or outside, and for tensors of no and of one element.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace nereid::eager {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Tensor index(std::vector<int64_t> shape, const std::vector<double> &values,
             DType dtype = DType::I64) {
  return make(std::move(shape), values, dtype);
}

std::map<std::string, Attribute> along(int64_t dim) { return {{"dim", dim}}; }

TEST(Indexing, GatherPicksElementByElement) {
  const Tensor x = make({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(list(call("gather", {x, index({2, 2}, {0, 2, 2, 0})}, along(-1))),
            (std::vector<double>{1, 3, 6, 4}));
  EXPECT_EQ(list(call("gather", {x, index({3, 3}, {0, 1, 0, 1, 1, 1, 0, 1, 0})}, along(-2))),
            (std::vector<double>{1, 5, 3, 4, 5, 6, 1, 5, 3}));
  EXPECT_EQ(call("gather", {x, index({2, 0}, {})}, along(-1)).shape(),
            (std::vector<int64_t>{2, 0}));
}

TEST(Indexing, IndexSelectTakesWholeRowsOfAnyDimension) {
  const Tensor x = make({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  EXPECT_EQ(list(call("index_select", {x, index({2}, {2, 0}, DType::I32)}, along(-2))),
            (std::vector<double>{4, 5, 0, 1, 10, 11, 6, 7}));
  EXPECT_EQ(list(call("index_select", {x, index({3}, {1, 1, 1})}, along(-3))),
            (std::vector<double>{6, 7, 8, 9, 10, 11, 6, 7, 8, 9, 10, 11, 6, 7, 8, 9, 10, 11}));
}

TEST(Indexing, IndicesBroadcastWithEachOther) {
  const Tensor x = make({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor rows = index({2, 1}, {1, 0}), columns = index({3}, {2, -2, 0});
  const Tensor out = call("index", {x, rows, columns}, along(-2));
  EXPECT_EQ(out.shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(list(out), (std::vector<double>{6, 5, 4, 3, 2, 1}));
}

TEST(Indexing, WritesReplaceOrJoin) {
  const Tensor x = make({3}, {10, 20, 30}), src = make({4}, {1, 2, 3, 4});
  const Tensor at = index({4}, {0, 2, 2, 0});
  auto reduced = [&](const char *how, bool includesSelf) {
    return list(call("scatter_reduce", {x, at, src},
                     {{"dim", int64_t{-1}}, {"reduce", how}, {"include_self", includesSelf}}));
  };
  EXPECT_EQ(list(call("scatter_add", {x, at, src}, along(-1))), (std::vector<double>{15, 20, 35}));
  EXPECT_EQ(reduced("sum", true), (std::vector<double>{15, 20, 35}));
  EXPECT_EQ(reduced("sum", false), (std::vector<double>{5, 20, 5}));
  EXPECT_EQ(reduced("prod", true), (std::vector<double>{40, 20, 180}));
  EXPECT_EQ(reduced("prod", false), (std::vector<double>{4, 20, 6}));
  EXPECT_EQ(reduced("amax", true), (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(reduced("amax", false), (std::vector<double>{4, 20, 3}));
  EXPECT_EQ(reduced("amin", true), (std::vector<double>{1, 20, 2}));
  EXPECT_EQ(reduced("amin", false), (std::vector<double>{1, 20, 2}));
  EXPECT_EQ(reduced("mean", true), (std::vector<double>{5, 20, 35.0F / 3}));
  EXPECT_EQ(reduced("mean", false), (std::vector<double>{2.5, 20, 2.5}));
  EXPECT_EQ(list(call("scatter", {x, index({2}, {1, 0}), make({2}, {7, 8})}, along(-1))),
            (std::vector<double>{8, 7, 30}));
}

TEST(Indexing, NaNIsWhatExtremaBecome) {
  const Tensor x = make({2}, {1, 2}), src = make({2}, {nan, 5}), at = index({2}, {0, 0});
  const auto out = list(call("scatter_reduce", {x, at, src},
                             {{"dim", int64_t{-1}}, {"reduce", "amax"}, {"include_self", true}}));
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], 2);
}

TEST(Indexing, RowsAreAddedWhereTheIndexSays) {
  const Tensor x = make({2, 2}, {0, 0, 100, 200}), rows = make({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(list(call("index_add", {x, index({3}, {1, 0, 1}), rows}, along(-2))),
            (std::vector<double>{3, 4, 106, 208}));
  EXPECT_EQ(list(call("index_put", {x, index({3}, {1, 0, 1}), rows},
                      {{"dim", int64_t{-2}}, {"accumulate", true}})),
            (std::vector<double>{3, 4, 106, 208}));
  EXPECT_EQ(
      list(call("index_put", {x, index({2, 1}, {0, 1}), index({2}, {1, 0}), make({2}, {7, 9})},
                {{"dim", int64_t{-2}}, {"accumulate", false}})),
      (std::vector<double>{9, 7, 9, 7}));
}

TEST(Indexing, IntegersWrapAndKeepTheirBits) {
  const Tensor x = make({1}, {120}, DType::I8), src = make({2}, {10, 7}, DType::I8);
  EXPECT_EQ(list(call("scatter_add", {x, index({2}, {0, 0}), src}, along(-1))),
            (std::vector<double>{-119}));
}

TEST(Indexing, IndicesOutsideAreNamed) {
  const Tensor x = make({3}, {1, 2, 3});
  for (double outside : {3.0, -4.0, 1e12}) {
    EXPECT_EQ(errorOf("gather", {x, index({1}, {outside})}, along(-1)), "E0629") << outside;
    EXPECT_EQ(errorOf("scatter_add", {x, index({1}, {outside}), make({1}, {1})}, along(-1)),
              "E0629")
        << outside;
  }
  EXPECT_EQ(errorOf("gather", {make({0}, {}), index({1}, {0})}, along(-1)), "E0629");
  // Negative ones count from the end in brackets alone.
  EXPECT_EQ(errorOf("gather", {x, index({1}, {-1})}, along(-1)), "E0629");
  EXPECT_EQ(errorOf("index_select", {x, index({1}, {-1})}, along(-1)), "E0629");
  EXPECT_EQ(list(call("index", {x, index({2}, {-1, -3})}, along(-1))), (std::vector<double>{3, 1}));
  EXPECT_EQ(errorOf("index", {x, index({1}, {-4})}, along(-1)), "E0629");
}

// ---- the reference ----

definition::Operator operatorOf(const std::string &body, const std::string &inputs,
                                const std::string &out) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "test.toml",
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\", \"float16\", "
      "\"float64\"]\nbody = \"\"\"\n" +
          body + "\n\"\"\"\n" + inputs + "[outputs.out]\nshape = " + out +
          "\n[performance]\ncases = [{ N = 4, M = 5 }]\n",
      diags);
  EXPECT_TRUE(op) << diags.render();
  return *op;
}

constexpr const char *written = "[inputs.x]\nshape = [\"N\"]\n[inputs.i]\nshape = [\"M\"]\ndtype = "
                                "\"int64\"\nrange = [0, \"N\"]\n[inputs.s]\nshape = [\"M\"]\n";

TEST(IndexingReference, BoundsOfSumsGrowWithTheirCollisions) {
  const auto op = operatorOf("out = torch.scatter_add(x, 0, i, s)", written, "[\"N\"]");
  const int64_t count = 1000;
  Tensor x = Tensor::empty({3}, DType::F32), s = Tensor::empty({count}, DType::F32);
  Tensor at = Tensor::empty({count}, DType::I64);
  runtime::fillNormal(s, 1);
  x.set(0, 0.1);
  x.set(1, 0.1);
  x.set(2, 0.1);
  for (int64_t i = 0; i < count; ++i) {
    at.set(i, i == 0 ? 1 : 0); // one in element 1, all others in element 0, none in element 2
  }
  const std::vector<Tensor> in = {x, at, s};
  auto made = runReference(op, in, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(made) << render(made.error());
  const Tensor &bounds = (*made)[0].bounds;
  EXPECT_GT(bounds.at(0), 50 * bounds.at(1));
  EXPECT_GT(bounds.at(1), 0);
  EXPECT_EQ(bounds.at(2), 0);
  double sum = x.at(0);
  for (int64_t i = 1; i < count; ++i) {
    sum += s.at(i);
  }
  EXPECT_NEAR((*made)[0].values.at(0), sum, 1e-9);
}

TEST(IndexingReference, SeesWhatIsWrong) {
  const auto op = operatorOf("out = torch.scatter_add(x, 0, i, s)", written, "[\"N\"]");
  const std::vector<Tensor> in = {make({2}, {1, 2}), index({3}, {0, 0, 0}), make({3}, {4, 5, 6})};
  auto compare = [&](const std::vector<double> &values) {
    const std::vector<Tensor> out = {make({2}, values)};
    auto found =
        checkOutputs(op, in, out, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
    return found ? found->mismatches : -1;
  };
  EXPECT_EQ(compare({16, 2}), 0);
  EXPECT_EQ(compare({16.0001, 2}), 1);
  EXPECT_EQ(compare({10, 2}), 1); // the last one is lost
  EXPECT_EQ(compare({16, 2.000001}), 1);
}

/// Two shares of the first row are equal but for how they are rounded.
TEST(IndexingReference, WhatIsPutAtAnOpenPlaceLeavesOtherRowsKnown) {
  const auto op = operatorOf("shares = x / 3.0\nbest, place = shares.topk(1, dim=-1)\n"
                             "out = torch.full_like(x, 0.25).scatter(1, place, best)",
                             "[inputs.x]\nshape = [\"N\", \"M\"]\n", "[\"N\", \"M\"]");
  const std::vector<Tensor> in = {make({2, 4}, {3, 3, 1, 0, 1, 6, 0, 1})};
  auto compare = [&](const std::vector<double> &values) {
    const std::vector<Tensor> out = {make({2, 4}, values)};
    auto found =
        checkOutputs(op, in, out, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
    EXPECT_TRUE(found);
    EXPECT_EQ(found->unverifiable, 0);
    return found->mismatches;
  };
  EXPECT_EQ(compare({1, 0.25, 0.25, 0.25, 0.25, 2, 0.25, 0.25}), 0);
  EXPECT_EQ(compare({0.25, 1, 0.25, 0.25, 0.25, 2, 0.25, 0.25}), 0);
  EXPECT_EQ(compare({3, 0.25, 0.25, -2, 0.25, 2, 0.25, 0.25}), 2);
  EXPECT_EQ(compare({1, 0.25, 0.25, 0.25, 0.26, 2, 0.25, 0.25}), 1);
  EXPECT_EQ(compare({1, 0.25, 0.25, 0.25, 0.25, 0.25, 2, 0.25}), 2);
}

TEST(IndexingReference, NamesAnIndexOutside) {
  const auto op = operatorOf("out = x[i]", written, "[\"M\"]");
  const std::vector<Tensor> in = {make({2}, {1, 2}), index({2}, {0, 2}), make({2}, {0, 0})};
  auto made = runReference(op, in, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "E0629");
}

} // namespace
} // namespace nereid::eager
