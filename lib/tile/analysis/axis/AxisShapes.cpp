// SPDX-License-Identifier: Apache-2.0
// Operations that make elements or move them without computing.
#include "lib/tile/analysis/axis/AxisRules.h"

#include "lib/tile/ir/Tile.h"

#include <numeric>

namespace nereid::tile {

using llvm::APInt;
using mlir::ConstantIntRanges;

/// Elements that all are the one element of `source` along the dimension.
static AxisRun repeated(const AxisInfo &source, int64_t size) {
  return {size, size, 0, source.twos, source.twos};
}

// ---- constants and counts ----

/// Numbers that are written out: either one step all along a dimension, or nothing about it.
static void listed(mlir::DenseIntElementsAttr numbers, AxisInfo &result) {
  llvm::SmallVector<APInt> elements(numbers.getValues<APInt>());
  ConstantIntRanges range = ConstantIntRanges::constant(elements.front());
  result.twos = result.width;
  for (const APInt &element : elements) {
    range = range.rangeUnion(ConstantIntRanges::constant(element));
    result.twos = std::min(result.twos, twosOf(element));
  }
  result.range = range;
  size_t inner = elements.size();
  for (AxisRun &run : result.axes) {
    const size_t outer = inner;
    inner /= static_cast<size_t>(run.size);
    if (run.size == 1) {
      continue;
    }
    const APInt step = elements[inner] - elements[0];
    run.firstTwos = result.width;
    bool isLinear = true;
    for (size_t i = 0; i < elements.size(); ++i) {
      const bool isFirst = i % outer < inner;
      isLinear &= isFirst || elements[i] - elements[i - inner] == step;
      run.firstTwos = std::min(run.firstTwos, isFirst ? twosOf(elements[i]) : result.width);
    }
    if (isLinear) {
      run.length = run.size;
      run.stride = step.getSExtValue();
      run.startTwos = run.firstTwos;
    }
  }
}

static void constant(mlir::arith::ConstantOp op, AxisInfo &result) {
  mlir::Attribute value = op.getValue();
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(value); integer && result.range) {
    result.range = ConstantIntRanges::constant(integer.getValue());
  }
  auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(value);
  if (dense && dense.isSplat()) {
    for (AxisRun &run : result.axes) {
      run = repeated(result, run.size);
    }
  }
  auto integers = mlir::dyn_cast<mlir::DenseIntElementsAttr>(value);
  if (integers && result.range) {
    if (dense.isSplat()) {
      result.range = ConstantIntRanges::constant(dense.getSplatValue<APInt>());
    } else {
      listed(integers, result);
    }
  }
}

static ConstantIntRanges between(uint64_t low, uint64_t high) {
  return ConstantIntRanges::fromUnsigned(APInt(32, low), APInt(32, high));
}

static void makeRange(MakeRangeOp op, AxisInfo &result) {
  const auto start = static_cast<int32_t>(op.getStart()), end = static_cast<int32_t>(op.getEnd());
  if (start < end) {
    result.range = ConstantIntRanges::fromSigned(APInt(32, start, true), APInt(32, end - 1, true));
  }
  const unsigned twos = twosOf(static_cast<uint64_t>(start));
  const int64_t size = result.axes[0].size;
  result.axes[0] = {size, size, 1, twos, twos};
}

// ---- moving elements ----

static int64_t scaled(int64_t stride, int64_t steps, const AxisInfo &value) {
  return wrapped(static_cast<int64_t>(static_cast<uint64_t>(stride) * static_cast<uint64_t>(steps)),
                 value.width);
}

/// From one dimension of the source to several: outer ones step over whole inner ones.
static void splitDimension(const AxisInfo &source, unsigned from, llvm::ArrayRef<unsigned> to,
                           AxisInfo &result) {
  const AxisRun &run = source.axes[from];
  int64_t inner = 1;
  for (unsigned dim : llvm::reverse(to)) {
    AxisRun &own = result.axes[dim];
    if (inner == 1) {
      own.length = run.isWhole() ? own.size : std::gcd(run.length, own.size);
      const AxisRun shorter = shortened(source, from, own.length);
      own.stride = shorter.stride;
      own.startTwos = own.firstTwos = shorter.startTwos;
    } else if (run.length % inner == 0 && run.length > inner) {
      own.length = std::gcd(run.length / inner, own.size);
      own.stride = run.stride ? std::optional(scaled(*run.stride, inner, source)) : std::nullopt;
      own.startTwos = own.firstTwos = source.twos;
    }
    inner *= own.size;
  }
}

/// From several dimensions to one: rows that go on where the row before ended make a longer run.
static void mergeDimensions(const AxisInfo &source, llvm::ArrayRef<unsigned> from, unsigned to,
                            AxisInfo &result) {
  AxisRun &own = result.axes[to];
  const AxisRun &innermost = source.axes[from.back()];
  own.length = std::gcd(innermost.length, innermost.size);
  const AxisRun shorter = shortened(source, from.back(), own.length);
  own.stride = shorter.stride;
  own.startTwos = shorter.startTwos;
  own.firstTwos = 0;
  for (unsigned dim : from) {
    own.firstTwos = std::max(own.firstTwos, source.axes[dim].firstTwos);
  }
  int64_t inner = innermost.size;
  for (unsigned dim : llvm::reverse(from.drop_back())) {
    const AxisRun &run = source.axes[dim];
    const bool goesOn = own.length == inner && own.stride && run.stride && run.length > 1 &&
                        run.size % run.length == 0 &&
                        scaled(*own.stride, inner, source) == *run.stride;
    if (!goesOn) {
      break;
    }
    own.length = inner * run.length;
    own.startTwos = std::max(own.startTwos, run.startTwos);
    inner *= run.size;
  }
}

