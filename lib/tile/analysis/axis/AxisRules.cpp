// SPDX-License-Identifier: Apache-2.0
// Picks the rule of an operation; ranges, which MLIR's own interface knows; hints and arguments.
#include "lib/tile/analysis/axis/AxisRules.h"

#include "lib/tile/ir/KeepsElements.h"
#include "lib/tile/ir/Promises.h"
#include "lib/tile/ir/Tile.h"

#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"

namespace arith = mlir::arith;

namespace nereid::tile {

using llvm::APInt;
using mlir::ConstantIntRanges;

// ---- ranges ----

/// A sum, difference, product or shift that may be taken not to wrap.
static std::optional<ConstantIntRanges> rangeWithoutWrapping(mlir::Operation *op,
                                                             llvm::ArrayRef<ConstantIntRanges> in) {
  const auto flags = mlir::intrange::OverflowFlags::Nsw;
  if (mlir::isa<arith::AddIOp>(op)) {
    return mlir::intrange::inferAdd(in, flags);
  }
  if (mlir::isa<arith::SubIOp>(op)) {
    return mlir::intrange::inferSub(in, flags);
  }
  if (mlir::isa<arith::MulIOp>(op)) {
    return mlir::intrange::inferMul(in, flags);
  }
  if (mlir::isa<arith::ShLIOp>(op) && in[1].umax().ult(in[1].umax().getBitWidth())) {
    return mlir::intrange::inferShl(in, flags);
  }
  return std::nullopt;
}

/// MLIR 19 takes the bounds' own exclusive ors for the bounds: 11 ^ 7 for numbers up to 11 and 7.
static ConstantIntRanges rangeOfExclusiveOr(llvm::ArrayRef<ConstantIntRanges> in) {
  const unsigned width = in[0].umax().getBitWidth();
  const unsigned bits = std::max(in[0].umax().getActiveBits(), in[1].umax().getActiveBits());
  return ConstantIntRanges::fromUnsigned(APInt::getZero(width), APInt::getLowBitsSet(width, bits));
}

/// MLIR 19 knows the width of a scalar alone.
static std::optional<ConstantIntRanges> rangeOfWidened(mlir::Operation *op, unsigned width,
                                                       const ConstantIntRanges &in) {
  if (mlir::isa<arith::ExtSIOp>(op)) {
    return ConstantIntRanges::fromSigned(in.smin().sext(width), in.smax().sext(width));
  }
  if (mlir::isa<arith::ExtUIOp>(op)) {
    return ConstantIntRanges::fromUnsigned(in.umin().zext(width), in.umax().zext(width));
  }
  return std::nullopt;
}

static void inferRanges(const AxisRule &rule, llvm::MutableArrayRef<AxisInfo> results) {
  auto interface = mlir::dyn_cast<mlir::InferIntRangeInterface>(rule.op);
  llvm::SmallVector<ConstantIntRanges> in;
  if (!interface || !llvm::all_of(rule.operands, [](const AxisInfo &a) { return a.range; })) {
    return;
  }
  for (const AxisInfo &operand : rule.operands) {
    in.push_back(*operand.range);
  }
  if (rule.overflow == Overflow::Excluded && results.front().width >= 32) {
    if (std::optional<ConstantIntRanges> range = rangeWithoutWrapping(rule.op, in)) {
      results.front().range = range;
      return;
    }
  }
  if (auto range = rangeOfWidened(rule.op, results.front().width, in.front())) {
    results.front().range = range;
    return;
  }
  if (mlir::isa<arith::XOrIOp>(rule.op)) {
    results.front().range = rangeOfExclusiveOr(in);
    return;
  }
  interface.inferResultRanges(in, [&](mlir::Value value, const ConstantIntRanges &range) {
    AxisInfo &result = results[mlir::cast<mlir::OpResult>(value).getResultNumber()];
    if (result.range && range.smin().getBitWidth() == result.width) {
      result.range = result.range->intersection(range);
    }
  });
}

// ---- element by element ----

int64_t AxisRule::commonConstancy(unsigned dim, llvm::ArrayRef<AxisInfo> of) const {
  int64_t length = 0, size = 1;
  for (const AxisInfo &value : of) {
    if (value.axes.empty()) {
      continue; // a scalar beside tiles
    }
    size = value.axes[dim].size;
    const int64_t own = value.constancy(dim);
    length = length == 0 ? own : commonLength(size, length, own);
  }
  return length == 0 ? size : length;
}

void AxisRule::elementwise(AxisInfo &result) const {
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    result.axes[dim].length = commonConstancy(dim, operands);
    result.axes[dim].stride = 0;
  }
}

static bool isElementwise(mlir::Operation *op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() ||
         mlir::isa<PtrToIntOp, IntToPtrOp, PtrCastOp, AddPtrOp>(op);
}

/// Equal addresses are read alike.
static bool passesConstancy(mlir::Operation *op) {
  auto load = mlir::dyn_cast<LoadOp>(op);
  return isElementwise(op) || (load && !load.getIsVolatile());
}

