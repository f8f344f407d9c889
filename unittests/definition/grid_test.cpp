// SPDX-License-Identifier: Apache-2.0
// The accuracy grid holds what it promises, and the definition document what was counted.
#include "unittests/definition/Loading.h"

#include "lib/definition/Tolerance.h"
#include "lib/definition/cases/CaseGrid.h"
#include "lib/definition/cases/OtherNumbers.h"

#include <cmath>
#include <set>

namespace nereid::definition {
namespace {

Operator shipped(const std::string &name) {
  Diagnostics diags;
  auto op = loadOperator(NEREID_SOURCE_DIR "/operators/" + name + ".toml", diags);
  EXPECT_TRUE(op) << diags.render();
  return *op;
}

TEST(CaseGrid, HasEveryKind) {
  for (const char *name : {"broadcast_add", "mask_add", "softmax"}) {
    Operator op = shipped(name);
    std::set<std::string> names;
    std::set<DataKind> data;
    std::set<LayoutKind> layouts;
    bool anyEmpty = false, anySingle = false, anyRank1 = false;
    for (const GridCase &one : accuracyGrid(op, 1)) {
      EXPECT_TRUE(names.insert(one.name).second) << one.name;
      data.insert(one.data.kind);
      layouts.insert(one.layout);
      auto sizes =
          definition::bind(op.nodes[static_cast<size_t>(op.outputs[0])].shape, one.binding);
      ASSERT_TRUE(sizes) << one.name;
      int64_t count = 1;
      for (int64_t size : *sizes) {
        count *= size;
      }
      anyEmpty |= count == 0;
      anySingle |= count == 1;
      anyRank1 |= sizes->size() == 1;
    }
    EXPECT_EQ(data.size(), static_cast<size_t>(dataKindCount));
    EXPECT_EQ(layouts.size(), 3u);
    EXPECT_TRUE(anyEmpty && anySingle);
    EXPECT_EQ(anyRank1, std::string(name) != "mask_add");
  }
}

/// Rows are as long without a dimension of their own as with one.
TEST(CaseGrid, LeadingDimensionsAloneMakeRows) {
  Loaded loaded = load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n"
                       "body = \"out = -x\"\n[inputs.x]\nshape = [\"...\"]\n[outputs.out]\n"
                       "shape = [\"...\"]\n[performance]\ncases = [{ \"...\" = [2, 3] }]\n");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  std::set<int64_t> lengths;
  bool hasScalar = false;
  for (const GridCase &one : accuracyGrid(*loaded.op, 1)) {
    hasScalar |= one.binding.rest.empty();
    lengths.insert(one.binding.rest.empty() ? 0 : one.binding.rest.back());
  }
  EXPECT_TRUE(hasScalar);
  for (int64_t length : {1, 3, 17, 127, 129, 1000, 4099}) {
    EXPECT_TRUE(lengths.contains(length)) << length;
  }
}

TEST(CaseGrid, LayoutsAreWhatTheySay) {
  LaidOut strided = makeLaidOut({4, 5, 6}, DType::F32, LayoutKind::OuterStride);
  EXPECT_FALSE(strided.view.isContiguous());
  EXPECT_EQ(strided.view.strides(), (std::vector<int64_t>{45, 9, 1}));
  LaidOut unaligned = makeLaidOut({4, 5}, DType::F16, LayoutKind::Unaligned);
  EXPECT_TRUE(unaligned.view.isContiguous());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(unaligned.view.data()) % 64, 2u);
  // The last element lies inside the storage.
  for (const LaidOut *made : {&strided, &unaligned}) {
    made->view.set(made->view.elementCount() - 1, 1);
    auto *begin = static_cast<char *>(made->storage.data());
    auto *last = static_cast<char *>(made->view.data());
    for (size_t d = 0; d < made->view.shape().size(); ++d) {
      last += (made->view.shape()[d] - 1) * made->view.strides()[d] *
              static_cast<int64_t>(sizeInBytes(made->view.dtype()));
    }
    EXPECT_LE(last + sizeInBytes(made->view.dtype()), begin + made->storage.byteCount());
  }
  EXPECT_TRUE(std::isnan(makeLaidOut({3}, DType::F32, LayoutKind::Contiguous).view.at(0)));
}