static llvm::SmallVector<unsigned> longDimensions(const AxisInfo &info) {
  llvm::SmallVector<unsigned> dims;
  for (unsigned dim = 0; dim < info.axes.size(); ++dim) {
    if (info.axes[dim].size != 1) {
      dims.push_back(dim);
    }
  }
  return dims;
}

static void reshape(const AxisInfo &source, AxisInfo &result) {
  result.twos = source.twos;
  bool isUniform = true;
  for (unsigned dim = 0; dim < source.axes.size(); ++dim) {
    isUniform &= source.isUniform(dim);
  }
  for (AxisRun &run : result.axes) {
    run =
        isUniform ? repeated(source, run.size) : AxisRun{run.size, 1, 0, source.twos, source.twos};
  }
  // Groups of dimensions on both sides that hold the same elements.
  llvm::SmallVector<unsigned> from = longDimensions(source), to = longDimensions(result);
  for (size_t i = 0, j = 0; i < from.size() && j < to.size() && !isUniform;) {
    const size_t firstFrom = i, firstTo = j;
    int64_t left = source.axes[from[i++]].size, right = result.axes[to[j++]].size;
    while (left != right) {
      (left < right ? left : right) *=
          left < right ? source.axes[from[i++]].size : result.axes[to[j++]].size;
    }
    llvm::ArrayRef<unsigned> lefts = llvm::ArrayRef(from).slice(firstFrom, i - firstFrom);
    llvm::ArrayRef<unsigned> rights = llvm::ArrayRef(to).slice(firstTo, j - firstTo);
    if (lefts.size() == 1 && rights.size() == 1) {
      result.axes[rights[0]] = source.axes[lefts[0]];
    } else if (lefts.size() == 1) {
      splitDimension(source, lefts[0], rights, result);
    } else if (rights.size() == 1) {
      mergeDimensions(source, lefts, rights[0], result);
    }
  }
}

static void join(const AxisInfo &left, const AxisInfo &right, AxisInfo &result) {
  AxisInfo both = left;
  both.join(right);
  both.axes.push_back({.size = 2, .startTwos = both.twos, .firstTwos = left.twos});
  result.axes = both.axes;
  result.twos = both.twos;
  result.range = both.range;
}

static void gather(GatherOp op, const AxisInfo &source, const AxisInfo &index, AxisInfo &result) {
  result.twos = source.twos;
  result.range = source.range;
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    AxisRun &run = result.axes[dim];
    const int64_t same = dim == op.getAxis() ? run.size : source.constancy(dim);
    run.length = commonLength(run.size, index.constancy(dim), same);
  }
}

static bool makesElements(mlir::Operation *op, AxisInfo &result) {
  if (auto value = mlir::dyn_cast<mlir::arith::ConstantOp>(op)) {
    constant(value, result);
  } else if (mlir::isa<ProgramIdOp>(op)) {
    result.range = between(0, INT32_MAX - 1);
  } else if (mlir::isa<NumProgramsOp>(op)) {
    result.range = between(1, INT32_MAX);
  } else if (auto range = mlir::dyn_cast<MakeRangeOp>(op)) {
    makeRange(range, result);
  } else {
    return false;
  }
  return true;
}

/// The elements of one operand, in other places.
static bool movesElements(mlir::Operation *op, const AxisInfo &source, AxisInfo &result) {
  if (mlir::isa<SplatOp>(op)) {
    for (AxisRun &run : result.axes) {
      run = repeated(source, run.size);
    }
  } else if (auto expand = mlir::dyn_cast<ExpandDimsOp>(op)) {
    result.axes = source.axes;
    result.axes.insert(result.axes.begin() + expand.getAxis(), repeated(source, 1));
  } else if (mlir::isa<BroadcastOp>(op)) {
    for (auto [run, from] : llvm::zip(result.axes, source.axes)) {
      run = from.size == run.size ? from : repeated(source, run.size);
    }
  } else if (auto transpose = mlir::dyn_cast<TransOp>(op)) {
    for (auto [dim, from] : llvm::enumerate(transpose.getOrder())) {
      result.axes[dim] = source.axes[from];
    }
  } else if (mlir::isa<ReshapeOp>(op)) {
    reshape(source, result);
  } else if (mlir::isa<SplitOp>(op)) {
    result.axes.assign(source.axes.begin(), std::prev(source.axes.end()));
  } else if (!mlir::isa<UnsplatOp>(op)) {
    return false;
  }
  result.twos = source.twos;
  result.range = source.range;
  return true;
}

bool inferShape(const AxisRule &rule, AxisInfo &result) {
  if (mlir::isa<JoinOp>(rule.op)) {
    join(rule.operand(0), rule.operand(1), result);
    return true;
  }
  if (auto pick = mlir::dyn_cast<GatherOp>(rule.op)) {
    gather(pick, rule.operand(0), rule.operand(1), result);
    return true;
  }
  return makesElements(rule.op, result) ||
         (rule.operands.size() == 1 && movesElements(rule.op, rule.operand(0), result));
}

} // namespace nereid::tile
