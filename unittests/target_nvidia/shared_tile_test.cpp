// SPDX-License-Identifier: Apache-2.0
// Laws of matrices in shared memory: one place for each element, no two lanes of a phase in a bank,
// and fragments that hold what the matrix instructions expect.
#include "lib/targets/nvidia/layouts/MatrixLayouts.h"
#include "lib/targets/nvidia/layouts/SharedTile.h"
#include "lib/targets/nvidia/products/MatrixReader.h"

#include <gtest/gtest.h>

#include <set>

using namespace nereid;
using namespace nereid::nvidia;
using layout::Holder;
using layout::LinearLayout;

namespace {

struct Matrix {
  int64_t rows, columns, fastest;
};

std::vector<Matrix> matrices() {
  std::vector<Matrix> all;
  for (int64_t rows : {8, 16, 64, 128}) {
    for (int64_t columns : {8, 16, 32, 64, 256}) {
      all.push_back({rows, columns, 0});
      all.push_back({rows, columns, 1});
    }
  }
  return all;
}

std::string textOf(const Matrix &one) {
  return std::to_string(one.rows) + " x " + std::to_string(one.columns) + ", fastest " +
         std::to_string(one.fastest);
}

/// Number of the element at `row` of the rows that memory runs along, at `at` in it.
int64_t elementAt(const Matrix &one, int64_t row, int64_t at) {
  return one.fastest == 1 ? row * one.columns + at : at * one.columns + row;
}

/// Eight lanes with 16 bytes each are a phase: all 32 banks, each once.
void expectOnePhase(const std::set<int64_t> &chunks, const std::string &what) {
  std::set<int64_t> banks;
  for (int64_t place : chunks) {
    EXPECT_EQ(place % 16, 0) << what;
    banks.insert(place % 128);
  }
  EXPECT_EQ(banks.size(), 8U) << what;
}

} // namespace

TEST(SharedTile, EveryElementHasAPlaceOfItsOwn) {
  for (const Matrix &one : matrices()) {
    const SharedTile tile({one.rows, one.columns}, 2, one.fastest);
    std::set<int64_t> places;
    for (int64_t element = 0; element < one.rows * one.columns; ++element) {
      places.insert(tile.placeOf(element));
    }
    EXPECT_EQ(places.size(), static_cast<size_t>(one.rows * one.columns)) << textOf(one);
    EXPECT_EQ(*places.rbegin(), tile.bytes() - 2) << textOf(one);
  }
}

TEST(SharedTile, PlacesAreLinearOverBits) {
  for (const Matrix &one : matrices()) {
    const SharedTile tile({one.rows, one.columns}, 2, one.fastest);
    for (int64_t a = 1; a < one.rows * one.columns; a += 37) {
      for (int64_t b = 1; b < one.rows * one.columns; b *= 2) {
        EXPECT_EQ(tile.placeOf(a ^ b), tile.placeOf(a) ^ tile.placeOf(b)) << textOf(one);
      }
    }
  }
}

TEST(SharedTile, EightElementsStayTogether) {
  for (const Matrix &one : matrices()) {
    const SharedTile tile({one.rows, one.columns}, 2, one.fastest);
    const int64_t unit = one.fastest == 1 ? 1 : one.columns;
    for (int64_t i : {1, 2, 4}) {
      EXPECT_EQ(tile.placeOf(i * unit), 2 * i) << textOf(one);
    }
  }
}

TEST(SharedTile, EightRowsLieInDifferentBanks) {
  for (const Matrix &one : matrices()) {
    const SharedTile tile({one.rows, one.columns}, 2, one.fastest);
    const int64_t rows = one.fastest == 1 ? one.rows : one.columns;
    const int64_t length = one.fastest == 1 ? one.columns : one.rows;
    for (int64_t first = 0; first < rows; first += 8) {
      for (int64_t at = 0; at < length; at += 8) {
        std::set<int64_t> chunks;
        for (int64_t row = first; row < first + 8; ++row) {
          chunks.insert(tile.placeOf(elementAt(one, row, at)));
        }
        expectOnePhase(chunks, textOf(one));
      }
    }
  }
}

