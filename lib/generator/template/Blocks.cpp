// SPDX-License-Identifier: Apache-2.0
// Expressions of blocks, see Blocks.h.
#include "lib/generator/template/Blocks.h"

#include "lib/generator/launch/Table.h"

#include <fmt/format.h>

namespace nereid::generator {
namespace {

/// Elements of a tile that is turned, and of one of its sides.
constexpr int64_t turnedElements = 4096, turnedSide = 64;

/// Sides of a product's tile where there are few of them, and where there are many.
constexpr int64_t smallSide = 64, largeSide = 128;

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
  std::string tiles = fmt::format("cdiv({}, {})*cdiv({}, {})", launchExtent(m, program), largeSide,
                                  launchExtent(n, program), largeSide);
  for (const TileDim &dim : outer) {
    tiles += "*" + launchExtent(dim, program);
  }
  // Multiples of what few tiles have, by a comparison.
  const std::string side = fmt::format("{0} + {0}*({1} >= {2})", smallSide, tiles, processorsName);
  const bool isShort = operand == DType::F16 || operand == DType::BF16 || operand == DType::I8;
  return {side, side, isShort ? "64" : "32",
          fmt::format("4 + 4*({}*{} >= {})", m.block, n.block, largeSide * largeSide)};
}

} // namespace nereid::generator
