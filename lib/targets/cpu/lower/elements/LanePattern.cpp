// SPDX-License-Identifier: Apache-2.0
// Finds patterns of lanes in the program's text, and loads them.
#include "lib/targets/cpu/lower/elements/LanePattern.h"

#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/plan/NarrowIntegers.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::cpu {

int64_t LanePattern::span() const { return *llvm::max_element(offsets) + 1; }

bool LanePattern::readsEachOnce() const {
  llvm::SmallDenseSet<int64_t, 16> seen(offsets.begin(), offsets.end());
  return seen.size() == offsets.size();
}

static bool isShape(Operation *op) {
  return isa<tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp, tile::TransOp>(op) ||
         (isa<tile::ReshapeOp>(op) && isTrivialReshape(op));
}

static std::optional<int64_t> constantOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isShape(op)) {
      break;
    }
    value = op->getOperand(0);
  }
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    return number.getSExtValue();
  }
  return std::nullopt;
}

namespace {
/// Offsets of the elements 0 to `width` from element 0.
class PatternFinder {
public:
  using Offsets = SmallVector<int64_t, 17>;
  PatternFinder(const KernelState &kernel, unsigned width) : kernel(kernel), width(width) {}

  std::optional<Offsets> find(Value value, const Dims &dims) {
    const auto *at = llvm::find(dims, laneMark);
    if (!isTile(value) || at == dims.end()) {
      return Offsets(width + 1, 0);
    }
    Axis axis =
        kernel.axes.axis(value, static_cast<unsigned>(at - dims.begin()), AxisView::Address);
    if (axis.kind == AxisKind::Uniform) {
      return Offsets(width + 1, 0);
    }
    if (mayWrap(value)) {
      return std::nullopt; // anywhere
    }
    if (axis.kind == AxisKind::Linear) {
      return axis.stride ? std::optional(combine([&](int64_t i) { return i * *axis.stride; }))
                         : std::nullopt;
    }
    Operation *op = value.getDefiningOp();
    if (!op) {
      return std::nullopt;
    }
    if (isShape(op) || isa<arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp>(op)) {
      return find(op->getOperand(0), mapDims(op, op->getOperand(0), dims));
    }
    if (isa<arith::AddIOp, arith::SubIOp, tile::AddPtrOp>(op)) {
      auto x = find(op->getOperand(0), dims), y = find(op->getOperand(1), dims);
      if (!x || !y) {
        return std::nullopt;
      }
      const int64_t sign = isa<arith::SubIOp>(op) ? -1 : 1;
      return combine([&](int64_t i) { return (*x)[i] + sign * (*y)[i]; });
    }
    auto factor = op->getNumOperands() == 2 ? constantOf(op->getOperand(1)) : std::nullopt;
    if (!factor) {
      return std::nullopt;
    }
    if (isa<arith::MulIOp>(op)) {
      auto x = find(op->getOperand(0), dims);
      return x ? std::optional(combine([&](int64_t i) { return (*x)[i] * *factor; }))
               : std::nullopt;
    }
    bool divides = isa<arith::DivSIOp, arith::DivUIOp>(op);
    if (divides || isa<arith::RemSIOp, arith::RemUIOp>(op)) {
      return division(op->getOperand(0), dims, *factor, divides);
    }
    return std::nullopt;
  }

  static constexpr int8_t laneMark = 0;

private:
  template <typename Function> Offsets combine(Function &&offset) const {
    Offsets result;
    for (int64_t i = 0; i <= static_cast<int64_t>(width); ++i) {
      result.push_back(offset(i));
    }
    return result;
  }

  /// Vectors start at multiples of the divisor, so that all have the same quotients.
  std::optional<Offsets> division(Value value, const Dims &dims, int64_t divisor, bool divides) {
    auto x = find(value, dims);
    bool isRegular = x && divisor > 0 && llvm::isPowerOf2_64(static_cast<uint64_t>(divisor)) &&
                     (*x)[width] % divisor == 0 &&
                     llvm::all_of(*x, [](int64_t offset) { return offset >= 0; });
    if (!isRegular) {
      return std::nullopt;
    }
    const tile::AxisInfo info = kernel.numbers().of(value);
    const auto lane = llvm::find(dims, laneMark) - dims.begin();
    if (!info.isNonNegative() || info.firstMultiple(static_cast<unsigned>(lane)) % divisor != 0) {
      return std::nullopt;
    }
    // A remainder does not grow from vector to vector.
    return combine([&](int64_t i) { return divides ? (*x)[i] / divisor : (*x)[i] % divisor; });
  }

  const KernelState &kernel;
  unsigned width;
};
} // namespace

