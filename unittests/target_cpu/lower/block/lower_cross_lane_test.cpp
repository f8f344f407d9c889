// SPDX-License-Identifier: Apache-2.0
// Scans, joins, splits, gathers and histograms of tiles of many shapes on every vector width,
// against loops written here.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <random>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

using Shape = std::vector<int64_t>;

int64_t countOf(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

/// tensor<2x3xi32>
std::string tile(const Shape &shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape) {
    text += std::to_string(size) + "x";
  }
  return text + element + ">";
}

/// Reads argument `name` as the tile %`name`, row by row.
std::string readTile(const std::string &name, const Shape &shape, const std::string &element) {
  std::string flat = std::to_string(countOf(shape)) + "x", pointer = "!tile.ptr<" + element + ">";
  return "  %" + name + "_r = tile.make_range 0 to " + std::to_string(countOf(shape)) +
         " : tensor<" + flat + "i32>\n  %" + name + "_s = tile.splat %" + name + "_p : " + pointer +
         " -> tensor<" + flat + pointer + ">\n  %" + name + "_a = tile.addptr %" + name + "_s, %" +
         name + "_r : tensor<" + flat + pointer + ">, tensor<" + flat + "i32>\n  %" + name +
         "_v = tile.load %" + name + "_a : tensor<" + flat + pointer + "> -> tensor<" + flat +
         element + ">\n  %" + name + " = tile.reshape %" + name + "_v : tensor<" + flat + element +
         "> -> " + tile(shape, element) + "\n";
}

/// Writes the tile %`value` to argument `name`.
std::string writeTile(const std::string &name, const std::string &value, const Shape &shape,
                      const std::string &element) {
  std::string flat = std::to_string(countOf(shape)) + "x", pointer = "!tile.ptr<" + element + ">";
  return "  %" + name + "_r = tile.make_range 0 to " + std::to_string(countOf(shape)) +
         " : tensor<" + flat + "i32>\n  %" + name + "_s = tile.splat %" + name + "_p : " + pointer +
         " -> tensor<" + flat + pointer + ">\n  %" + name + "_a = tile.addptr %" + name + "_s, %" +
         name + "_r : tensor<" + flat + pointer + ">, tensor<" + flat + "i32>\n  %" + name +
         "_v = tile.reshape %" + value + " : " + tile(shape, element) + " -> tensor<" + flat +
         element + ">\n  tile.store %" + name + "_a, %" + name + "_v : tensor<" + flat + pointer +
         ">, tensor<" + flat + element + ">\n";
}

std::string kernelText(const std::vector<std::pair<std::string, std::string>> &arguments,
                       const std::string &body) {
  std::string text = "func.func @kernel(";
  for (const auto &[name, element] : arguments) {
    text += (text.back() == '(' ? "%" : ", %") + name + "_p: !tile.ptr<" + element + ">";
  }
  return text + ") attributes {tile.kernel} {\n" + body + "  func.return\n}\n";
}

std::vector<int32_t> randomNumbers(int64_t count, int32_t low, int32_t high, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int32_t> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(low + static_cast<int32_t>(random() % static_cast<uint64_t>(high - low)));
  }
  return numbers;
}

/// Runs the kernel on every architecture; `check` sees the outputs after each run.
void runEverywhere(const std::string &text, const std::vector<uint64_t> &slots,
                   const std::function<void(const std::string &)> &check) {
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lowerKernel(text, architecture);
    ASSERT_EQ(kernel.error, "") << text;
    ASSERT_TRUE(kernel.launch({1, 1, 1}, slots)) << text;
    check(architecture + "\n" + text);
  }
}

struct Lines {
  int64_t outer = 1, length = 1, inner = 1;
  Lines(const Shape &shape, size_t axis) {
    for (size_t d = 0; d < shape.size(); ++d) {
      (d < axis ? outer : d == axis ? length : inner) *= shape[d];
    }
  }
  /// Visits the elements of every line in the order of the scan.
  void forEach(bool reverse, const std::function<void(int64_t at, int64_t before)> &visit) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        int64_t before = -1;
        for (int64_t k = 0; k < length; ++k) {
          int64_t at = (o * length + (reverse ? length - 1 - k : k)) * inner + i;
          visit(at, before);
          before = at;
        }
      }
    }
  }
};

