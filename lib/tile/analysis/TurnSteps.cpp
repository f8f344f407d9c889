// SPDX-License-Identifier: Apache-2.0
#include "lib/tile/analysis/TurnSteps.h"

#include "lib/tile/analysis/Inductions.h"
#include "lib/tile/ir/Constants.h"

using namespace mlir;

namespace nereid::tile {
namespace {

constexpr int deepest = 16;

/// What grows no faster than the loop's own number does not come back to where it was by wrapping
/// around, as that number does not.
class Steps {
public:
  explicit Steps(scf::ForOp loop) : loop(loop) {
    const auto first = constantOf(loop.getLowerBound()), step = constantOf(loop.getStep());
    if (first && step && *first >= 0 && *step > 0) {
      ofNumber = *step;
    }
  }

  std::optional<int64_t> of(Value value, int depth = 0) {
    if (ofNumber == 0 || depth > deepest) {
      return std::nullopt;
    }
    auto [known, isNew] = all.try_emplace(value, std::nullopt);
    if (!isNew) {
      return known->second;
    }
    const std::optional<int64_t> found = find(value, depth);
    return all[value] = found;
  }

private:
  std::optional<int64_t> find(Value value, int depth) {
    if (loop.isDefinedOutsideOfLoop(value)) {
      return 0;
    }
    Operation *op = value.getDefiningOp();
    if (!op) {
      return ofArgument(cast<BlockArgument>(value));
    }
    auto sum = [&](Value a, Value b, int64_t sign) -> std::optional<int64_t> {
      const auto left = of(a, depth + 1), right = of(b, depth + 1);
      const int64_t both = left && right ? *left + sign * *right : 0;
      return left && right && std::abs(both) <= ofNumber ? std::optional(both) : std::nullopt;
    };
    if (isa<arith::AddIOp, AddPtrOp>(op)) {
      return sum(op->getOperand(0), op->getOperand(1), 1);
    }
    if (isa<arith::SubIOp>(op)) {
      return sum(op->getOperand(0), op->getOperand(1), -1);
    }
    if (isa<SplatOp, BroadcastOp, ExpandDimsOp, arith::ExtSIOp>(op)) {
      return of(op->getOperand(0), depth + 1);
    }
    // What is made of the same numbers in every turn, wherever it stands.
    const bool isSame =
        op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
        llvm::all_of(op->getOperands(), [&](Value operand) { return of(operand, depth + 1) == 0; });
    return isSame ? std::optional<int64_t>(0) : std::nullopt;
  }

  std::optional<int64_t> ofArgument(BlockArgument argument) {
    if (argument.getOwner() != loop.getBody()) {
      return std::nullopt;
    }
    if (argument == loop.getInductionVar()) {
      return ofNumber;
    }
    const Value added = addedPerRound(argument);
    const auto step = added ? constantOf(added) : std::nullopt;
    return step && std::abs(*step) <= ofNumber ? step : std::nullopt;
  }

  scf::ForOp loop;
  llvm::DenseMap<Value, std::optional<int64_t>> all;
  int64_t ofNumber = 0; ///< of the loop's own number; 0: not known
};

} // namespace

std::optional<int64_t> addedPerTurn(Value value, scf::ForOp loop) { return Steps(loop).of(value); }

} // namespace nereid::tile
