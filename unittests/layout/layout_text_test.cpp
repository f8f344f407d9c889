// SPDX-License-Identifier: Apache-2.0
// Layouts from text and as text: what is written is read again, pictures show who really holds an
// element, and what cannot be read is E0440.
#include "lib/layout/LayoutPicture.h"
#include "lib/layout/LayoutText.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace nereid;
using namespace nereid::layout;

namespace {

std::string errorOf(const std::string &text, const LinearLayout::Shape &shape = {16, 32}) {
  const auto layout = parseLayout(text, shape);
  return layout ? "" : layout.error().code + ": " + layout.error().message;
}

/// The cells of a picture, without the line and the column of indices.
std::vector<std::vector<std::string>> cellsOf(const std::string &picture) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(picture);
  std::string line, cell;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    cells >> cell; // the index
    rows.emplace_back();
    while (cells >> cell) {
      rows.back().push_back(cell);
    }
  }
  return rows;
}

} // namespace

TEST(LayoutText, WhatIsWrittenIsReadAgain) {
  for (const LinearLayout &layout :
       {blockedLayout({16, 32}, rowMajorOrder(2), 4, 32, 4), squareLayout({16, 32}, 32, 4),
        scanLayout({16, 32}, 0, 32, 2), LinearLayout({16, 32}, {}, {}, {})}) {
    const auto read = parseLayout(layout.text(), {16, 32});
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, layout);
  }
}

TEST(LayoutText, TheTextOfAPhaseIsReadToo) {
  const auto read = parseLayout(
      "#some.layout<registers = [1, 2], lanes = [4, 8, 16, 32, 64], warps = []>", {16, 32});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, LinearLayout({16, 32}, {1, 2}, {4, 8, 16, 32, 64}, {}));
  const auto lanes = parseLayout("lanes 1 2", {4});
  ASSERT_TRUE(lanes);
  EXPECT_EQ(*lanes, LinearLayout({4}, {}, {1, 2}, {}));
}

TEST(LayoutText, WhatCannotBeReadIsSaid) {
  EXPECT_EQ(errorOf(""), "E0440: the text of a layout is empty");
  EXPECT_EQ(errorOf("lanes 1 2, blocks 4"),
            "E0440: a layout has registers, lanes and warps, each once, but got 'blocks'");
  EXPECT_EQ(errorOf("lanes 1, lanes 2"),
            "E0440: a layout has registers, lanes and warps, each once, but got 'lanes'");
  EXPECT_EQ(errorOf("1 2"), "E0440: '1' belongs to no registers, lanes or warps");
  EXPECT_EQ(errorOf("lanes 512"),
            "E0440: the tile has the elements 0 to 511, but a bit of lanes stands for 512");
  EXPECT_EQ(errorOf("lanes 99999999999999999999"),
            "E0440: the tile has the elements 0 to 511, but a bit of lanes stands for "
            "99999999999999999999");
  EXPECT_EQ(errorOf("lanes 1 2 4 8 16 32"),
            "E0440: the number of lanes has at most 5 bits, but got more");
  EXPECT_EQ(errorOf("lanes -1"), "E0440: unexpected '-' in 'lanes -1'");
}

TEST(LayoutText, ShapesArePowersOfTwo) {
  EXPECT_EQ(*parseShape("64x32"), (LinearLayout::Shape{64, 32}));
  EXPECT_EQ(*parseShape("1"), (LinearLayout::Shape{1}));
  EXPECT_EQ(*parseShape("1048576"), (LinearLayout::Shape{1 << 20}));
  for (const char *wrong : {"", "x", "3", "64x", "64x0", "64y32", "-4", "2097152", "1048576x2",
                            "9223372036854775808", "4611686018427387904x4"}) {
    const auto shape = parseShape(wrong);
    ASSERT_FALSE(shape) << wrong;
    EXPECT_EQ(shape.error().code, "E0440");
  }
}

TEST(LayoutText, PlacesAreOneForEachBit) {
  EXPECT_EQ(*parsePlaces("[2, 4, 24]", {4, 2}), (Places{2, 4, 24}));
  EXPECT_EQ(*parsePlaces("", {1}), Places());
  for (const char *wrong : {"2 4", "2 4 8 16", "2 4 a", "2 4 1073741824", "2;4;8"}) {
    const auto places = parsePlaces(wrong, {4, 2});
    ASSERT_FALSE(places) << wrong;
    EXPECT_EQ(places.error().code, "E0440");
  }
}