const std::vector<Shape> shapes = {{1},     {7},     {48},      {4, 8},         {3, 5},
                                   {8, 64}, {32, 1}, {2, 3, 4}, {2, 1, 3, 2, 4}};

/// Composes x -> a*x + b, which does not commute.
const char *compose = R"({
  ^bb0(%a1: i32, %b1: i32, %a2: i32, %b2: i32):
    %na = arith.muli %a1, %a2 : i32
    %m = arith.muli %b1, %a2 : i32
    %nb = arith.addi %m, %b2 : i32
    tile.combine_return %na, %nb : i32, i32
  })";

/// The same with a branch that only scalars can take.
const char *composeBranching = R"({
  ^bb0(%a1: i32, %b1: i32, %a2: i32, %b2: i32):
    %zero = arith.constant 0 : i32
    %isZero = arith.cmpi eq, %a2, %zero : i32
    %r, %q = scf.if %isZero -> (i32, i32) {
      scf.yield %zero, %b2 : i32, i32
    } else {
      %p = arith.muli %a1, %a2 : i32
      %m = arith.muli %b1, %a2 : i32
      %s = arith.addi %m, %b2 : i32
      scf.yield %p, %s : i32, i32
    }
    tile.combine_return %r, %q : i32, i32
  })";

TEST(LowerScan, PairsAlongEveryAxisOfEveryShape) {
  for (const Shape &shape : shapes) {
    int64_t count = countOf(shape);
    std::vector<int32_t> a = randomNumbers(count, -3, 4, 1), b = randomNumbers(count, -9, 9, 2);
    std::vector<int32_t> outA(count), outB(count);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      for (bool reverse : {false, true}) {
        std::vector<int32_t> wantA(count), wantB(count);
        Lines(shape, axis).forEach(reverse, [&](int64_t at, int64_t before) {
          auto multiply = [](int32_t x, int32_t y) {
            return static_cast<int32_t>(static_cast<uint32_t>(x) * static_cast<uint32_t>(y));
          };
          auto add = [](int32_t x, int32_t y) {
            return static_cast<int32_t>(static_cast<uint32_t>(x) + static_cast<uint32_t>(y));
          };
          wantA[at] = before < 0 ? a[at] : multiply(wantA[before], a[at]);
          wantB[at] = before < 0 ? b[at] : add(multiply(wantB[before], a[at]), b[at]);
        });
        for (const char *region : {compose, composeBranching}) {
          std::string type = tile(shape, "i32");
          std::string scan = "  %y:2 = tile.scan %a, %b axis " + std::to_string(axis) +
                             (reverse ? " reverse " : " ") + region + " : (" + type + ", " + type +
                             ") -> (" + type + ", " + type + ")\n";
          std::string text = kernelText({{"a", "i32"}, {"b", "i32"}, {"oa", "i32"}, {"ob", "i32"}},
                                        readTile("a", shape, "i32") + readTile("b", shape, "i32") +
                                            scan + writeTile("oa", "y#0", shape, "i32") +
                                            writeTile("ob", "y#1", shape, "i32"));
          runEverywhere(
              text,
              {address(a.data()), address(b.data()), address(outA.data()), address(outB.data())},
              [&](const std::string &where) {
                ASSERT_EQ(outA, wantA) << where;
                ASSERT_EQ(outB, wantB) << where;
              });
        }
      }
    }
  }
}

