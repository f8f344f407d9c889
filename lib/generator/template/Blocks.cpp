// SPDX-License-Identifier: Apache-2.0
// Expressions of blocks, see Blocks.h.
#include "lib/generator/template/Blocks.h"

#include "lib/generator/launch/Table.h"

#include <fmt/format.h>

namespace nereid::generator {
namespace {

/// Elements of a tile that is turned, and of one of its sides.
constexpr int64_t turnedElements = 4096, turnedSide = 64;

/// Sides of a product's tile where there are few of them, and where there are many; the least where
/// lanes multiply, and half of the processors would have no tile.
constexpr int64_t smallSide = 64, largeSide = 128, leastSide = 32;

} // namespace

std::string launchText(const Polynomial &value, const Program &program) {
  std::string result;
  for (char c : program.space.symbols.text(value)) { // exact there: N/8 of a multiple of 8
    result += c == '/' ? "//" : std::string(1, c);
  }
  return result;
}

std::string launchExtent(const TileDim &dim, const Program &program) {
  return "(" + launchText(extentOf(dim, program), program) + ")";
}

std::vector<TileDim> maybeEven(std::vector<TileDim> dims) {
  for (TileDim &dim : dims) {
    dim.mayBeEven = true;
  }
  return dims;
}

void setTransposedBlocks(std::vector<TileDim> &dims, const Program &program) {
  TileDim &outer = dims[dims.size() - 2], &inner = dims.back();
  auto beside = [&](const TileDim &other) { // a short side leaves its share to the other one
    return fmt::format("max({}, {}//max(1, next_power_of_2({})))", turnedSide, turnedElements,
                       launchExtent(other, program));
  };
  const std::string ofInner = beside(outer);
  outer.largest = beside(inner);
  inner.largest = ofInner;
}

ProductBlocks productBlocks(const std::vector<TileDim> &outer, const TileDim &m, const TileDim &n,
                            DType operand, const Program &program) {
  auto tiles = [&](int64_t rows, int64_t columns) {
    std::string count = fmt::format("cdiv({}, {})*cdiv({}, {})", launchExtent(m, program), rows,
                                    launchExtent(n, program), columns);
    for (const TileDim &dim : outer) {
      count += "*" + launchExtent(dim, program);
    }
    return count;
  };
  // Multiples of what few tiles have, by a comparison.
  const std::string areMany =
      fmt::format("({} >= {})", tiles(largeSide, largeSide), processorsName);
  const bool isShort = operand == DType::F16 || operand == DType::BF16 || operand == DType::I8;
  auto side = [&](int64_t rows) { // of tiles with so many rows
    return isShort ? fmt::format("{0} + {0}*{1}", smallSide, areMany)
                   : fmt::format("{0} + {0}*(2*{1} > {2}) + {3}*{4}", leastSide,
                                 tiles(rows, smallSide), processorsName, smallSide, areMany);
  };
  return {side(smallSide), side(leastSide), isShort ? "64" : "32",
          fmt::format("4 + 4*({}*{} >= {})", m.block, n.block, largeSide * largeSide)};
}

} // namespace nereid::generator
