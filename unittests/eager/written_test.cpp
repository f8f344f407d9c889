// SPDX-License-Identifier: Apache-2.0
// Views, pieces, places in sorted rows and counts: baseline and reference against loops and the
// standard library's searches, for rows that are sorted and not, NaN, and sizes at both ends.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace nereid::eager {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

using List = std::vector<double>;

/// `body` of x [n] and y [m]; what it assigns to out, which baseline and reference agree on.
List outOf(const std::string &body, const std::string &shape, const List &x, const List &y = {0},
           DType type = DType::F32, const std::string &dtype = "int64", bool isKnown = false) {
  const std::string sizes[] = {isKnown ? std::to_string(x.size()) : "\"N\"",
                               isKnown ? std::to_string(y.size()) : "\"M\""};
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"" + std::string(torchName(type)) +
          "\"]\nbody = '''\n" + body + "\n'''\n[inputs.x]\nshape = [" + sizes[0] +
          "]\n[inputs.y]\nshape = [" + sizes[1] + "]\n[outputs.out]\nshape = " + shape +
          "\ndtype = \"" + dtype + "\"\n[performance]\ncases = [{ " +
          (isKnown ? "" : "N = 12, M = 12") + " }]\n",
      diags);
  EXPECT_TRUE(op) << body << "\n" << diags.render();
  if (!op) {
    return {};
  }
  std::vector<Tensor> inputs = {make({static_cast<int64_t>(x.size())}, x, type),
                                make({static_cast<int64_t>(y.size())}, y, type)};
  auto baseline = runGraph(*op, inputs, runtime::defaultPool());
  auto reference = runReference(*op, inputs, type, Rounding::OncePerResult, runtime::defaultPool());
  EXPECT_TRUE(baseline) << body << "\n" << render(baseline.error());
  EXPECT_TRUE(reference) << body << "\n" << render(reference.error());
  if (!baseline || !reference) {
    return {};
  }
  const List values = list((*reference)[0].values);
  EXPECT_EQ(values, list((*baseline)[0])) << body;
  return values;
}

/// PyTorch's bisection, as the one place where an unsorted row matters.
double bisected(const List &row, double value, bool isBehind) {
  size_t first = 0, end = row.size();
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    const bool isFound = isBehind ? row[middle] > value : row[middle] >= value;
    first = isFound ? first : middle + 1;
    end = isFound ? middle : end;
  }
  return static_cast<double>(first);
}

TEST(Written, SearchesAreThoseOfTheStandardLibrary) {
  std::mt19937 random(7);
  for (const int count : {1, 2, 3, 7, 8, 9, 64, 100}) {
    List row, values;
    for (int i = 0; i < count; ++i) {
      row.push_back(static_cast<double>(random() % 20) - 10); // many are equal
    }
    std::sort(row.begin(), row.end());
    for (int i = -12; i <= 12; ++i) {
      values.push_back(i);
      values.push_back(i + 0.5);
    }
    List before, behind;
    for (double value : values) {
      before.push_back(
          static_cast<double>(std::lower_bound(row.begin(), row.end(), value) - row.begin()));
      behind.push_back(
          static_cast<double>(std::upper_bound(row.begin(), row.end(), value) - row.begin()));
    }
    EXPECT_EQ(outOf("out = torch.searchsorted(x, y)", "[\"M\"]", row, values), before) << count;
    EXPECT_EQ(outOf("out = torch.searchsorted(x, y, right=True)", "[\"M\"]", row, values), behind);
    EXPECT_EQ(outOf("out = torch.searchsorted(x, y, side=\"right\")", "[\"M\"]", row, values),
              behind);
    EXPECT_EQ(outOf("out = torch.bucketize(y, x)", "[\"M\"]", row, values), before) << count;
  }
}

TEST(Written, UnsortedRowsAndNaNAreSearchedAsPyTorchDoes) {
  const List row = {3, 1, nan, -2, 8, infinity, 0, nan, 5}, values = {nan, -infinity, 2, 4, 9, 0};
  List before, behind;
  for (double value : values) {
    before.push_back(bisected(row, value, false));
    behind.push_back(bisected(row, value, true));
  }
  EXPECT_EQ(outOf("out = torch.searchsorted(x, y)", "[\"M\"]", row, values), before);
  EXPECT_EQ(outOf("out = torch.searchsorted(x, y, right=True)", "[\"M\"]", row, values), behind);
}