TEST(LowerScan, NarrowAndWideElements) {
  const Shape shape = {4, 64};
  std::vector<int32_t> numbers = randomNumbers(256, -100, 100, 3);
  for (size_t axis : {0u, 1u}) {
    std::string text =
        kernelText({{"x", "i8"}, {"y", "f64"}, {"ox", "i8"}, {"oy", "f64"}, {"ob", "i8"}},
                   readTile("x", shape, "i8") + readTile("y", shape, "f64") +
                       "  %sx = tile.scan %x axis " + std::to_string(axis) +
                       R"( {
  ^bb0(%a: i8, %b: i8):
    %m = arith.maxsi %a, %b : i8
    tile.combine_return %m : i8
  } : (tensor<4x64xi8>) -> tensor<4x64xi8>
  %sy = tile.scan %y axis )" +
                       std::to_string(axis) + R"( {
  ^bb0(%a: f64, %b: f64):
    %m = arith.addf %a, %b : f64
    tile.combine_return %m : f64
  } : (tensor<4x64xf64>) -> tensor<4x64xf64>
  %zero = arith.constant dense<0> : tensor<4x64xi8>
  %odd = arith.cmpi slt, %x, %zero : tensor<4x64xi8>
  %parity = tile.scan %odd axis )" +
                       std::to_string(axis) + R"( reverse {
  ^bb0(%a: i1, %b: i1):
    %m = arith.xori %a, %b : i1
    tile.combine_return %m : i1
  } : (tensor<4x64xi1>) -> tensor<4x64xi1>
  %bits = arith.extui %parity : tensor<4x64xi1> to tensor<4x64xi8>
)" + writeTile("ox", "sx", shape, "i8") +
                       writeTile("oy", "sy", shape, "f64") + writeTile("ob", "bits", shape, "i8"));
    std::vector<int8_t> x(numbers.begin(), numbers.end()), ox(256), ob(256);
    std::vector<double> y(numbers.begin(), numbers.end()), oy(256);
    std::vector<int8_t> wantX(256), wantB(256);
    std::vector<double> wantY(256);
    Lines lines(shape, axis);
    lines.forEach(false, [&](int64_t at, int64_t before) {
      wantX[at] = before < 0 ? x[at] : std::max(wantX[before], x[at]);
      wantY[at] = before < 0 ? y[at] : wantY[before] + y[at];
    });
    lines.forEach(true, [&](int64_t at, int64_t before) {
      wantB[at] = static_cast<int8_t>((x[at] < 0) != (before >= 0 && wantB[before] != 0));
    });
    runEverywhere(text,
                  {address(x.data()), address(y.data()), address(ox.data()), address(oy.data()),
                   address(ob.data())},
                  [&](const std::string &where) {
                    ASSERT_EQ(ox, wantX) << where;
                    ASSERT_EQ(oy, wantY) << where;
                    ASSERT_EQ(ob, wantB) << where;
                  });
  }
}

TEST(LowerReduceGeneral, PairsAlongEveryAxisOfEveryShape) {
  // The larger of two numbers and where it stands, the first of equals; with and without a branch.
  const char *straight = R"({
  ^bb0(%v1: i32, %i1: i32, %v2: i32, %i2: i32):
    %gt = arith.cmpi sgt, %v1, %v2 : i32
    %eq = arith.cmpi eq, %v1, %v2 : i32
    %lt = arith.cmpi slt, %i1, %i2 : i32
    %tie = arith.andi %eq, %lt : i1
    %first = arith.ori %gt, %tie : i1
    %v = arith.select %first, %v1, %v2 : i32
    %i = arith.select %first, %i1, %i2 : i32
    tile.combine_return %v, %i : i32, i32
  })";
  const char *branching = R"({
  ^bb0(%v1: i32, %i1: i32, %v2: i32, %i2: i32):
    %eq = arith.cmpi eq, %v1, %v2 : i32
    %v, %i = scf.if %eq -> (i32, i32) {
      %low = arith.minsi %i1, %i2 : i32
      scf.yield %v1, %low : i32, i32
    } else {
      %gt = arith.cmpi sgt, %v1, %v2 : i32
      %w = arith.select %gt, %v1, %v2 : i32
      %j = arith.select %gt, %i1, %i2 : i32
      scf.yield %w, %j : i32, i32
    }
    tile.combine_return %v, %i : i32, i32
  })";
  for (const Shape &shape : shapes) {
    int64_t count = countOf(shape);
    std::vector<int32_t> x = randomNumbers(count, -4, 5, 1), numbers(count);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      Shape rest = shape;
      rest.erase(rest.begin() + static_cast<ptrdiff_t>(axis));
      Lines lines(shape, axis);
      std::vector<int32_t> wantV, wantI;
      for (int64_t o = 0; o < lines.outer; ++o) {
        for (int64_t i = 0; i < lines.inner; ++i) {
          int64_t best = 0;
          auto at = [&](int64_t k) { return (o * lines.length + k) * lines.inner + i; };
          for (int64_t k = 0; k < lines.length; ++k) {
            numbers[at(k)] = static_cast<int32_t>(k);
            best = x[at(k)] > x[at(best)] ? k : best;
          }
          wantV.push_back(x[at(best)]);
          wantI.push_back(static_cast<int32_t>(best));
        }
      }
      for (const char *region : {straight, branching}) {
        std::string from = tile(shape, "i32"), to = rest.empty() ? "i32" : tile(rest, "i32");
        std::string reduce = "  %y:2 = tile.reduce %x, %n axis " + std::to_string(axis) + " " +
                             region + " : (" + from + ", " + from + ") -> (" + to + ", " + to +
                             ")\n";
        std::string store;
        for (auto [name, value] : {std::pair{"ov", "y#0"}, {"oi", "y#1"}}) {
          store += rest.empty() ? "  tile.store %" + std::string(name) + "_p, %" + value +
                                      " : !tile.ptr<i32>, i32\n"
                                : writeTile(name, value, rest, "i32");
        }
        std::vector<int32_t> outV(wantV.size()), outI(wantI.size());
        std::string text =
            kernelText({{"x", "i32"}, {"n", "i32"}, {"ov", "i32"}, {"oi", "i32"}},
                       readTile("x", shape, "i32") + readTile("n", shape, "i32") + reduce + store);
        runEverywhere(text,
                      {address(x.data()), address(numbers.data()), address(outV.data()),
                       address(outI.data())},
                      [&](const std::string &where) {
                        ASSERT_EQ(outV, wantV) << where;
                        ASSERT_EQ(outI, wantI) << where;
                      });
      }
    }
  }
}

