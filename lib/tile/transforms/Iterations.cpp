// SPDX-License-Identifier: Apache-2.0
#include "lib/tile/transforms/Iterations.h"

#include "lib/tile/analysis/BlockingLoops.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

#include <cstdlib>

using namespace mlir;

namespace nereid::tile {
namespace {

const void *counted(size_t number) { return reinterpret_cast<const void *>(number); }

/// Up to here every integer is a float, in single precision too.
constexpr int64_t exactFloats = 1 << 24;

/// The number of a constant that is an integer, of a type that a counter can be converted to.
std::optional<int64_t> integerOf(Operation &op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant) {
    return std::nullopt;
  }
  Type element = getElementTypeOrSelf(constant.getType());
  llvm::APInt number;
  if (isa<IntegerType>(element) && matchPattern(&op, m_ConstantInt(&number))) {
    bool fits = number.getBitWidth() > 1 && number.getBitWidth() <= 64;
    return fits ? std::optional(number.getSExtValue()) : std::nullopt;
  }
  llvm::APFloat real(0.0);
  if ((element.isF32() || element.isF64()) && matchPattern(&op, m_ConstantFloat(&real))) {
    bool isExact = false;
    llvm::APSInt rounded(32, /*isUnsigned=*/false);
    real.convertToInteger(rounded, llvm::APFloat::rmTowardZero, &isExact); // -0.0 is not exact
    bool fits = isExact && std::abs(rounded.getSExtValue()) <= exactFloats;
    return fits ? std::optional(rounded.getSExtValue()) : std::nullopt;
  }
  return std::nullopt;
}

} // namespace

Iteration::Iteration(SmallVector<Operation *> all, const Iteration *previous)
    : ops(std::move(all)) {
  for (Operation *op : ops) {
    add(*op, previous);
  }
}

void Iteration::define(Value value) {
  numbers[value] = values.size();
  values.push_back(value);
  shape.push_back(value.getType().getAsOpaquePointer());
}

void Iteration::add(Operation &op, const Iteration *previous) {
  shape.push_back(op.getName().getAsOpaquePointer());
  shape.push_back(counted(op.getNumOperands()));
  for (OpOperand &operand : op.getOpOperands()) {
    Value value = operand.get();
    shape.push_back(value.getType().getAsOpaquePointer());
    auto own = numbers.find(value);
    if (own != numbers.end()) {
      uses.push_back({Use::Inside, own->second, {}, &operand});
      continue;
    }
    bool isPrevious = previous && previous->numbers.contains(value);
    uses.push_back(isPrevious ? Use{Use::Previous, previous->numbers.at(value), {}, &operand}
                              : Use{Use::Before, 0, value, &operand});
  }
  if (std::optional<int64_t> number = integerOf(op)) {
    constants.push_back({&op, *number});
  } else {
    shape.push_back(op.getAttrDictionary().getAsOpaquePointer());
  }
  shape.push_back(counted(op.getNumSuccessors()));
  shape.push_back(counted(op.getNumResults()));
  for (Value result : op.getResults()) {
    define(result);
  }
  shape.push_back(counted(op.getNumRegions()));
  for (Region &region : op.getRegions()) {
    shape.push_back(counted(region.getBlocks().size()));
    for (Block &block : region) {
      shape.push_back(counted(block.getNumArguments()));
      for (Value argument : block.getArguments()) {
        define(argument);
      }
      shape.push_back(counted(block.getOperations().size()));
      for (Operation &inner : block) {
        add(inner, previous);
      }
    }
  }
}

bool Iteration::doesTheSameAs(const Iteration &other) const {
  return shape == other.shape && uses.size() == other.uses.size() &&
         constants.size() == other.constants.size() &&
         llvm::all_of(llvm::zip(uses, other.uses), [](const auto &pair) {
           const auto &[a, b] = pair;
           bool isInside = a.kind == Use::Inside;
           return isInside == (b.kind == Use::Inside) && (!isInside || a.number == b.number);
         });
}

bool Iteration::takesTheSameAs(const Iteration &other) const {
  return llvm::all_of(llvm::zip(uses, other.uses), [](const auto &pair) {
    const auto &[a, b] = pair;
    return a.kind == b.kind && a.number == b.number && a.before == b.before;
  });
}

bool Iteration::isFedAs(const Iteration &first) const {
  return llvm::all_of(llvm::zip(uses, first.uses), [](const auto &pair) {
    const auto &[use, start] = pair;
    return use.kind != Use::Before || use.before == start.operand->get();
  });
}

bool Iteration::continuesConstants(const Iteration &first, const Iteration &second,
                                   int64_t distance) const {
  for (size_t i = 0; i < constants.size(); ++i) {
    int64_t start = first.constants[i].value, step, offset, expected;
    if (llvm::SubOverflow(second.constants[i].value, start, step) ||
        llvm::MulOverflow(step, distance, offset) || llvm::AddOverflow(start, offset, expected) ||
        expected != constants[i].value) {
      return false;
    }
  }
  return true;
}

bool Iteration::polls() const {
  return llvm::any_of(ops, [](Operation *op) { return tile::polls(op); });
}

} // namespace nereid::tile
