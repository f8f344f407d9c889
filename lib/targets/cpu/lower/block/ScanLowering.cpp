// SPDX-License-Identifier: Apache-2.0
// Scans read their sources from scratch and write their results there. Along any axis but the last
// the lanes are neighbouring lines, combined step by step. Along the last axis a vector is scanned
// in log2(width) steps: in step d each lane takes in what stands d lanes before it, then all take
// in what the vectors before hold.
#include "lib/targets/cpu/lower/block/Operations.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

namespace {
class ScanKernel {
public:
  using Lanes = SmallVector<Value>; // one per source

  ScanKernel(KernelState &kernel, tile::ScanOp op, ArrayRef<int> sources, ArrayRef<int> results)
      : kernel(kernel), op(op), loc(op.getLoc()), combiner(op), evaluator(kernel), sources(sources),
        results(results), reverse(op.getReverse()) {
    ArrayRef<int64_t> shape = shapeOf(op.getSources()[0]);
    int64_t widest = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      (d < op.getAxis() ? outer : d == op.getAxis() ? length : inner) *= shape[d];
    }
    for (int source : sources) {
      widest = std::max(widest, KernelState::byteSize(kernel.buffer(source).element));
    }
    if (combiner.isElementwise()) {
      widthLimit = kernel.machine.vectorBytes / widest;
    }
  }

  void emit(OpBuilder &builder) {
    if (inner == 1) {
      // Vectors must fill a line exactly: what is behind it belongs to the next one.
      int64_t width = std::min<int64_t>(widthLimit, length & -length);
      forEach(builder, 0, outer, 1, [&](OpBuilder &b, Value line) {
        Value start = b.create<arith::MulIOp>(loc, line, kernel.i64(length));
        width == 1 ? walkLine(b, start, 1) : scanVectors(b, start, width);
      });
      return;
    }
    int64_t width =
        std::min<int64_t>(widthLimit, static_cast<int64_t>(llvm::bit_floor<uint64_t>(inner)));
    int64_t whole = inner / width * width;
    forEach(builder, 0, outer, 1, [&](OpBuilder &b, Value line) {
      Value start = b.create<arith::MulIOp>(loc, line, kernel.i64(length * inner));
      auto walk = [&](int64_t lanes) {
        return [&, lanes](OpBuilder &inside, Value column) {
          walkLine(inside, inside.create<arith::AddIOp>(loc, start, column), lanes);
        };
      };
      forEach(b, 0, whole, width, walk(width));
      forEach(b, whole, inner, 1, walk(1));
    });
  }

private:
  void forEach(OpBuilder &builder, int64_t start, int64_t end, int64_t step,
               llvm::function_ref<void(OpBuilder &, Value)> body) {
    if (start >= end) {
      return;
    }
    if (start + step == end) {
      body(builder, kernel.i64(start));
      return;
    }
    auto loop =
        builder.create<scf::ForOp>(loc, kernel.i64(start), kernel.i64(end), kernel.i64(step));
    OpBuilder inside(loop.getBody()->getTerminator());
    body(inside, loop.getInductionVar());
  }

  Value address(OpBuilder &b, int buffer, Value index) {
    Value base = kernel.bufferAddress(buffer);
    return b.create<LLVM::GEPOp>(loc, base.getType(), kernel.buffer(buffer).element, base,
                                 ValueRange{index});
  }

  Lanes load(OpBuilder &b, Value index, int64_t width) {
    Lanes lanes;
    for (auto [source, buffer] : llvm::zip(op.getSources(), sources)) {
      Type memory = kernel.buffer(buffer).element;
      Value raw = b.create<LLVM::LoadOp>(loc, lanesOf(memory, width), address(b, buffer, index),
                                         static_cast<unsigned>(KernelState::byteSize(memory)));
      lanes.push_back(convertElements(b, loc, raw, elementTypeOf(source)));
    }
    return lanes;
  }

  void store(OpBuilder &b, Value index, ArrayRef<Value> lanes) {
    for (auto [value, buffer] : llvm::zip(lanes, results)) {
      Type memory = kernel.buffer(buffer).element;
      b.create<LLVM::StoreOp>(loc, convertElements(b, loc, value, memory),
                              address(b, buffer, index),
                              static_cast<unsigned>(KernelState::byteSize(memory)));
    }
  }

