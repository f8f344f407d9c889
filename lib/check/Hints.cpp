// SPDX-License-Identifier: Apache-2.0
// What the three hints of lib/tile/ir/Promises.h mean, checked along every dimension.
#include "lib/check/Hints.h"

#include "lib/check/Marks.h"
#include "lib/interpreter/operations/MemoryAccess.h"
#include "lib/tile/ir/Promises.h"

#include "llvm/ADT/DenseSet.h"

#include <iterator>

namespace nereid::check {

using interpreter::Instance;
using interpreter::Tile;

static constexpr llvm::StringLiteral attributeNames[] = {
    tile::promise::divisibility, tile::promise::contiguity, tile::promise::constancy};
static constexpr const char *functionNames[] = {"tl.multiple_of", "tl.max_contiguous",
                                                "tl.max_constancy"};

void Hints::find(mlir::Operation *module) {
  module->walk([&](mlir::Operation *op) {
    for (llvm::StringRef name : attributeNames) {
      if (op->getNumResults() == 1 && op->hasAttrOfType<mlir::DenseI64ArrayAttr>(name)) {
        operations.insert(op);
      }
    }
  });
}

namespace {

/// One hint on one dimension of a tile.
struct Promise {
  const Tile &tile;
  unsigned hint; ///< index into the tables above
  int64_t number;
  uint64_t step; ///< between neighbours that count up

  bool countsUp(size_t i, size_t stride) const {
    return ((tile[i] - tile[i - stride]) & tile.type.mask()) == step;
  }
  /// Element i is the k-th along the dimension, whose elements are `stride` apart.
  bool holds(size_t i, int64_t k, size_t stride) const {
    if (hint == 0) {
      const bool begins = k == 0 || !countsUp(i, stride);
      return !begins || tile.integer(i) % number == 0;
    }
    if (k % number == 0) {
      return true;
    }
    return hint == 1 ? countsUp(i, stride) : tile[i] == tile[i - stride];
  }
};

std::string valueText(const Tile &tile, size_t i, int64_t number) {
  return tile.type.kind == interpreter::Kind::Pointer
             ? "an address that is " + std::to_string(tile.integer(i) % number) + " modulo " +
                   std::to_string(number)
             : std::to_string(tile.integer(i));
}

std::string elementText(const Tile &tile, size_t i) {
  return tile.isTile
             ? "element " +
                   interpreter::tuple(interpreter::coordinates(tile.shape, static_cast<int64_t>(i)),
                                      '[', ']') +
                   " is "
             : "the value is ";
}

} // namespace

std::optional<Hints::Broken> Hints::check(Instance &instance, mlir::Operation *op) const {
  if (!operations.contains(op)) {
    return std::nullopt;
  }
  const Tile &tile = instance.get(op->getResult(0));
  const bool isPointer = tile.type.kind == interpreter::Kind::Pointer;
  if (tile.type.isFloat()) {
    return std::nullopt;
  }
  const uint64_t step = isPointer ? interpreter::pointeeOf(op->getResult(0).getType()).bytes() : 1;
  for (unsigned hint = 0; hint < std::size(attributeNames); ++hint) {
    auto numbers = op->getAttrOfType<mlir::DenseI64ArrayAttr>(attributeNames[hint]);
    size_t stride = tile.size();
    for (size_t axis = 0; numbers && axis < static_cast<size_t>(numbers.size()); ++axis) {
      const int64_t length = tile.isTile ? tile.shape[axis] : 1;
      stride /= static_cast<size_t>(length);
      const int64_t number = numbers[axis];
      const Promise promise{tile, hint, number, step};
      for (size_t i = 0; number > 1 && i < tile.size(); ++i) {
        const auto k = static_cast<int64_t>(i / stride) % length;
        if (markAt(tile, i) != 0 || promise.holds(i, k, stride)) {
          continue;
        }
        std::string where = elementText(tile, i) + valueText(tile, i, number);
        if (hint != 0) {
          where += " and the one before it is " + valueText(tile, i - stride, number);
        }
        return Broken{std::string(functionNames[hint]) + "(…, " + std::to_string(number) + ")",
                      std::move(where)};
      }
    }
  }
  return std::nullopt;
}

} // namespace nereid::check