TEST(Written, NothingIsSearchedInAnEmptyRow) {
  const List values = {3, nan, -infinity}, zeros = {0, 0, 0};
  for (const bool isKnown : {true, false}) {
    const std::string shape = isKnown ? "[3]" : "[\"M\"]";
    for (const std::string call :
         {"torch.searchsorted(x, y)", "torch.bucketize(y, x, right=True)"}) {
      EXPECT_EQ(outOf("out = " + call, shape, {}, values, DType::F32, "int64", isKnown), zeros);
    }
  }
  EXPECT_EQ(outOf("out = torch.searchsorted(x[None], y[None])", "[1, \"M\"]", {}, {1, 2, 3, 4}),
            (List{0, 0, 0, 0}));
}

TEST(Written, EachRowHasItsOwnSearch) {
  EXPECT_EQ(outOf("out = torch.searchsorted(x.reshape(3, 4), y.reshape(3, 2)).flatten()", "[6]",
                  {1, 2, 3, 4, 10, 20, 30, 40, 0, 0, 0, 0}, {3, 9, 3, 40, 0, 1}, DType::F32,
                  "int64", true),
            (List{2, 4, 0, 3, 0, 4}));
}

TEST(Written, BinsAreCounted) {
  EXPECT_EQ(
      outOf("out = torch.bincount(x.to(torch.int64), minlength=5)", "[5]", {0, 3, 3, 4, 0, 3}),
      (List{2, 0, 0, 3, 1}));
  EXPECT_EQ(outOf("out = torch.bincount(x.to(torch.int64), minlength=3)", "[3]", {}),
            (List{0, 0, 0}));
  EXPECT_EQ(outOf("out = torch.bincount(x.to(torch.int64), x * 0.5, minlength=3)", "[3]",
                  {2, 1, 2, 0}, {0}, DType::F32, "float32"),
            (List{0, 0.5, 2}));
  EXPECT_EQ(outOf("out = torch.histc(x, bins=4, min=-1, max=1)", "[4]",
                  {-1, -0.75, -0.5, 0, 0.25, 0.999, 1, 1.001, -1.001, nan, infinity}, {0},
                  DType::F32, "float32"),
            (List{2, 1, 2, 2}));
}

TEST(Written, PlacesOfWhatIsNotZero) {
  const List x = {0, 5, nan, -0.0, 0, 7, 0, 1, 0, 0, 0, 2}; // 3 rows of 4
  EXPECT_EQ(outOf("out = torch.nonzero_static(x.reshape(3, 4), size=7).flatten()", "[14]", x, {0},
                  DType::F32, "int64", true),
            (List{0, 1, 0, 2, 1, 1, 1, 3, 2, 3, -1, -1, -1, -1}));
  EXPECT_EQ(outOf("out = torch.nonzero_static(x.reshape(3, 2, 2), size=2, fill_value=9).flatten()",
                  "[6]", x, {0}, DType::F32, "int64", true),
            (List{0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(outOf("out = torch.nonzero_static(x, size=3, fill_value=99).flatten()", "[3]", {0, 0}),
            (List{99, 99, 99}));
  EXPECT_EQ(outOf("out = torch.nonzero_static(x, size=2).flatten()", "[2]", {}), (List{-1, -1}));
}

TEST(Written, StridesAndPieces) {
  const List x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto moved = [&](const std::string &body, const std::string &shape) {
    return outOf("out = " + body, shape, x, {0}, DType::F32, "float32", true);
  };
  EXPECT_EQ(moved("x.as_strided((3, 2), (4, 2), 1)", "[3, 2]"), (List{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(moved("x.as_strided((2, 2, 3), (1, 0, 5))", "[2, 2, 3]"),
            (List{0, 5, 10, 0, 5, 10, 1, 6, 11, 1, 6, 11}));
  EXPECT_EQ(moved("x.as_strided((), (), 7)", "[]"), (List{7}));
  EXPECT_EQ(moved("x.as_strided((0, 4), (4, 1))", "[0, 4]"), (List{}));
  EXPECT_EQ(moved("x.reshape(3, 4).split([1, 3], dim=1)[1]", "[3, 3]"),
            (List{1, 2, 3, 5, 6, 7, 9, 10, 11}));
  EXPECT_EQ(moved("x.reshape(3, 4).chunk(2)[1]", "[1, 4]"), (List{8, 9, 10, 11}));
  EXPECT_EQ(moved("x.reshape(3, 4).unbind(1)[2]", "[3]"), (List{2, 6, 10}));
  EXPECT_EQ(moved("x.reshape(3, 4)[:1].expand_as(x.reshape(3, 4))", "[3, 4]"),
            (List{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
}

} // namespace
} // namespace nereid::eager
