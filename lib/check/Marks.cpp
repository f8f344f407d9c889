// SPDX-License-Identifier: Apache-2.0
// How marks travel: elementwise operations unite those of their operands unless another operand
// decides the result alone (a select, false & x, 0 * x); operations that move elements move marks;
// a reduction unites its axis, a matrix product what it sums. Everything else (scans, atomics)
// drops them: a mark may be lost, but none is invented.
#include "lib/check/Marks.h"

#include <algorithm>

namespace arith = mlir::arith;

namespace nereid::check {

using interpreter::ElementType;
using interpreter::Instance;
using interpreter::Kind;
using interpreter::Tile;

static constexpr size_t mostCauses = size_t(1) << 21;

uint32_t Marks::add(const Cause &cause) {
  uint32_t &mark = latest[cause.op];
  const bool isOnePerOperation = cause.kind == Cause::Kind::MaskedOff;
  if (mark == 0 || (!isOnePerOperation && causes.size() < mostCauses)) {
    causes.push_back(cause);
    mark = static_cast<uint32_t>(causes.size());
  }
  return mark;
}

/// Sets the marks of a result that exists already, unless there are none.
static void setMarks(Instance &instance, mlir::Value value, std::vector<uint32_t> marks) {
  if (std::any_of(marks.begin(), marks.end(), [](uint32_t mark) { return mark != 0; })) {
    Tile result = instance.get(value);
    result.marks = std::make_shared<std::vector<uint32_t>>(std::move(marks));
    instance.set(value, std::move(result));
  }
}

/// True when an operand without mark decides the element alone.
static bool isDecided(mlir::Operation *op, const Tile &a, const Tile &b, size_t i) {
  auto isKnown = [&](const Tile &tile, uint64_t word) {
    return markAt(tile, i) == 0 && tile.element(i) == word;
  };
  if (mlir::isa<arith::AndIOp, arith::MulIOp>(op)) {
    return isKnown(a, 0) || isKnown(b, 0);
  }
  return mlir::isa<arith::OrIOp>(op) && (isKnown(a, a.type.mask()) || isKnown(b, b.type.mask()));
}

void Marks::carryElementwise(Instance &instance, mlir::Operation *op) const {
  llvm::SmallVector<const Tile *, 3> operands;
  for (mlir::Value operand : op->getOperands()) {
    operands.push_back(&instance.get(operand));
  }
  const bool isSelect = mlir::isa<arith::SelectOp>(op);
  const size_t count = instance.get(op->getResult(0)).size();
  std::vector<uint32_t> marks(count, 0);
  for (size_t i = 0; i < count; ++i) {
    uint32_t mark = markAt(*operands[0], i);
    if (isSelect && mark == 0) {
      mark = markAt(operands[0]->element(i) != 0 ? *operands[1] : *operands[2], i);
    } else if (!isSelect && operands.size() == 2 && isDecided(op, *operands[0], *operands[1], i)) {
      mark = 0;
    } else if (!isSelect) {
      for (size_t k = 1; mark == 0 && k < operands.size(); ++k) {
        mark = markAt(*operands[k], i);
      }
    }
    marks[i] = mark;
  }
  for (mlir::Value result : op->getResults()) {
    setMarks(instance, result, marks);
  }
}

/// The operation once more, on marks in place of elements.
void Marks::carryMoved(Instance &instance, mlir::Operation *op) const {
  const unsigned moved = mlir::isa<tile::GatherOp>(op) ? 1 : op->getNumOperands();
  llvm::SmallVector<Tile, 2> operands, results;
  for (unsigned k = 0; k < moved; ++k) {
    operands.push_back(instance.operand(op, k));
    Tile marks = operands[k].like({Kind::Integer, 32});
    for (size_t i = 0; i < marks.size(); ++i) {
      marks.at(i) = markAt(operands[k], i);
    }
    instance.set(op->getOperand(k), std::move(marks));
  }
  for (mlir::Value result : op->getResults()) {
    results.push_back(instance.get(result));
  }
  interpreter::handlers().find(op)(instance, op);
  for (auto [result, tile] : llvm::zip(op->getResults(), results)) {
    const Tile &moved = instance.get(result);
    std::vector<uint32_t> marks(moved.size(), 0);
    for (size_t i = 0; i < marks.size(); ++i) {
      // An element that came from nowhere (gather beyond the source) is not in the table.
      marks[i] = moved[i] <= causes.size() ? static_cast<uint32_t>(moved[i]) : 0;
    }
    tile.marks = nullptr;
    instance.set(result, std::move(tile));
    setMarks(instance, result, std::move(marks));
  }
  for (unsigned k = 0; k < moved; ++k) {
    instance.set(op->getOperand(k), std::move(operands[k]));
  }
}

void Marks::carryReduced(Instance &instance, tile::ReduceOp op) const {
  const Tile &shaped = instance.get(op.getSources().front());
  size_t inner = 1;
  for (size_t axis = op.getAxis() + 1; axis < shaped.shape.size(); ++axis) {
    inner *= static_cast<size_t>(shaped.shape[axis]);
  }
  const auto length = static_cast<size_t>(shaped.shape[op.getAxis()]);
  std::vector<uint32_t> marks(shaped.size() / length, 0);
  for (mlir::Value source : op.getSources()) {
    const Tile &tile = instance.get(source);
    for (size_t i = 0; tile.marks && i < tile.size(); ++i) {
      uint32_t &mark = marks[i / (length * inner) * inner + i % inner];
      mark = mark != 0 ? mark : markAt(tile, i);
    }
  }
  for (mlir::Value result : op.getResults()) {
    setMarks(instance, result, marks);
  }
}

/// 0 in the place of each element with a mark.
static Tile withoutMarked(const Tile &tile) {
  Tile clean = tile;
  clean.marks = nullptr;
  for (size_t i = 0; i < clean.size(); ++i) {
    if (markAt(tile, i) != 0) {
      clean.at(i) = 0;
    }
  }
  return clean;
}

/// An element of a factor reaches the sums it is part of, unless its partner is a 0 without mark.
/// Then it adds nothing, though it may hold a NaN: the product is made once more without it.
void Marks::carryProduct(Instance &instance, tile::DotOp op) const {
  const Tile &a = instance.get(op.getA()), &b = instance.get(op.getB()),
             &c = instance.get(op.getC());
  const size_t rank = c.shape.size();
  const auto m = static_cast<size_t>(c.shape[rank - 2]), n = static_cast<size_t>(c.shape[rank - 1]);
  const auto depth = static_cast<size_t>(a.shape[rank - 1]);
  auto isZero = [](const Tile &tile, size_t i) {
    const uint64_t sign = tile.type.isFloat() ? tile.type.signBit() : 0;
    return markAt(tile, i) == 0 && (tile[i] & ~sign) == 0;
  };
  std::vector<uint32_t> marks(c.size(), 0);
  for (size_t i = 0; i < c.size(); ++i) {
    const size_t batch = i / (m * n), row = i / n % m, column = i % n;
    uint32_t mark = markAt(c, i);
    for (size_t k = 0; mark == 0 && k < depth; ++k) {
      const size_t left = (batch * m + row) * depth + k, right = (batch * depth + k) * n + column;
      if (!isZero(a, left) && !isZero(b, right)) {
        mark = markAt(a, left) != 0 ? markAt(a, left) : markAt(b, right);
      }
    }
    marks[i] = mark;
  }
  const Tile left = a, right = b; // as they were: the next lines set the operands
  instance.set(op.getA(), withoutMarked(left));
  instance.set(op.getB(), withoutMarked(right));
  interpreter::handlers().find(op)(instance, op);
  instance.set(op.getA(), left);
  instance.set(op.getB(), right);
  setMarks(instance, op.getResult(), std::move(marks));
}

void Marks::carry(Instance &instance, mlir::Operation *op) const {
  if (op->getNumResults() == 0 || llvm::none_of(op->getOperands(), [&](mlir::Value operand) {
        return instance.get(operand).marks != nullptr;
      })) {
    return;
  }
  if (auto reduce = mlir::dyn_cast<tile::ReduceOp>(op)) {
    carryReduced(instance, reduce);
  } else if (auto product = mlir::dyn_cast<tile::DotOp>(op)) {
    carryProduct(instance, product);
  } else if (mlir::isa<tile::SplatOp, tile::UnsplatOp, tile::ExpandDimsOp, tile::BroadcastOp,
                       tile::ReshapeOp, tile::TransOp, tile::JoinOp, tile::SplitOp, tile::GatherOp>(
                 op)) {
    carryMoved(instance, op);
  } else if (op->hasTrait<mlir::OpTrait::Elementwise>() ||
             mlir::isa<tile::AddPtrOp, tile::PtrToIntOp, tile::IntToPtrOp, tile::PtrCastOp>(op)) {
    carryElementwise(instance, op);
  }
}

} // namespace nereid::check