llvm::SmallVector<AxisInfo, 1> inferAxisInfo(mlir::Operation *op, llvm::ArrayRef<AxisInfo> operands,
                                             Overflow overflow) {
  llvm::SmallVector<AxisInfo, 1> results;
  for (mlir::Type type : op->getResultTypes()) {
    results.emplace_back(type);
  }
  if (op->hasTrait<OpTrait::KeepsElements>()) {
    results.front() = operands.front();
    return results;
  }
  const AxisRule rule{op, operands, overflow};
  inferRanges(rule, results);
  const bool hasRule = inferShape(rule, results.front()) ||
                       (results.size() == 1 && results.front().width != 0 &&
                        (inferSum(rule, results.front()) || inferQuotient(rule, results.front()) ||
                         inferChoice(rule, results.front())));
  if (hasRule) {
    for (AxisInfo &other : llvm::drop_begin(results)) {
      inferShape(rule, other);
    }
  } else if (passesConstancy(op)) {
    llvm::for_each(results, [&](AxisInfo &result) { rule.elementwise(result); });
  }
  if (results.size() == 1) {
    applyHints(op, results.front());
  }
  llvm::for_each(results, [](AxisInfo &result) { result.complete(); });
  return results;
}

// ---- promises ----

static llvm::ArrayRef<int64_t> hintOf(mlir::Operation *op, llvm::StringRef name, size_t rank) {
  auto attribute = op->getAttrOfType<mlir::DenseI64ArrayAttr>(name);
  const bool fits = attribute && static_cast<size_t>(attribute.size()) == std::max<size_t>(rank, 1);
  return fits ? attribute.asArrayRef() : llvm::ArrayRef<int64_t>();
}

/// Runs as long as promised, unless longer ones are known, or runs that count otherwise.
static void promiseRuns(AxisRun &run, int64_t stride, int64_t length) {
  length = std::min(length, run.size);
  const bool contradicts = run.length > 1 && run.stride && *run.stride != stride;
  const bool isLonger = length > run.length && (length % run.length == 0 || length == run.size);
  if (!contradicts && (isLonger || (length == run.length && !run.stride))) {
    run.length = length; // where these begin shorter ones did
    run.stride = stride;
  }
}

void applyHints(mlir::Operation *op, AxisInfo &result) {
  if (op->getDiscardableAttrDictionary().empty() || result.width == 0) {
    return;
  }
  llvm::ArrayRef<int64_t> contiguity = hintOf(op, promise::contiguity, result.axes.size());
  llvm::ArrayRef<int64_t> constancy = hintOf(op, promise::constancy, result.axes.size());
  llvm::ArrayRef<int64_t> divisibility = hintOf(op, promise::divisibility, result.axes.size());
  result.complete();
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    AxisRun &run = result.axes[dim];
    if (!contiguity.empty()) {
      promiseRuns(run, 1, contiguity[dim]);
    }
    if (!constancy.empty()) {
      promiseRuns(run, 0, constancy[dim]);
    }
    if (divisibility.empty() || divisibility[dim] <= 1) {
      continue;
    }
    // The promise is about each element that is not the one before it plus one. Of the elements
    // that begin runs of stride 1 here, some may continue the run before.
    const unsigned twos = twosOf(static_cast<uint64_t>(divisibility[dim]));
    const unsigned step = twosOf(1, result) + twosOf(static_cast<uint64_t>(run.length));
    run.firstTwos = std::max(run.firstTwos, twos);
    if (run.isWhole()) {
      run.startTwos = std::max(run.startTwos, twos);
    } else if (run.stride == 1) {
      run.startTwos = std::max(run.startTwos, std::min(twos, step));
    }
  }
  if (result.axes.empty() && !divisibility.empty() && divisibility[0] > 1) {
    result.twos = std::max(result.twos, twosOf(static_cast<uint64_t>(divisibility[0])));
  }
}

AxisInfo argumentInfo(mlir::BlockArgument argument) {
  AxisInfo info(argument.getType());
  auto function = mlir::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
  auto promise = function && argument.getOwner()->isEntryBlock() && info.width != 0
                     ? function.getArgAttrOfType<mlir::IntegerAttr>(argument.getArgNumber(),
                                                                    promise::divisibility)
                     : mlir::IntegerAttr();
  if (promise && promise.getInt() > 1 && info.axes.empty()) {
    info.twos = twosOf(static_cast<uint64_t>(promise.getInt()));
  }
  info.complete();
  return info;
}

AxisInfo inductionInfo(mlir::Type type, const AxisInfo &low, const AxisInfo &high,
                       const AxisInfo &step) {
  AxisInfo info(type);
  info.twos = std::min(low.twos, step.twos);
  const APInt &smallest = low.range->smin(), &end = high.range->smax();
  if (smallest.slt(end)) {
    info.range = ConstantIntRanges::fromSigned(smallest, end - 1);
  }
  info.complete();
  return info;
}

} // namespace nereid::tile