constexpr const char *ofNumbers = R"(
[operator]
name = "t"
summary = "x"
constraints = ["high > low", "eps > 0"]
dtypes = ["float32"]
body = "y = clamp(x / scale, low, high) + eps * z + steps"
[inputs.x]
shape = ["R", "D"]
[inputs.z]
shape = ["R", "D"]
[inputs.scale]
value = 0.1
[inputs.low]
value = 0.0
[inputs.high]
value = 6.0
[inputs.eps]
value = 1e-5
[inputs.steps]
value = 3
[outputs.y]
shape = ["R", "D"]
[performance]
cases = [{ R = 1, D = 1 }]
)";

/// A kernel that has the defaults built in is wrong in some of the cases.
TEST(CaseGrid, NumbersAreTriedThatAreNoDefaults) {
  Loaded loaded = load(ofNumbers);
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  const Operator &op = *loaded.op;
  int found = 0;
  for (const GridCase &one : accuracyGrid(op, 1)) {
    auto inputs = makeInputs(op, one, DType::F32);
    ASSERT_TRUE(inputs);
    for (size_t i = 2; i < op.parameters.size(); ++i) {
      const double number = (*inputs)[i].view.at(0);
      EXPECT_EQ(number == op.parameters[i].value, one.numbers.empty()) << one.name;
    }
    if (one.numbers.empty()) {
      continue;
    }
    ++found;
    EXPECT_LT(one.numbers[3], one.numbers[4]) << one.name;
    EXPECT_GT(one.numbers[5], 0) << one.name;
    EXPECT_EQ(one.numbers[6], std::floor(one.numbers[6])) << one.name;
    EXPECT_NE(one.name.find("eps = "), std::string::npos);
    EXPECT_EQ(withNumbers(op, one.numbers).parameters[2].value, one.numbers[2]);
  }
  EXPECT_EQ(found, otherNumbersTurns);
  EXPECT_EQ(otherNumbers(op, {}, 0)[2], 0.125) << "a power of two";
  // What constraints leave no other value is as it is.
  std::string fixed = ofNumbers;
  fixed.replace(fixed.find("eps > 0"), 7, "eps < 0.00001000001\", \"eps > 0.000009999");
  Loaded bound = load(fixed);
  ASSERT_TRUE(bound.op) << bound.diags.render();
  EXPECT_TRUE(otherNumbers(*bound.op, {}, 0).empty());
}

/// A kernel that takes one tensor's stride for another's is wrong.
TEST(CaseGrid, GapsOfTensorsDiffer) {
  Loaded loaded = load(ofNumbers);
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  for (const GridCase &one : accuracyGrid(*loaded.op, 1)) {
    auto inputs = makeInputs(*loaded.op, one, DType::F32);
    ASSERT_TRUE(inputs);
    if (one.layout == LayoutKind::OuterStride) {
      EXPECT_NE((*inputs)[0].view.strides()[0], (*inputs)[1].view.strides()[0]) << one.name;
    }
  }
}

/// Of two tensors NaN stands beside NaN once, and an infinity beside itself.
TEST(CaseGrid, SpecialNumbersStandBesideTheirLikes) {
  Loaded loaded = load(ofNumbers);
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  int both = 0, infinite = 0;
  for (const GridCase &one : accuracyGrid(*loaded.op, 1, 0)) {
    auto inputs = makeInputs(*loaded.op, one, DType::F32);
    ASSERT_TRUE(inputs);
    const runtime::Tensor &x = (*inputs)[0].view, &z = (*inputs)[1].view;
    for (int64_t i = 0; i < x.elementCount(); ++i) {
      both += std::isnan(x.at(i)) && std::isnan(z.at(i));
      infinite += std::isinf(x.at(i)) && x.at(i) == z.at(i);
    }
  }
  EXPECT_GT(both, 0);
  EXPECT_GT(infinite, 0);
}

TEST(CaseGrid, DrawnCasesFollowFromTheSeed) {
  Operator op = shipped("broadcast_add");
  auto namesOf = [&](uint64_t seed) {
    std::vector<std::string> names;
    for (const GridCase &one : accuracyGrid(op, seed, 40)) {
      names.push_back(one.name + " " + std::to_string(one.seed));
      EXPECT_LT(tensorBytes(op, one.binding, DType::F32), 1e7) << one.name;
    }
    return names;
  };
  EXPECT_EQ(namesOf(1), namesOf(1));
  EXPECT_NE(namesOf(1), namesOf(2));
}