TEST(LayoutPicture, ShowsWhoHoldsAnElement) {
  for (const LinearLayout &layout :
       {blockedLayout({16, 32}, rowMajorOrder(2), 4, 32, 4), squareLayout({16, 32}, 32, 4),
        blockedLayout({2, 4}, rowMajorOrder(2), 1, 32, 4),
        LinearLayout({4, 4}, {3}, {1, 12}, {8})}) {
    const auto rows = cellsOf(pictureOfHolders(layout, {16, 32}));
    const int64_t columns = layout.shape()[1];
    ASSERT_EQ(rows.size(), static_cast<size_t>(layout.shape()[0]));
    for (size_t row = 0; row < rows.size(); ++row) {
      ASSERT_EQ(rows[row].size(), static_cast<size_t>(columns));
      for (size_t column = 0; column < rows[row].size(); ++column) {
        std::istringstream cell(rows[row][column]);
        int64_t warp = 0, lane = 0, reg = 0;
        char mark = 0;
        cell >> warp >> mark >> lane >> mark >> reg;
        EXPECT_EQ(layout.elementAt(reg, lane, warp),
                  static_cast<int64_t>(row) * columns + static_cast<int64_t>(column));
      }
    }
  }
}

TEST(LayoutPicture, OfReplicasTheFirstIsShown) {
  const LinearLayout layout = blockedLayout({4}, rowMajorOrder(1), 2, 32, 4);
  const auto holders = firstHolders(layout);
  for (int64_t element = 0; element < 4; ++element) {
    EXPECT_EQ(holders[static_cast<size_t>(element)], (HolderNumbers{0, element / 2, element % 2}));
  }
}

TEST(LayoutPicture, ShowsWhatNobodyHolds) {
  EXPECT_EQ(pictureOfHolders(LinearLayout({4}, {1}, {}, {}), {}),
            "       0      1      2      3\n0  0:0.0  0:0.1      -      -\n");
}

TEST(LayoutPicture, ShowsACorner) {
  EXPECT_EQ(pictureOfHolders(LinearLayout({4, 4}, {1, 2}, {4, 8}, {}), {2, 2}),
            "       0      1  …\n0  0:0.0  0:0.1  …\n1  0:1.0  0:1.1  …\n…\n");
  // Of more dimensions the last two.
  EXPECT_EQ(pictureOfHolders(LinearLayout({2, 1, 2}, {2}, {1}, {}), {2, 2}),
            "       0      1\n0  0:0.0  0:1.0\n");
}

TEST(LayoutPicture, ShowsBanks) {
  // Rows of 64 bytes: the third begins in the first bank again.
  Places places = rowMajorPlaces({4, 16}, 4);
  EXPECT_EQ(pictureOfBanks({4, 16}, places, {4, 3}),
            "    0   1   2  …\n0   0   1   2  …\n1  16  17  18  …\n2   0   1   2  …\n"
            "3  16  17  18  …\n");
  places[5] ^= 16; // every second pair of rows begins four banks later
  EXPECT_EQ(pictureOfBanks({4, 16}, places, {4, 3}),
            "    0   1   2  …\n0   0   1   2  …\n1  16  17  18  …\n2   4   5   6  …\n"
            "3  20  21  22  …\n");
}

TEST(LayoutPicture, SaysInWordsAndVectors) {
  const LinearLayout layout({16, 32}, {1, 2, 256}, {4, 8, 16, 32, 64}, {128, 0});
  EXPECT_EQ(inWords(layout), "registers: 4 along dim 1, then 2 along dim 0 in steps of 8\n"
                             "lanes:     8 along dim 1 in steps of 4, then 4 along dim 0\n"
                             "warps:     2 along dim 0 in steps of 4, 2 replicas\n");
  EXPECT_EQ(basisVectors(layout), "registers: [0, 1] [0, 2] [8, 0]\n"
                                  "lanes:     [0, 4] [0, 8] [0, 16] [1, 0] [2, 0]\n"
                                  "warps:     [4, 0] [0, 0]\n");
  EXPECT_EQ(inWords(LinearLayout({4, 16}, {1, 8}, {2, 4}, {})),
            "registers: 2 along dim 1, then 2 along dim 1 in steps of 8\n"
            "lanes:     4 along dim 1 in steps of 2\nwarps:     1\n");
  const LinearLayout mixed({4, 4}, {}, {5, 10}, {0});
  EXPECT_EQ(inWords(mixed), "registers: 1\nlanes:     2 along [1, 1], then 2 along [2, 2]\n"
                            "warps:     2 replicas\n");
  EXPECT_EQ(basisVectors(mixed), "registers: none\nlanes:     [1, 1] [2, 2]\nwarps:     [0, 0]\n");
}