template <class T> void joinAndSplit(const Shape &shape, const std::string &element) {
  int64_t count = countOf(shape);
  std::vector<int32_t> numbers = randomNumbers(2 * count, -100, 100, 7);
  std::vector<T> x(numbers.begin(), numbers.begin() + count),
      y(numbers.begin() + count, numbers.end());
  std::vector<T> joined(2 * count), left(count), right(count), want(2 * count);
  for (int64_t i = 0; i < count; ++i) {
    want[2 * i] = x[i];
    want[2 * i + 1] = y[i];
  }
  Shape pairs = shape;
  pairs.push_back(2);
  std::string type = tile(shape, element), pairType = tile(pairs, element);
  std::string text = kernelText(
      {{"x", element}, {"y", element}, {"j", element}, {"l", element}, {"r", element}},
      readTile("x", shape, element) + readTile("y", shape, element) +
          "  %joined = tile.join %x, %y : " + type + " -> " + pairType + "\n" +
          writeTile("j", "joined", pairs, element) + "  %a, %b = tile.split %joined : " + pairType +
          " -> " + type + ", " + type + "\n" + writeTile("l", "a", shape, element) +
          writeTile("r", "b", shape, element));
  runEverywhere(text,
                {address(x.data()), address(y.data()), address(joined.data()), address(left.data()),
                 address(right.data())},
                [&](const std::string &where) {
                  ASSERT_EQ(joined, want) << where;
                  ASSERT_EQ(left, x) << where;
                  ASSERT_EQ(right, y) << where;
                });
}

TEST(LowerMoves, JoinAndSplitOfEveryShape) {
  for (const Shape &shape : shapes) {
    joinAndSplit<int32_t>(shape, "i32");
  }
  joinAndSplit<int8_t>({3, 5, 16}, "i8");
  joinAndSplit<double>({4, 64}, "f64");
}

TEST(LowerMoves, GatherAlongEveryAxis) {
  for (const Shape &shape : shapes) {
    int64_t count = countOf(shape);
    std::vector<int32_t> x = randomNumbers(count, -1000, 1000, 4);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      for (int64_t picked : {shape[axis], int64_t{12}}) {
        Shape to = shape;
        to[axis] = picked;
        int64_t size = countOf(to);
        Lines source(shape, axis), result(to, axis);
        std::vector<int32_t> index = randomNumbers(size, 0, static_cast<int32_t>(shape[axis]), 5);
        std::vector<int32_t> out(size), want(size);
        for (int64_t i = 0; i < size; ++i) {
          int64_t o = i / (result.length * result.inner), in = i % result.inner;
          want[i] = x[(o * source.length + index[i]) * source.inner + in];
        }
        std::string text =
            kernelText({{"x", "i32"}, {"n", "i32"}, {"o", "i32"}},
                       readTile("x", shape, "i32") + readTile("n", to, "i32") +
                           "  %g = tile.gather %x[%n] axis " + std::to_string(axis) + " : " +
                           tile(shape, "i32") + ", " + tile(to, "i32") + " -> " + tile(to, "i32") +
                           "\n" + writeTile("o", "g", to, "i32"));
        runEverywhere(text, {address(x.data()), address(index.data()), address(out.data())},
                      [&](const std::string &where) { ASSERT_EQ(out, want) << where; });
      }
    }
  }
}