TEST(CaseGrid, ManySymbolsStaySmall) {
  std::string shape;
  for (const char *symbol : {"A", "B", "C", "D", "E", "F", "G", "H", "I"}) {
    shape += std::string(shape.empty() ? "" : ", ") + '"' + symbol + '"';
  }
  Loaded ranked = load("[operator]\nname = \"ranked\"\nsummary = \"x\"\nbody = \"y = x + 1\"\n"
                       "dtypes = [\"float32\"]\n[inputs.x]\nshape = [" +
                       shape +
                       "]\n"
                       "[outputs.y]\nshape = [" +
                       shape +
                       "]\n[performance]\ncases = [{ A = 1, B = 1, "
                       "C = 1, D = 1, E = 1, F = 1, G = 1, H = 1, I = 1 }]\n");
  ASSERT_TRUE(ranked.op) << ranked.diags.render();
  const Operator &op = *ranked.op;
  double total = 0;
  for (const GridCase &one : accuracyGrid(op, 3)) {
    EXPECT_LT(tensorBytes(op, one.binding, DType::F32), 1e7) << one.name;
    total += tensorBytes(op, one.binding, DType::F32);
  }
  EXPECT_LT(total, 1e8); // not every case is at the limit
}

/// What an operator's first input and its variance, a magnitude, hold.
struct Filled {
  std::vector<double> x, variance;
};

Filled filled(const Data &data, DType dtype) {
  Operator op = shipped("scale_shift");
  GridCase grid;
  grid.binding = {{{"C", 400}}, {8}};
  grid.data = data;
  auto first = makeInputs(op, grid, dtype), second = makeInputs(op, grid, dtype);
  EXPECT_TRUE(first && second);
  Filled out;
  for (int64_t i = 0; i < (*first)[0].view.elementCount(); ++i) {
    const double value = (*first)[0].view.at(i), again = (*second)[0].view.at(i);
    EXPECT_TRUE(value == again || (std::isnan(value) && std::isnan(again)));
    out.x.push_back(value);
  }
  for (int64_t i = 0; i < (*first)[2].view.elementCount(); ++i) {
    out.variance.push_back((*first)[2].view.at(i));
  }
  return out;
}

TEST(CaseGrid, MagnitudesReachTheEndsOfTheType) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
    auto largest = [&](double range) {
      double most = 0;
      for (double value : filled({DataKind::Scaled, range}, dtype).x) {
        EXPECT_TRUE(std::isfinite(value));
        most = std::max(most, std::fabs(value));
      }
      return most;
    };
    EXPECT_GT(largest(1), largestFinite(dtype) / 10);
    EXPECT_LT(largest(-0.96), smallestNormal(dtype) * 4);
    EXPECT_GT(largest(-0.96), 0);
    EXPECT_NEAR(largest(0), 3.5, 1);
    std::set<int> decades;
    for (double value : filled({DataKind::Decades, 1}, dtype).x) {
      decades.insert(value == 0 ? -400 : static_cast<int>(std::log10(std::fabs(value))));
    }
    EXPECT_GT(decades.size(), dtype == DType::F16 ? 8u : 60u);
  }
}

TEST(CaseGrid, ARowHasOneSpecialNumber) {
  const Filled data = filled({DataKind::Special}, DType::F32);
  std::set<int> kinds;
  for (int row = 0; row < 8; ++row) {
    int positive = 0, negative = 0, nan = 0, minusZero = 0;
    for (int i = row * 400; i < row * 400 + 400; ++i) {
      const double value = data.x[static_cast<size_t>(i)];
      positive += value == INFINITY;
      negative += value == -INFINITY;
      nan += std::isnan(value);
      minusZero += value == 0 && std::signbit(value);
    }
    EXPECT_EQ(positive + negative + nan + minusZero, 1) << row;
    kinds.insert(positive + 2 * negative + 3 * nan);
  }
  EXPECT_EQ(kinds.size(), static_cast<size_t>(specialTurns));
}

/// A kernel may look at one element to tell how its work can be left out.
TEST(CaseGrid, FirstElementsAreSpecialInEveryWay) {
  auto kindOf = [](double value) {
    return std::isnan(value) ? 3 : std::isinf(value) ? (value > 0 ? 1 : 2) : value == 0 ? 4 : 0;
  };
  std::set<int> kinds;
  for (const GridCase &one : accuracyGrid(shipped("scale_shift"), 3)) {
    if (one.data.kind == DataKind::Special) {
      kinds.insert(kindOf(filled(one.data, DType::F32).x[0]));
    }
  }
  EXPECT_EQ(kinds, (std::set<int>{1, 2, 3, 4}));
  int last = 0, inside = 0;
  const Filled data = filled({DataKind::Special, 0, nanFirst}, DType::F32);
  for (size_t i = 0; i < data.x.size(); ++i) {
    const bool isSpecial = kindOf(data.x[i]) % 4 != 0;
    last += isSpecial && i % 400 == 399 ? 1 : 0;
    inside += isSpecial && i % 400 > 0 && i % 400 < 399 ? 1 : 0;
  }
  EXPECT_GT(last + inside, 0) << "not in front alone";
}

