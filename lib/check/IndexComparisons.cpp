// SPDX-License-Identifier: Apache-2.0
// Finding indices, and redoing their comparisons with the numbers that a range would have reached.
#include "lib/check/IndexComparisons.h"

#include "lib/check/AddressArithmetic.h"

#include "llvm/ADT/DenseSet.h"

#include <limits>
#include <optional>

namespace arith = mlir::arith;

namespace nereid::check {

using interpreter::Tile;

bool IndexComparisons::isIndex(mlir::Value value) {
  auto [entry, isNew] = known.try_emplace(value, false);
  if (!isNew) {
    return entry->second;
  }
  llvm::SmallVector<mlir::Value, 8> work{value};
  llvm::DenseSet<mlir::Value> seen;
  bool hasRange = false;
  while (!work.empty()) {
    mlir::Value current = work.pop_back_val();
    if (!seen.insert(current).second || !mlir::isa<mlir::RankedTensorType>(current.getType())) {
      continue;
    }
    mlir::Operation *op = current.getDefiningOp();
    const llvm::SmallVector<mlir::Value, 4> sources = sourcesOf(current);
    work.append(sources.begin(), sources.end());
    if (!sources.empty() || mlir::isa_and_nonnull<arith::ConstantOp>(op)) {
      continue;
    }
    if (mlir::isa_and_nonnull<tile::MakeRangeOp>(op)) {
      hasRange = true;
    } else if (mlir::isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp,
                                     arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, tile::SplatOp,
                                     tile::ExpandDimsOp, tile::BroadcastOp, tile::ReshapeOp,
                                     tile::TransOp>(op)) {
      work.append(op->operand_begin(), op->operand_end());
    } else {
      return false;
    }
  }
  return known[value] = hasRange;
}

/// Elements `first`, `first + stride`, … of a tile.
struct Line {
  size_t first = 0, stride = 0, length = 0;
};

/// By how much the line grows from element to element before and behind the one place where it
/// wraps around; nothing when it does not wrap, or in another way.
static std::optional<int64_t> stepOfWrapped(const Tile &tile, const Line &line) {
  constexpr __int128 words = __int128(1) << 32, longs = __int128(1) << 64;
  auto at = [&](size_t i) { return __int128(tile.integer(line.first + i * line.stride)); };
  size_t wraps = 0;
  std::optional<__int128> step;
  for (size_t i = 1; i < line.length; ++i) {
    __int128 grows = at(i) - at(i - 1);
    if (grows < 0) {
      grows += grows + words > 0 ? words : longs;
      ++wraps;
    }
    if (step.value_or(grows) != grows || grows == 0) {
      return std::nullopt;
    }
    step = grows;
  }
  const auto steps = static_cast<__int128>(line.length);
  const bool isShort = step && *step * steps <= std::numeric_limits<int32_t>::max();
  return wraps == 1 && isShort ? std::optional(static_cast<int64_t>(*step)) : std::nullopt;
}

/// The elements in exact numbers when some line of the tile wraps around; empty otherwise.
static std::vector<__int128> unwrapped(const Tile &tile) {
  std::vector<__int128> exact;
  size_t stride = 1;
  for (size_t axis = tile.shape.size(); axis-- > 0;) {
    const auto length = static_cast<size_t>(tile.shape[axis]);
    for (size_t i = 0; i < tile.size() && length > 1; ++i) {
      const Line line{i, stride, length};
      const std::optional<int64_t> step =
          i / stride % length == 0 ? stepOfWrapped(tile, line) : std::nullopt;
      if (step && exact.empty()) {
        for (size_t k = 0; k < tile.size(); ++k) {
          exact.push_back(tile.integer(k));
        }
      }
      for (size_t k = 0; step && k < length; ++k) {
        exact[i + k * stride] = __int128(tile.integer(i)) + __int128(k) * *step;
      }
    }
    if (!exact.empty()) {
      break;
    }
    stride *= length;
  }
  return exact;
}

static bool holds(arith::CmpIPredicate predicate, __int128 x, __int128 y) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return x < y;
  case arith::CmpIPredicate::sle:
    return x <= y;
  case arith::CmpIPredicate::sgt:
    return x > y;
  default:
    return x >= y;
  }
}

void IndexComparisons::markWrapped(interpreter::Instance &instance, mlir::Operation *op,
                                   Marks &marks) {
  auto compare = mlir::dyn_cast<arith::CmpIOp>(op);
  if (!compare || !mlir::isa<mlir::RankedTensorType>(op->getResult(0).getType())) {
    return;
  }
  const arith::CmpIPredicate predicate = compare.getPredicate();
  const bool isOrder =
      predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle ||
      predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  if (!isOrder || a.type.bits < 32) {
    return; // narrower ones are computed as they wrap
  }
  auto exactOf = [&](const Tile &tile, mlir::Value value) {
    return isIndex(value) ? unwrapped(tile) : std::vector<__int128>();
  };
  const std::vector<__int128> left = exactOf(a, compare.getLhs());
  const std::vector<__int128> right = exactOf(b, compare.getRhs());
  if (left.empty() && right.empty()) {
    return;
  }
  Tile result = instance.get(op->getResult(0));
  std::vector<uint32_t> found(result.size(), 0);
  for (size_t i = 0; i < found.size(); ++i) {
    const __int128 x = left.empty() ? __int128(a.integer(i)) : left[i];
    const __int128 y = right.empty() ? __int128(b.integer(i)) : right[i];
    found[i] =
        holds(predicate, x, y) != (result[i] != 0)
            ? marks.add({Cause::Kind::WrappedIndex, op, a.element(i), b.element(i), a.type.bits})
            : markAt(result, i);
  }
  result.marks = std::make_shared<std::vector<uint32_t>>(std::move(found));
  instance.set(op->getResult(0), std::move(result));
}

} // namespace nereid::check