TEST(SharedTile, NeighboursOfARowLieInDifferentBanks) {
  // As coalesced vectors are written: eight lanes take as many rows as fill 128 bytes.
  for (const Matrix &one : matrices()) {
    const SharedTile tile({one.rows, one.columns}, 2, one.fastest);
    const int64_t rows = one.fastest == 1 ? one.rows : one.columns;
    const int64_t wide = std::min<int64_t>(64, one.fastest == 1 ? one.columns : one.rows);
    const int64_t high = std::min(rows, 64 / wide);
    for (int64_t first = 0; first < rows; first += high) {
      std::set<int64_t> chunks;
      for (int64_t lane = 0; lane < 8; ++lane) {
        chunks.insert(
            tile.placeOf(elementAt(one, first + lane / (wide / 8), lane % (wide / 8) * 8)));
      }
      expectOnePhase(chunks, textOf(one));
    }
  }
}

namespace {

/// What lane `lane` gets of an `ldmatrix`, by what PTX says of it: two neighbours of the row whose
/// address lane `8 * matrix + lane / 4` gives, or, transposed, one element each of two rows.
int64_t elementRead(const MatrixRows &rows, const LinearLayout &fragment, int64_t fastest,
                    int64_t instruction, int64_t matrix, int64_t lane, int64_t warp, int64_t half) {
  const int64_t unit = fastest == 1 ? 1 : fragment.shape()[1];
  const int64_t row = rows.isTransposed ? 2 * (lane % 4) + half : lane / 4;
  const int64_t at = rows.isTransposed ? lane / 4 : 2 * (lane % 4) + half;
  return rows.starts.elementAt(instruction, 8 * matrix + row, warp) ^ (at * unit);
}

void expectFragment(const LinearLayout &fragment, int64_t fastest) {
  const auto rows = matrixRowsOf(fragment, fastest);
  ASSERT_TRUE(rows) << fragment.text();
  for (int64_t reg = 0; reg < fragment.count(Holder::Register); ++reg) {
    const int64_t word = reg / 2;
    for (int64_t warp = 0; warp < fragment.count(Holder::Warp); ++warp) {
      for (int64_t lane = 0; lane < 32; ++lane) {
        ASSERT_EQ(elementRead(*rows, fragment, fastest, word / rows->words, word % rows->words,
                              lane, warp, reg % 2),
                  fragment.elementAt(reg, lane, warp))
            << fragment.text() << ", register " << reg << ", lane " << lane;
      }
    }
  }
}

} // namespace

TEST(MatrixRows, FragmentsOfBothOperandsAreReadFromBothOrders) {
  const MatrixShape half{16, 16};
  for (int64_t size : {16, 32, 128}) {
    for (int64_t k : {16, 32, 64}) {
      for (const WarpGrid &warps : {WarpGrid{1, 1}, WarpGrid{2, 2}, WarpGrid{4, 1}}) {
        for (int64_t fastest : {0, 1}) {
          expectFragment(leftLayout(size, k, half, warps), fastest);
          expectFragment(rightLayout(k, size, half, warps), fastest);
        }
      }
    }
  }
}

TEST(MatrixRows, OtherLayoutsAreNone) {
  EXPECT_FALSE(
      matrixRowsOf(layout::blockedLayout({64, 64}, std::vector<int32_t>{1, 0}, 8, 32, 4), 1));
  EXPECT_FALSE(
      matrixRowsOf(layout::blockedLayout({64, 64}, std::vector<int32_t>{1, 0}, 1, 32, 4), 1));
  EXPECT_FALSE(matrixRowsOf(accumulatorLayout(64, 64, {2, 2}).reshaped({4096}), 1));
}