  /// Visits `count` steps of `distance` elements from `start`, in the order of the scan; `carried`
  /// is what the first step gives, then goes from step to step.
  void steps(OpBuilder &builder, Value start, int64_t count, int64_t distance,
             llvm::function_ref<Lanes(OpBuilder &, Value, ArrayRef<Value>)> step) {
    int64_t last = (count - 1) * distance;
    Value first = reverse ? builder.create<arith::AddIOp>(loc, start, kernel.i64(last)) : start;
    Lanes carried = step(builder, first, {});
    if (count == 1) {
      return;
    }
    auto loop = builder.create<scf::ForOp>(loc, kernel.i64(distance), kernel.i64(count * distance),
                                           kernel.i64(distance), carried);
    OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
    Value at = loop.getInductionVar();
    Value index = reverse ? inside.create<arith::SubIOp>(loc, first, at).getResult()
                          : inside.create<arith::AddIOp>(loc, first, at).getResult();
    SmallVector<Value> before(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    Lanes next = step(inside, index, before);
    inside.create<scf::YieldOp>(loc, next);
  }

  /// `width` neighbouring lines at once, element by element.
  void walkLine(OpBuilder &builder, Value start, int64_t width) {
    steps(builder, start, length, inner, [&](OpBuilder &b, Value index, ArrayRef<Value> before) {
      Lanes lanes = load(b, index, width);
      if (!before.empty()) {
        lanes = combiner.apply(evaluator, b, before, lanes);
      }
      store(b, index, lanes);
      return lanes;
    });
  }

  /// What stands `distance` lanes before each lane of the same vector, and `outside` where that is
  /// none.
  Value earlierLanes(OpBuilder &b, Value value, Value outside, int64_t width, int64_t distance) {
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < width; ++i) {
      int64_t from = reverse ? i + distance : i - distance;
      order.push_back(from >= 0 && from < width ? from : width + i);
    }
    return b.create<vector::ShuffleOp>(loc, value, outside, order);
  }

  /// Each lane combined with those before it in the same vector. Where none does, it is combined
  /// with what changes nothing: to select what it was leaves LLVM free to compute any numbers
  /// there, and those below the normal ones take a hundred times as long.
  Lanes scanLanes(OpBuilder &b, Lanes lanes, int64_t width) {
    const SmallVector<TypedAttr> neutral = combiner.identity();
    for (int64_t distance = 1; distance < width; distance *= 2) {
      Lanes earlier;
      for (auto [i, value] : llvm::enumerate(lanes)) {
        Value outside = value;
        if (!neutral.empty()) {
          auto type = cast<VectorType>(value.getType());
          outside = kernel.constant(DenseElementsAttr::get(type, Attribute(neutral[i])));
        }
        earlier.push_back(earlierLanes(b, value, outside, width, distance));
      }
      Lanes combined = combiner.apply(evaluator, b, earlier, lanes);
      if (!neutral.empty()) {
        lanes = combined;
        continue;
      }
      SmallVector<bool> takesIn;
      for (int64_t i = 0; i < width; ++i) {
        takesIn.push_back(reverse ? i + distance < width : i >= distance);
      }
      auto maskType = VectorType::get({width}, b.getI1Type());
      Value mask = kernel.constant(DenseElementsAttr::get(maskType, takesIn));
      for (auto [value, whole] : llvm::zip(lanes, combined)) {
        value = b.create<arith::SelectOp>(loc, mask, whole, value);
      }
    }
    return lanes;
  }

  void scanVectors(OpBuilder &builder, Value start, int64_t width) {
    steps(builder, start, length / width, width,
          [&](OpBuilder &b, Value index, ArrayRef<Value> before) {
            Lanes lanes = scanLanes(b, load(b, index, width), width);
            if (!before.empty()) {
              Lanes spread;
              for (auto [scalar, like] : llvm::zip(before, lanes)) {
                spread.push_back(b.create<vector::BroadcastOp>(loc, like.getType(), scalar));
              }
              lanes = combiner.apply(evaluator, b, spread, lanes);
            }
            store(b, index, lanes);
            Lanes carried;
            for (Value value : lanes) {
              carried.push_back(
                  b.create<vector::ExtractOp>(loc, value, reverse ? int64_t(0) : width - 1));
            }
            return carried;
          });
  }

  KernelState &kernel;
  tile::ScanOp op;
  Location loc;
  Combiner combiner;
  Evaluator evaluator;
  ArrayRef<int> sources, results;
  bool reverse;
  int64_t outer = 1, length = 1, inner = 1; ///< sizes before, along and behind the axis
  int64_t widthLimit = 1;
};
} // namespace

/// The source's buffer may become the result's: nobody reads the source afterwards.
static bool canScanInPlace(const KernelState &kernel, tile::ScanOp op, Value source) {
  return kernel.plan.isMaterialised(source) && source.hasOneUse() &&
         source.getParentBlock() == op->getBlock() && !kernel.plan.storageType(source);
}

void lowerScan(BlockLowering &block, tile::ScanOp op) {
  KernelState &kernel = block.kernel;
  if (llvm::any_of(op.getSources(), isPointerTile)) {
    kernel.unsupported(op, "addresses cannot be combined");
    return;
  }
  SmallVector<int> sources, results;
  for (Value source : op.getSources()) {
    sources.push_back(block.bufferOf(source, KernelState::memoryType(elementTypeOf(source))));
  }
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (canScanInPlace(kernel, op, op.getSources()[i])) {
      kernel.buffers[result] = sources[i];
      block.disown(op.getSources()[i]);
      block.own(result, sources[i]);
      results.push_back(sources[i]);
    } else {
      results.push_back(block.bufferFor(result));
    }
  }
  ScanKernel(kernel, op, sources, results).emit(block.builder());
}

} // namespace nereid::cpu
