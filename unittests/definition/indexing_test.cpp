// SPDX-License-Identifier: Apache-2.0
// Indices from tensors in definitions: shapes, types, ranges and what is refused, each with its
// place; and the values that tests draw.
#include "unittests/definition/Loading.h"

#include "lib/definition/cases/CaseGrid.h"
#include "lib/definition/cases/IndexData.h"
#include "lib/definition/operations/Operations.h"

#include <algorithm>
#include <set>

namespace nereid::definition {
namespace {

/// x: [N, D], i: [M] of int64 in [-N, N), j: [K, 1] of int32, g: [M, D] of int64, s: [M, D].
Loaded indexed(const std::string &body, const std::string &out, const std::string &range = "",
               const std::string &more = "") {
  return load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\", \"float16\"]\n" +
              more + "body = '''\n" + body +
              "\n'''\n[inputs.x]\nshape = [\"N\", \"D\"]\n[inputs.i]\nshape = [\"M\"]\ndtype = "
              "\"int64\"\n" +
              (range.empty() ? "range = [\"-N\", \"N\"]" : range) +
              "\n[inputs.j]\nshape = [\"K\", 1]\ndtype = \"int32\"\nrange = [0, \"D\"]\n"
              "[inputs.g]\nshape = [\"M\", \"D\"]\ndtype = \"int64\"\nrange = [0, \"N\"]\n"
              "[inputs.s]\nshape = [\"M\", \"D\"]\n[outputs.out]\nshape = " +
              out + "\n[performance]\ncases = [{ N = 7, D = 3, M = 5, K = 2 }]\n");
}

TEST(IndexingShapes, AreThoseOfTheirPoints) {
  const std::pair<const char *, const char *> calls[] = {
      {"torch.gather(x, 0, g)", "[\"M\", \"D\"]"},
      {"x.gather(-2, g)", "[\"M\", \"D\"]"},
      {"torch.take_along_dim(x, g, 0)", "[\"M\", \"D\"]"},
      {"x.index_select(0, i)", "[\"M\", \"D\"]"},
      {"x.index_select(1, i)", "[\"N\", \"M\"]"},
      {"x[i]", "[\"M\", \"D\"]"},
      {"x[:, i]", "[\"N\", \"M\"]"},
      {"x[..., i]", "[\"N\", \"M\"]"},
      {"x[i, j]", "[\"K\", \"M\"]"},
      {"x[j]", "[\"K\", 1, \"D\"]"},
      {"F.embedding(i, x)", "[\"M\", \"D\"]"},
      {"F.embedding(j, x, padding_idx=0)", "[\"K\", 1, \"D\"]"},
      {"torch.scatter(x, 0, g, s)", "[\"N\", \"D\"]"},
      {"torch.scatter(x, 0, g, 1.5)", "[\"N\", \"D\"]"},
      {"x.scatter(0, g, value=2)", "[\"N\", \"D\"]"},
      {"x.scatter_add(0, g, s)", "[\"N\", \"D\"]"},
      {"torch.scatter_reduce(x, 0, g, s, reduce='amax', include_self=False)", "[\"N\", \"D\"]"},
      {"torch.index_add(x, 0, i, s, alpha=2)", "[\"N\", \"D\"]"},
      {"x.index_put((i,), s)", "[\"N\", \"D\"]"},
      {"F.cross_entropy(s, i, reduction='none')", "[\"M\"]"},
      {"F.cross_entropy(s, i, label_smoothing=0.1)", "[]"},
      {"F.nll_loss(s, i, ignore_index=2, reduction='sum')", "[]"},
  };
  for (const auto &[text, shape] : calls) {
    Loaded loaded = indexed(std::string("out = ") + text, shape);
    EXPECT_TRUE(loaded.op) << text << "\n" << loaded.diags.render();
  }
}

TEST(IndexingShapes, ThatDoNotFitAreRefusedAtTheirPlace) {
  struct Refusal {
    const char *call, *code, *says;
  };
  const Refusal refusals[] = {
      {"torch.gather(x, 1, g)", "E0604", "index of the shape"},
      {"torch.gather(x, 2, g)", "E0604", "dimension"},
      {"torch.gather(x, M, g)", "E0608", "literal integer"},
      {"torch.gather(x, 0, x)", "E0608", "int64"},
      {"torch.gather(x, 0)", "E0608", "lacks"},
      {"x.index_select(0, g)", "E0604", "one dimension"},
      {"x[i, j, i]", "E0604", "dimensions"},
      {"x[x]", "E0608", "int64 or int32"},
      {"x[i, :, 0]", "E0608", "'...'"},
      {"torch.scatter(x, 0, g, i)", "E0604", "of the shape"},
      {"torch.scatter_add(x, 0, g, g)", "E0608", "of the type"},
      {"torch.scatter_reduce(x, 0, g, s, reduce='median')", "E0608", "amax"},
      {"torch.scatter_reduce(x, 0, g, s)", "E0608", "reduce"},
      {"torch.index_put(x, (i,), i)", "E0604", "broadcast"},
      {"F.cross_entropy(s, i, reduction='median')", "E0608", "reduction"},
      {"F.cross_entropy(s, x)", "E0604", ""},
      {"torch.index(x, i)", "E0603", "unknown"},
  };
  for (const auto &[text, code, says] : refusals) {
    Loaded loaded = indexed(std::string("out = ") + text, "[\"N\", \"D\"]");
    EXPECT_EQ(loaded.code(), code) << text << "\n" << loaded.diags.render();
    ASSERT_FALSE(loaded.diags.all().empty()) << text;
    EXPECT_NE(loaded.first().message.find(says), std::string::npos)
        << text << ": " << loaded.first().message;
    EXPECT_EQ(loaded.first().range.line, 6) << text;
  }
}

TEST(IndexingRanges, AreReadAndChecked) {
  const std::pair<const char *, const char *> ranges[] = {
      {"range = [0, \"N\"]", ""},
      {"range = [\"-N\", \"N\"]\ndistinct = -1", ""},
      {"range = [1, \"N * D - 1\"]", ""},
      {"range = [0]", "E0602"},
      {"range = \"N\"", "E0602"},
      {"range = [0, \"Q\"]", "E0602"},
      {"range = [0, \"f()\"]", "E0602"},
      {"range = [0, \"N / 2\"]", "E0602"},
      {"range = [0, \"N N\"]", "E0602"},
      {"range = [0, \"N\"]\ndistinct = -2", "E0602"},
      {"range = [0, \"N\"]\ndistinct = 0", "E0602"},
      {"distinct = -1", "E0602"},
      {"range = [3, 3]", "E0617"},
      {"range = [0, 2]\ndistinct = -1", "E0617"},
  };
  for (const auto &[text, code] : ranges) {
    Loaded loaded = indexed("out = x[i]", "[\"M\", \"D\"]", text);
    EXPECT_EQ(loaded.code(), code) << text << "\n" << loaded.diags.render();
  }
  Loaded loaded = indexed("out = x[i]", "[\"M\", \"D\"]", "", "deterministic = 1\n");
  EXPECT_EQ(loaded.code(), "E0602");
}

std::vector<int64_t> drawn(DataKind kind, int64_t count, int64_t low, int64_t high,
                           int64_t distinct = 0, uint64_t seed = 1) {
  runtime::Tensor tensor = runtime::Tensor::empty({count}, DType::I64);
  fillIndices(tensor, {kind}, seed, low, high, distinct);
  const auto *values = tensor.as<int64_t>();
  return {values, values + count};
}

TEST(IndexData, StaysInsideAndReachesBothEnds) {
  for (int kind = 0; kind < dataKindCount; ++kind) {
    for (int64_t high : {1, 2, 7, 1000}) {
      for (int64_t low : {int64_t{0}, -high}) {
        for (int64_t value : drawn(static_cast<DataKind>(kind), 33, low, high)) {
          EXPECT_TRUE(value >= low && value < high) << kind << " " << value;
        }
      }
    }
  }
  const auto plain = drawn(DataKind::Normal, 9, -5, 5);
  EXPECT_EQ(plain.front(), 4);
  EXPECT_EQ(plain.back(), -5);
  const auto ones = drawn(DataKind::Ones, 9, 0, 5);
  EXPECT_EQ(std::set<int64_t>(ones.begin(), ones.end()), (std::set<int64_t>{4}));
  const auto sorted = drawn(DataKind::SortedRows, 9, -5, 5);
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  const auto reversed = drawn(DataKind::Cancelling, 9, -5, 5);
  EXPECT_TRUE(std::is_sorted(reversed.rbegin(), reversed.rend()));
  const auto few = drawn(DataKind::Scaled, 99, 0, 1000);
  EXPECT_LE(std::set<int64_t>(few.begin(), few.end()).size(), 3U);
}

TEST(IndexData, DistinctOnesNeverMeet) {
  for (int kind = 0; kind < dataKindCount; ++kind) {
    std::set<int64_t> met;
    for (int64_t value : drawn(static_cast<DataKind>(kind), 7, -7, 7, -1)) {
      EXPECT_TRUE(met.insert(value < 0 ? value + 7 : value).second) << kind;
    }
    EXPECT_EQ(met.size(), 7U);
  }
}

TEST(IndexData, CasesAreMovedToWhereValuesExist) {
  Loaded loaded = indexed("out = x[i]", "[\"M\", \"D\"]", "range = [0, \"N\"]\ndistinct = -1");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  for (const GridCase &grid : accuracyGrid(*loaded.op, 1)) {
    if (grid.unmet.empty()) {
      auto inputs = makeInputs(*loaded.op, grid, DType::F32);
      EXPECT_TRUE(inputs) << grid.name << ": " << render(inputs.error());
    }
  }
}

} // namespace
} // namespace nereid::definition
