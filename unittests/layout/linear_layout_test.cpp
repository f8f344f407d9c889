// SPDX-License-Identifier: Apache-2.0
// Laws of layouts: who holds an element is asked element by element, by arithmetic on coordinates
// that shares nothing with the layouts' bases.
#include "lib/layout/LinearLayout.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

using namespace nereid::layout;

namespace {

using Shape = LinearLayout::Shape;

std::vector<int64_t> coordinates(int64_t element, const Shape &shape) {
  std::vector<int64_t> result(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    result[dim] = element % shape[dim];
    element /= shape[dim];
  }
  return result;
}

int64_t number(const std::vector<int64_t> &coordinates, const Shape &shape) {
  int64_t result = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    result = result * shape[dim] + coordinates[dim];
  }
  return result;
}

template <class Visit> void forEachHolder(const LinearLayout &layout, Visit visit) {
  for (int64_t warp = 0; warp < layout.count(Holder::Warp); ++warp) {
    for (int64_t lane = 0; lane < layout.count(Holder::Lane); ++lane) {
      for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
        visit(reg, lane, warp);
      }
    }
  }
}

std::set<int64_t> heldElements(const LinearLayout &layout) {
  std::set<int64_t> result;
  forEachHolder(layout, [&](int64_t reg, int64_t lane, int64_t warp) {
    result.insert(layout.elementAt(reg, lane, warp));
  });
  return result;
}

const std::vector<Shape> shapes = {{1024}, {16, 64}, {64, 16}, {8, 4, 32}, {1}, {2, 2}, {1, 256}};

std::vector<LinearLayout> someLayouts(const Shape &shape) {
  std::vector<int32_t> order = rowMajorOrder(shape.size());
  std::vector<LinearLayout> result = {blockedLayout(shape, order, 4, 32, 4),
                                      blockedLayout(shape, order, 1, 32, 1)};
  std::reverse(order.begin(), order.end());
  result.push_back(blockedLayout(shape, order, 2, 32, 8));
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    result.push_back(scanLayout(shape, axis, 32, 4));
  }
  return result;
}

} // namespace

TEST(LinearLayout, EveryElementIsHeld) {
  for (const Shape &shape : shapes) {
    for (const LinearLayout &layout : someLayouts(shape)) {
      EXPECT_EQ(heldElements(layout).size(), static_cast<size_t>(layout.elementCount()));
      EXPECT_TRUE(layout.isComplete()) << layout.text();
      EXPECT_TRUE(layout.isPermutation()) << layout.text();
    }
  }
  EXPECT_FALSE(LinearLayout({4}, {1}, {}, {}).isComplete());
  EXPECT_FALSE(LinearLayout({4}, {1}, {1}, {}).isComplete());
  EXPECT_TRUE(LinearLayout({4}, {3}, {1}, {}).isComplete());
  EXPECT_FALSE(LinearLayout({4}, {3}, {1}, {}).isPermutation());
}

TEST(LinearLayout, ThreadsHoldNeighboursAndLanesFollow) {
  const LinearLayout layout = blockedLayout({1024}, rowMajorOrder(1), 4, 32, 4);
  EXPECT_EQ(layout.text(), "registers 1 2 512, lanes 4 8 16 32 64, warps 128 256");
  EXPECT_EQ(layout.elementAt(3, 5, 2), 3 + 5 * 4 + 2 * 128);
  EXPECT_EQ(layout.elementAt(4, 0, 0), 512);
}

TEST(LinearLayout, FewElementsAreHeldByManyThreads) {
  const LinearLayout layout = blockedLayout({16}, rowMajorOrder(1), 4, 32, 4);
  EXPECT_EQ(layout.count(Holder::Register), 4);
  EXPECT_EQ(layout.replicaBits(Holder::Lane), 0b11100);
  EXPECT_EQ(layout.replicaBits(Holder::Warp), 0b11);
}

TEST(LinearLayout, TransposedHoldersHoldTheSameElement) {
  const std::vector<int32_t> order = {2, 0, 1};
  const Shape shape = {8, 4, 32}, turned = {32, 8, 4};
  for (const LinearLayout &layout : someLayouts(shape)) {
    const LinearLayout result = layout.transposed(order);
    EXPECT_EQ(result.shape(), turned);
    forEachHolder(layout, [&](int64_t reg, int64_t lane, int64_t warp) {
      const auto from = coordinates(layout.elementAt(reg, lane, warp), shape);
      EXPECT_EQ(coordinates(result.elementAt(reg, lane, warp), turned),
                (std::vector<int64_t>{from[2], from[0], from[1]}));
    });
  }
}

TEST(LinearLayout, AnAxisGoesAndTheOthersStay) {
  const Shape shape = {8, 4, 32};
  for (unsigned axis = 0; axis < 3; ++axis) {
    Shape rest = shape;
    rest.erase(rest.begin() + axis);
    for (const LinearLayout &layout : someLayouts(shape)) {
      const LinearLayout result = layout.withoutAxis(axis);
      EXPECT_TRUE(result.isComplete());
      std::set<int64_t> held;
      forEachHolder(layout, [&](int64_t reg, int64_t lane, int64_t warp) {
        if (reg != 0) {
          return;
        }
        auto place = coordinates(layout.elementAt(0, lane, warp), shape);
        place.erase(place.begin() + axis);
        EXPECT_EQ(result.elementAt(0, lane, warp), number(place, rest));
      });
    }
  }
}