TEST(LowerMoves, GatherOfNarrowElementsAndWithWideIndices) {
  const Shape shape = {4, 32};
  std::vector<int32_t> numbers = randomNumbers(128, -100, 100, 4);
  std::vector<int8_t> x(numbers.begin(), numbers.end()), out(128), want(128);
  std::vector<int32_t> picks = randomNumbers(128, 0, 32, 5);
  std::vector<int64_t> index(picks.begin(), picks.end());
  index[5] = int64_t{1} << 40; // undefined, but it must not reach foreign memory
  index[77] = -1;
  for (int i = 0; i < 128; ++i) {
    want[i] = i == 5 || i == 77 ? 0 : x[i / 32 * 32 + index[i]];
  }
  std::string text = kernelText({{"x", "i8"}, {"n", "i64"}, {"o", "i8"}},
                                readTile("x", shape, "i8") + readTile("n", shape, "i64") +
                                    "  %g = tile.gather %x[%n] axis 1 : tensor<4x32xi8>, "
                                    "tensor<4x32xi64> -> tensor<4x32xi8>\n" +
                                    writeTile("o", "g", shape, "i8"));
  runEverywhere(text, {address(x.data()), address(index.data()), address(out.data())},
                [&](const std::string &where) {
                  out[5] = out[77] = 0;
                  ASSERT_EQ(out, want) << where;
                });
}

TEST(LowerMoves, HistogramCountsWhatIsInsideAndActive) {
  for (int64_t count : {1, 5, 500}) {
    for (int64_t bins : {1, 8, 17}) {
      std::vector<int32_t> x = randomNumbers(count, -3, static_cast<int32_t>(bins) + 3, 6);
      std::vector<int32_t> all(bins), some(bins), wantAll(bins), wantSome(bins);
      for (int64_t i = 0; i < count; ++i) {
        if (x[i] >= 0 && x[i] < bins) {
          ++wantAll[x[i]];
          wantSome[x[i]] += i % 2 == 0 ? 1 : 0;
        }
      }
      std::string from = "tensor<" + std::to_string(count) + "x";
      std::string to = "tensor<" + std::to_string(bins) + "xi32>";
      std::string text = kernelText(
          {{"x", "i32"}, {"a", "i32"}, {"s", "i32"}},
          readTile("x", {count}, "i32") + "  %h = tile.histogram %x : " + from + "i32> -> " + to +
              "\n  %one = arith.constant dense<1> : " + from + "i32>\n" +
              "  %low = arith.andi %x_r, %one : " + from + "i32>\n" +
              "  %mask = arith.cmpi ne, %low, %one : " + from + "i32>\n" +
              "  %g = tile.histogram %x mask %mask : " + from + "i1> : " + from + "i32> -> " + to +
              "\n" + writeTile("a", "h", {bins}, "i32") + writeTile("s", "g", {bins}, "i32"));
      runEverywhere(text, {address(x.data()), address(all.data()), address(some.data())},
                    [&](const std::string &where) {
                      ASSERT_EQ(all, wantAll) << where;
                      ASSERT_EQ(some, wantSome) << where;
                    });
    }
  }
}

TEST(LowerErrors, ScansOfAddressesAreE0301) {
  LoweredKernel kernel = lowerKernel(R"(
func.func @kernel(%p: !tile.ptr<f32>) attributes {tile.kernel} {
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %y = tile.scan %s axis 0 {
  ^bb0(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>):
    tile.combine_return %a : !tile.ptr<f32>
  } : (tensor<4x!tile.ptr<f32>>) -> tensor<4x!tile.ptr<f32>>
  func.return
})");
  EXPECT_NE(kernel.error.find("E0301"), std::string::npos) << kernel.error;
  EXPECT_NE(kernel.error.find("'tile.scan'"), std::string::npos) << kernel.error;
}

} // namespace