std::optional<LanePattern> lanePatternOf(const KernelState &kernel, Value pointer, unsigned lane,
                                         unsigned width) {
  Dims dims(shapeOf(pointer).size(), zeroDim);
  dims[lane] = PatternFinder::laneMark;
  auto offsets = PatternFinder(kernel, width).find(pointer, dims);
  if (!offsets) {
    return std::nullopt;
  }
  LanePattern pattern;
  pattern.period = offsets->pop_back_val();
  pattern.offsets.assign(offsets->begin(), offsets->end());
  bool isNear = llvm::all_of(
      pattern.offsets, [&](int64_t o) { return o >= 0 && o < 2 * static_cast<int64_t>(width); });
  return isNear ? std::optional(pattern) : std::nullopt;
}

std::optional<LanePattern> lanePatternOf(const Evaluator &evaluator, tile::LoadOp op,
                                         const Dims &dims, const LaneMask &mask) {
  const KernelState &kernel = evaluator.kernel;
  const unsigned width = evaluator.width;
  int64_t bytes = KernelState::byteSize(elementTypeOf(op.getResult()));
  Dims own = kernel.axes.normalise(op.getPointer(), dims);
  if (!kernel.machine.hasMaskedMoves || op.getIsVolatile() ||
      bytes * width > kernel.machine.vectorBytes) {
    return std::nullopt;
  }
  auto pattern = lanePatternOf(kernel, op.getPointer(),
                               static_cast<unsigned>(evaluator.lanePosition(own)), width);
  if (pattern && mask.kind == LaneMask::Kind::Vector && !pattern->readsEachOnce() &&
      !evaluator.masksLastLanes(op.getMask(), dims)) {
    pattern.reset(); // the first lane of an element does not speak for the others
  }
  tally(Recogniser::LanePattern, pattern.has_value());
  return pattern;
}

Value loadPattern(Evaluator &evaluator, tile::LoadOp op, const LanePattern &pattern,
                  const Dims &dims, unsigned copy, OpBuilder &builder, const LaneMask &mask,
                  Type memory) {
  KernelState &kernel = evaluator.kernel;
  const unsigned width = evaluator.width;
  Location loc = op.getLoc();
  Value pointer = op.getPointer();
  const int64_t lanes = width;
  Dims first(dims);
  first[evaluator.lanePosition(dims)] = zeroDim;
  Value vectors =
      builder.createOrFold<arith::DivUIOp>(loc, evaluator.laneBase[copy], kernel.i64(lanes));
  Value index = pattern.period % lanes == 0
                    ? builder.createOrFold<arith::MulIOp>(loc, evaluator.laneBase[copy],
                                                          kernel.i64(pattern.period / lanes))
                    : builder.createOrFold<arith::MulIOp>(loc, vectors, kernel.i64(pattern.period));
  Value start = evaluator.evaluate(pointer, first, copy);
  auto vectorType = cast<VectorType>(lanesOf(memory, width));
  Type bits = lanesOf(builder.getI1Type(), width);
  SmallVector<Value, 2> parts;
  for (int64_t part = 0; part * lanes < pattern.span(); ++part) {
    // Only what some lane reads may be touched.
    SmallVector<bool> isRead(width, false);
    SmallVector<int64_t> reader(width, lanes);
    for (auto [lane, offset] : llvm::enumerate(pattern.offsets)) {
      if (offset / lanes == part) {
        isRead[offset % lanes] = true;
        int64_t &known = reader[offset % lanes];
        known = std::min(known, static_cast<int64_t>(lane));
      }
    }
    Value wanted = kernel.constant(DenseElementsAttr::get(cast<VectorType>(bits), isRead));
    if (mask.kind == LaneMask::Kind::Scalar) {
      wanted = builder.create<arith::AndIOp>(
          loc, wanted, evaluator.broadcast(builder, mask.value, builder.getI1Type()));
    } else if (mask.kind == LaneMask::Kind::Vector) {
      wanted =
          builder.create<vector::ShuffleOp>(loc, mask.value, kernel.constantInt(bits, 0), reader);
    }
    Value from =
        builder.create<LLVM::GEPOp>(loc, start.getType(), memory, start, ValueRange{index});
    from = builder.create<LLVM::GEPOp>(loc, start.getType(), memory, from,
                                       ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(part * lanes)});
    from = evaluator.readableAddress(op, dims, from, builder);
    parts.push_back(builder.create<LLVM::MaskedLoadOp>(
        loc, vectorType, from, wanted, ValueRange{kernel.zero(vectorType)},
        static_cast<unsigned>(KernelState::byteSize(memory))));
  }
  return builder.create<vector::ShuffleOp>(loc, parts.front(), parts.back(), pattern.offsets);
}

} // namespace nereid::cpu