TEST(LinearLayout, SquaresKeepRowsWithinAWarp) {
  for (const Shape &shape : {Shape{64, 64}, Shape{16, 128}, Shape{128, 16}, Shape{2, 32, 32}}) {
    const LinearLayout layout = squareLayout(shape, 32, 4);
    EXPECT_TRUE(layout.isComplete()) << layout.text();
    EXPECT_TRUE(layout.isPermutation());
    for (int64_t basis : layout.bases(Holder::Warp)) {
      EXPECT_EQ(basis & axisBits(shape, shape.size() - 1), 0) << layout.text();
    }
  }
  EXPECT_EQ(squareLayout({64, 64}, 32, 4).text(),
            "registers 8 16 32 1024 2048, lanes 1 2 4 64 128, warps 256 512");
}

TEST(LinearLayout, SquaresWithFewerElementsThanThreadsHaveReplicas) {
  for (const Shape &shape : {Shape{1, 64}, Shape{64, 1}, Shape{2, 2}, Shape{1, 1}}) {
    const LinearLayout layout = squareLayout(shape, 32, 4);
    EXPECT_TRUE(layout.isComplete()) << layout.text();
    EXPECT_EQ(layout.bases(Holder::Lane).size(), 5U);
    EXPECT_EQ(layout.bases(Holder::Warp).size(), 2U);
  }
}

TEST(LinearLayout, HalvesLieInTwoRegisters) {
  for (const LinearLayout &layout : someLayouts({8, 4, 32})) {
    const LinearLayout both = layout.doubled();
    EXPECT_TRUE(both.isComplete());
    EXPECT_EQ(both.halved(), layout);
    forEachHolder(layout, [&](int64_t reg, int64_t lane, int64_t warp) {
      for (int64_t half : {0, 1}) {
        EXPECT_EQ(both.elementAt(2 * reg + half, lane, warp),
                  2 * layout.elementAt(reg, lane, warp) + half);
      }
    });
  }
}

TEST(LinearLayout, AScanWalksLanesInOrder) {
  const LinearLayout layout = scanLayout({4, 128}, 1, 32, 4);
  for (int64_t place = 0; place < 128; ++place) {
    EXPECT_EQ(layout.elementAt(place % 4, place / 4, 0) % 128, place);
  }
}

TEST(LinearLayout, AScansLayoutIsWalkable) {
  for (const Shape &shape : shapes) {
    for (unsigned axis = 0; axis < shape.size(); ++axis) {
      EXPECT_TRUE(isWalkable(scanLayout(shape, axis, 32, 4), axis));
    }
  }
}

TEST(LinearLayout, AWalkComesToRegistersThenLanesThenWarpsThenFurtherRegisters) {
  const Shape row = {1024};
  EXPECT_TRUE(isWalkable({row, {1, 2}, {4, 8, 16, 32, 64}, {128, 256}}, 0));
  EXPECT_TRUE(isWalkable({row, {1, 2, 512}, {4, 8, 16, 32, 64}, {128, 256}}, 0));
  EXPECT_TRUE(isWalkable({row, {512, 1, 2}, {4, 8, 16, 32, 64}, {128, 256}}, 0));
  // Registers between lanes and warps, warps below lanes, lanes in another order, replicas.
  EXPECT_FALSE(isWalkable({row, {1, 2, 128}, {4, 8, 16, 32, 64}, {256, 512}}, 0));
  EXPECT_FALSE(isWalkable({row, {1, 2}, {16, 32, 64, 128, 256}, {4, 8}}, 0));
  EXPECT_FALSE(isWalkable({row, {1, 2}, {8, 4, 16, 32, 64}, {128, 256}}, 0));
  EXPECT_FALSE(isWalkable({row, {1, 0}, {2, 4, 8, 16, 32}, {64, 128}}, 0));
  // Of a matrix: lanes of rows between those of columns, and an exclusive or.
  const Shape matrix = {8, 32};
  EXPECT_TRUE(isWalkable({matrix, {1}, {2, 4, 8, 16, 32}, {64, 128}}, 0));
  EXPECT_TRUE(isWalkable({matrix, {1}, {2, 4, 8, 16, 32}, {64, 128}}, 1));
  EXPECT_FALSE(isWalkable({matrix, {1}, {2, 32, 4, 8, 16}, {64, 128}}, 1));
  EXPECT_FALSE(isWalkable({matrix, {1}, {2, 4, 8, 16, 33}, {64, 128}}, 1));
}

TEST(LinearLayout, ARegisterIsFoundByWhatItContributes) {
  for (const LinearLayout &layout : someLayouts({8, 4, 32})) {
    const auto places = layout.registersByContribution();
    for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
      const int64_t part = layout.contribution(Holder::Register, reg);
      const auto first = static_cast<int64_t>(places.at(part));
      EXPECT_EQ(layout.contribution(Holder::Register, first), part);
      EXPECT_LE(first, reg) << "replicas come later";
    }
  }
}

TEST(LinearLayout, TheBitsOfAnAxisAreItsNumbersSteps) {
  EXPECT_EQ(axisBits({8, 4, 32}, 0), 7 << 7);
  EXPECT_EQ(axisBits({8, 4, 32}, 1), 3 << 5);
  EXPECT_EQ(axisBits({8, 4, 32}, 2), 31);
  EXPECT_EQ(axisBits({8, 1, 32}, 1), 0);
}