/// A vector has one row, and NaN is to be seen in front and elsewhere.
TEST(CaseGrid, OnlyRowsHaveNanInFrontAndElsewhere) {
  auto placeOfNan = [](int turn, uint64_t seed) {
    const runtime::Tensor vector = runtime::Tensor::empty({1000}, DType::F32);
    fillData(vector, {DataKind::Special, 0, turn}, seed, {});
    int64_t place = 0;
    while (place < 1000 && !std::isnan(vector.at(place))) {
      ++place;
    }
    return place;
  };
  std::set<int64_t> elsewhere;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(placeOfNan(nanFirst, seed), 0);
    EXPECT_LT(placeOfNan(nanFirst + specialTurns, seed), 1000);
    elsewhere.insert(placeOfNan(nanFirst + specialTurns, seed));
  }
  EXPECT_GT(elsewhere.size(), 5u);
}

TEST(CaseGrid, OnesOfANegativeTurnLieAroundOneWithBothSigns) {
  Data near{DataKind::Ones};
  near.turn = -1;
  int negative = 0, others = 0;
  for (double value : filled(near, DType::F32).x) {
    EXPECT_NEAR(std::fabs(value), 1, 0.05);
    negative += value < 0;
    others += std::fabs(value) != 1;
  }
  EXPECT_GT(negative, 0);
  EXPECT_GT(others, negative / 2);
}

TEST(CaseGrid, RowsAreArrangedAsTheySay) {
  auto rows = [](DataKind kind, auto holds) {
    const Filled data = filled({kind, 1}, DType::F32);
    for (size_t i = 1; i < data.x.size(); ++i) {
      if (i % 400 != 0 && !holds(data.x[i - 1], data.x[i], i)) {
        return false;
      }
    }
    for (double value : data.variance) {
      EXPECT_FALSE(value < 0) << name(kind);
    }
    return true;
  };
  EXPECT_TRUE(rows(DataKind::Negative, [](double, double b, size_t) { return b <= 0; }));
  EXPECT_TRUE(rows(DataKind::Zeros, [](double, double b, size_t) { return b == 0; }));
  EXPECT_TRUE(rows(DataKind::Ones, [](double a, double b, size_t) { return a == 1 && b == 1; }));
  EXPECT_TRUE(rows(DataKind::ConstantRows, [](double a, double b, size_t) { return a == b; }));
  EXPECT_TRUE(rows(DataKind::SortedRows, [](double a, double b, size_t) { return a < b; }));
  EXPECT_TRUE(rows(DataKind::Cancelling,
                   [](double a, double b, size_t i) { return i % 2 == 0 || a == -b; }));
  EXPECT_FALSE(rows(DataKind::Normal, [](double a, double b, size_t) { return a < b; }));
}

/// Few rows stand out at distances that leave no gap, so that exp(-distance) is of each magnitude
/// down to where float32 loses it beside 1.
TEST(CaseGrid, LastNumbersStandOutAtEveryDistance) {
  for (uint64_t seed : {1, 2, 3, 1000}) {
    runtime::Tensor tensor = runtime::Tensor::empty({20, 98}, DType::F32);
    fillData(tensor, {DataKind::SortedRows}, seed, {});
    std::vector<double> above;
    for (int64_t row = 0; row < 20; ++row) {
      const double distance = tensor.at(row * 98 + 97) - tensor.at(row * 98 + 96);
      if (distance > 1) {
        above.push_back(distance);
      }
    }
    ASSERT_GE(above.size(), 13u);
    std::sort(above.begin(), above.end());
    EXPECT_LT(above.front(), 6);
    EXPECT_GT(above.back(), 17);
    for (size_t i = 1; i < above.size(); ++i) {
      EXPECT_LT(above[i] - above[i - 1], 2.5) << seed;
    }
  }
}

} // namespace
} // namespace nereid::definition
