// SPDX-License-Identifier: Apache-2.0
// Reductions and scans of every type: the widened types, wrapping, infinities, NaN and signed
// zeros, the leftmost of equal elements. Sums of floats are exact or not finite, since their order
// is open.
#include "test/tables/Kernel.h"
#include "test/tables/TypeRules.h"

#include <gtest/gtest.h>

#include <functional>

namespace nereid::tables {
namespace {

using Tile = std::vector<Scalar>;

Tile wholeNumbers(DType type, std::initializer_list<int64_t> numbers) {
  Tile tile;
  for (int64_t number : numbers) {
    tile.push_back(*convert(Scalar{DType::I64, static_cast<uint64_t>(number)}, type));
  }
  return filled(tile);
}

/// Tiles that a sum takes exactly; `withNan` says whether some hold NaN.
std::vector<Tile> exactTiles(DType type, bool withNan) {
  std::vector<Tile> tiles = {wholeNumbers(type, {3, 1, 7, 0, 7, 2, -1, 5, -4, 7, 0, 6, -4, 1}),
                             wholeNumbers(type, {1}), wholeNumbers(type, {-2, -1})};
  if (!isFloat(type)) {
    tiles.push_back(filled(edges(type)));
    return tiles;
  }
  auto with = [&](std::initializer_list<std::pair<size_t, llvm::APFloat>> changes) {
    Tile tile = tiles[0];
    for (const auto &[place, value] : changes) {
      tile[place] = scalar(value);
    }
    tiles.push_back(tile);
  };
  const llvm::fltSemantics &format = real(Scalar{type, 0}).getSemantics();
  with({{4, llvm::APFloat::getInf(format)}, {9, llvm::APFloat::getInf(format)}});
  with({{4, llvm::APFloat::getInf(format, true)}});
  tiles.push_back(Tile(tileSize, scalar(llvm::APFloat::getInf(format, true))));
  if (withNan) {
    with({{0, llvm::APFloat::getNaN(format)}});
    with({{15, llvm::APFloat::getNaN(format)}, {3, llvm::APFloat::getInf(format)}});
    with({{3, llvm::APFloat::getInf(format)}, {4, llvm::APFloat::getInf(format, true)}});
    tiles.push_back(Tile(tileSize, scalar(llvm::APFloat::getNaN(format))));
  }
  return tiles;
}

std::vector<Tile> orderedTiles(DType type) {
  std::vector<Tile> tiles = exactTiles(type, false);
  Tile all = filled(edges(type));
  std::erase_if(all, [](Scalar value) { return isNan(value); });
  tiles.push_back(filled(all));
  return tiles;
}

DType widened(DType type, bool isSum) {
  if (isFloat(type)) {
    return isSum || type == DType::F64 ? type : DType::F32;
  }
  bool isNarrow = widthOf(type) < 32;
  return !isNarrow ? type : isSum && !isSigned(type) ? DType::U32 : DType::I32;
}

using Fold = std::function<std::optional<Scalar>(Scalar, Scalar)>;

std::optional<Scalar> folded(const Tile &tile, DType type, const Fold &combine) {
  std::optional<Scalar> result = convert(tile[0], type);
  for (size_t i = 1; result && i < tile.size(); ++i) {
    result = combine(*result, *convert(tile[i], type));
  }
  return result;
}

Fold by(const std::string &op) {
  return [op](Scalar a, Scalar b) { return apply(op, a, b); };
}

/// The same value in all rows of a tile.
void addReduction(std::vector<Column> &columns, const std::string &expression, DType type,
                  const std::vector<Tile> &tiles,
                  const std::function<std::optional<Scalar>(const Tile &)> &expected) {
  Column column{expression, type, {}};
  for (const Tile &tile : tiles) {
    column.expected.insert(column.expected.end(), tile.size(), expected(tile));
  }
  columns.push_back(std::move(column));
}

void addScan(std::vector<Column> &columns, const std::string &expression, DType type,
             const std::vector<Tile> &tiles, const Fold &combine, bool isReversed) {
  Column column{expression, type, {}};
  for (const Tile &tile : tiles) {
    std::vector<std::optional<Scalar>> sums(tile.size());
    for (size_t k = 0; k < tile.size(); ++k) {
      size_t at = isReversed ? tile.size() - 1 - k : k;
      Scalar value = *convert(tile[at], type);
      std::optional<Scalar> before = k == 0 ? std::nullopt : sums[isReversed ? at + 1 : at - 1];
      sums[at] = k == 0 ? std::optional(value) : before ? combine(*before, value) : std::nullopt;
    }
    column.expected.insert(column.expected.end(), sums.begin(), sums.end());
  }
  columns.push_back(std::move(column));
}

void check(DType type, const std::vector<Tile> &tiles, const std::vector<Column> &columns) {
  Operand operand{"a", type, {}};
  for (const Tile &tile : tiles) {
    operand.rows.insert(operand.rows.end(), tile.begin(), tile.end());
  }
  for (auto &engine : engines()) {
    EXPECT_EQ(runColumns(*engine, {operand}, columns), "") << engine->name();
  }
}

class Reductions : public testing::TestWithParam<DType> {};

TEST_P(Reductions, sumsAndProducts) {
  DType type = GetParam(), sum = widened(type, true);
  DType scanned = type == DType::BF16 ? DType::F32 : type;
  std::vector<Tile> tiles = exactTiles(type, true);
  std::vector<Column> columns;
  addReduction(columns, "tl.sum(a, 0)", sum, tiles,
               [&](const Tile &tile) { return folded(tile, sum, by("+")); });
  addReduction(columns, "tl.sum(a, 0, dtype=tl.float64)", DType::F64, tiles, [&](const Tile &tile) {
    // Integers of 64 bits are rounded as they are converted, and their sum again.
    return isFloat(type) || widthOf(type) < 64 ? folded(tile, DType::F64, by("+")) : std::nullopt;
  });
  for (bool isReversed : {false, true}) {
    std::string end = isReversed ? ", reverse=True)" : ")";
    addScan(columns, "tl.cumsum(a, 0" + end, type == DType::BF16 ? DType::F32 : sum, tiles, by("+"),
            isReversed);
    // Products of the tiles are exact as long as they are finite: each factor is below 8.
    bool isExact = !isFloat(type) || type == DType::F64;
    if (isExact) {
      addScan(columns, "tl.cumprod(a, 0" + end, scanned, tiles, by("*"), isReversed);
    }
  }
  if (!isFloat(type)) {
    addReduction(columns, "tl.xor_sum(a, 0)", type, tiles,
                 [&](const Tile &tile) { return folded(tile, type, by("^")); });
    addReduction(columns, "tl.reduce_or(a, 0)", type, tiles,
                 [&](const Tile &tile) { return folded(tile, type, by("|")); });
  }
  check(type, tiles, columns);
}

TEST_P(Reductions, extrema) {
  DType type = GetParam(), result = widened(type, false);
  std::vector<Tile> tiles = exactTiles(type, true);
  Tile ends = filled(edges(type));
  tiles.push_back(ends);
  std::vector<Column> columns;
  for (const char *op : {"max", "min"}) {
    addReduction(columns, std::string("tl.") + op + "(a, 0)", result, tiles,
                 [&](const Tile &tile) { return folded(tile, result, by(op)); });
  }
  if (isFloat(type) && type != DType::BF16) {
    Fold sticky = by("max nan");
    addReduction(columns, "tl.reduce(a, 0, larger)", type, tiles,
                 [&](const Tile &tile) { return folded(tile, type, sticky); });
    addScan(columns, "tl.associative_scan(a, 0, larger)", type, tiles, sticky, false);
  }
  check(type, tiles, columns);
}

TEST_P(Reductions, placesOfExtrema) {
  DType type = GetParam();
  DType kept = type == DType::BF16 ? DType::F32 : type;
  std::vector<Tile> tiles = orderedTiles(type);
  std::vector<Column> columns;
  for (bool isMax : {true, false}) {
    auto leftmost = [isMax](const Tile &tile) {
      size_t best = 0;
      for (size_t i = 1; i < tile.size(); ++i) {
        best = apply(isMax ? ">" : "<", tile[i], tile[best])->bits != 0 ? i : best;
      }
      return best;
    };
    std::string name = isMax ? "max" : "min";
    addReduction(columns, "tl.arg" + name + "(a, 0)", DType::I32, tiles,
                 [&](const Tile &tile) { return Scalar{DType::I32, leftmost(tile)}; });
    addReduction(columns, "tl." + name + "(a, 0, return_indices=True)[0]", kept, tiles,
                 [&](const Tile &tile) { return convert(tile[leftmost(tile)], kept); });
    addReduction(columns, "tl." + name + "(a, 0, return_indices=True)[1]", DType::I32, tiles,
                 [&](const Tile &tile) { return Scalar{DType::I32, leftmost(tile)}; });
  }
  check(type, tiles, columns);
}

INSTANTIATE_TEST_SUITE_P(Types, Reductions, testing::ValuesIn(tableTypes()),
                         [](const auto &each) { return std::string(kernelName(each.param)); });

} // namespace
} // namespace nereid::tables
