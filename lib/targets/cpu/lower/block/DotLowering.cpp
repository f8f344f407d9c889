// SPDX-License-Identifier: Apache-2.0
// Matrix products: both operands stand in scratch, already in the type that is accumulated in; b is
// row-major, a is that or its transpose; the result is a buffer updated in place. A block of rows
// times vectors of columns stays in registers over the whole k loop. Order inside it: all vectors
// of b, then per row of a one broadcast and its multiply-adds; the other way round the compiler
// keeps every broadcast alive.

#include "lib/targets/cpu/MachineSizes.h"
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/block/Operations.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

namespace {
/// `count` equal pieces of a dimension.
struct Pieces {
  int64_t start = 0, count = 0, step = 0;
  int64_t vectors = 1, width = 1; ///< of columns
};

class DotKernel {
public:
  DotKernel(KernelState &kernel, Location loc, Type type) : kernel(kernel), loc(loc), type(type) {}

  Value a, b, c; ///< addresses of row-major matrices
  Type storedC;
  Value initial; ///< a scalar every element of c starts from; null = c's content
  int64_t m = 0, n = 0, k = 0;
  bool isTransposed = false; ///< a[row, step] stands where a row-major [k, m] has [step, row]

  void emit(OpBuilder &builder) {
    const int64_t lanes = kernel.machine.vectorBytes / KernelState::byteSize(type);
    const bool many = kernel.machine.vectorRegisters >= 32;
    const bool isCached =
        n * k * KernelState::byteSize(type) <= sizes::cachedProductBytes(kernel.machine);
    const int64_t columns = many && isCached ? 4 : 2; // vectors of b in registers
    for (const Pieces &columnPieces : splitColumns(lanes, columns)) {
      // Rows so that rows times vectors is 16 accumulators, or 12 of 16 registers.
      int64_t rows = (many ? 16 : 12) / columnPieces.vectors;
      rows = std::min<int64_t>(rows, 8);
      forPieces(builder, columnPieces, [&](OpBuilder &inside, Value column) {
        for (const Pieces &rowPieces : splitRows(std::max<int64_t>(rows, 1))) {
          forPieces(inside, rowPieces, [&](OpBuilder &innermost, Value row) {
            block(innermost, row, rowPieces.step, column, columnPieces);
          });
        }
      });
    }
  }

private:
  SmallVector<Pieces> splitColumns(int64_t lanes, int64_t vectors) const {
    SmallVector<Pieces> pieces;
    int64_t start = 0;
    auto take = [&](int64_t perStep, int64_t width) {
      int64_t step = perStep * width, count = (n - start) / step;
      if (count > 0) {
        pieces.push_back({start, count, step, perStep, width});
        start += count * step;
      }
    };
    for (int64_t v = vectors; v >= 1; v = v > 2 ? v / 2 : v - 1) {
      take(v, lanes);
    }
    for (int64_t width = lanes / 2; width >= 1; width /= 2) {
      take(1, width);
    }
    return pieces;
  }

  SmallVector<Pieces> splitRows(int64_t rows) const {
    SmallVector<Pieces> pieces;
    int64_t full = m / rows;
    if (full > 0) {
      pieces.push_back({0, full, rows});
    }
    if (m % rows != 0) {
      pieces.push_back({full * rows, 1, m % rows});
    }
    return pieces;
  }

  void forPieces(OpBuilder &builder, const Pieces &pieces,
                 llvm::function_ref<void(OpBuilder &, Value)> body) {
    if (pieces.count == 1) {
      body(builder, kernel.i64(pieces.start));
      return;
    }
    auto loop = builder.create<scf::ForOp>(loc, kernel.i64(pieces.start),
                                           kernel.i64(pieces.start + pieces.count * pieces.step),
                                           kernel.i64(pieces.step));
    OpBuilder inside(loop.getBody()->getTerminator());
    body(inside, loop.getInductionVar());
  }

  Value move(OpBuilder &builder, Value address, Type element, Value index) {
    return builder.create<LLVM::GEPOp>(loc, address.getType(), element, address, ValueRange{index});
  }
  Value move(OpBuilder &builder, Value address, Type element, int64_t index) {
    if (index == 0) {
      return address;
    }
    return builder.create<LLVM::GEPOp>(loc, address.getType(), element, address,
                                       ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  }

  Value multiplyAdd(OpBuilder &builder, Value x, Value y, Value sum) {
    if (!isa<FloatType>(type)) {
      return builder.create<arith::AddIOp>(loc, sum, builder.create<arith::MulIOp>(loc, x, y));
    }
    if (kernel.machine.hasFma) {
      return builder.create<math::FmaOp>(loc, x, y, sum);
    }
    return builder.create<arith::AddFOp>(loc, sum, builder.create<arith::MulFOp>(loc, x, y));
  }

  void block(OpBuilder &builder, Value row, int64_t rows, Value column, const Pieces &columns) {
    Type lanes = lanesOf(type, columns.width);
    Type lanesC = lanesOf(storedC, columns.width);
    auto align = static_cast<unsigned>(KernelState::byteSize(type));
    auto alignC = static_cast<unsigned>(KernelState::byteSize(storedC));
    Value corner = builder.create<arith::AddIOp>(
        loc, builder.create<arith::MulIOp>(loc, row, kernel.i64(n)), column);
    Value cBlock = move(builder, c, storedC, corner);
    const int64_t rowStride = isTransposed ? 1 : k, stepStride = isTransposed ? m : 1;
    Value aRow = move(builder, a, type,
                      builder.createOrFold<arith::MulIOp>(loc, row, kernel.i64(rowStride)));
    Value bColumn = move(builder, b, type, column);
    SmallVector<Value> sums;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t v = 0; v < columns.vectors; ++v) {
        if (initial) {
          sums.push_back(columns.width == 1
                             ? initial
                             : builder.create<vector::BroadcastOp>(loc, lanes, initial));
          continue;
        }
        Value at = move(builder, cBlock, storedC, r * n + v * columns.width);
        Value value = builder.create<LLVM::LoadOp>(loc, lanesC, at, alignC);
        sums.push_back(convertElements(builder, loc, value, type));
      }
    }
    auto loop = builder.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(k), kernel.i64(1), sums);
    OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
    Value step = loop.getInductionVar();
    Value bAt = move(inside, bColumn, type,
                     inside.create<arith::MulIOp>(loc, step, kernel.i64(n)).getResult());
    SmallVector<Value> bLanes;
    for (int64_t v = 0; v < columns.vectors; ++v) {
      bLanes.push_back(inside.create<LLVM::LoadOp>(
          loc, lanes, move(inside, bAt, type, v * columns.width), align));
    }
    Value aAt = move(inside, aRow, type,
                     inside.createOrFold<arith::MulIOp>(loc, step, kernel.i64(stepStride)));
    SmallVector<Value> next;
    for (int64_t r = 0; r < rows; ++r) {
      Value element =
          inside.create<LLVM::LoadOp>(loc, type, move(inside, aAt, type, r * rowStride), align);
      if (columns.width > 1) {
        element = inside.create<vector::BroadcastOp>(loc, lanes, element);
      }
      for (int64_t v = 0; v < columns.vectors; ++v) {
        Value sum = loop.getRegionIterArgs()[r * columns.vectors + v];
        next.push_back(multiplyAdd(inside, element, bLanes[v], sum));
      }
    }
    inside.create<scf::YieldOp>(loc, next);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t v = 0; v < columns.vectors; ++v) {
        Value at = move(builder, cBlock, storedC, r * n + v * columns.width);
        Value value =
            convertElements(builder, loc, loop.getResult(r * columns.vectors + v), storedC);
        builder.create<LLVM::StoreOp>(loc, value, at, alignC);
      }
    }
  }

  KernelState &kernel;
  Location loc;
  Type type; ///< multiplied and accumulated in
};
} // namespace

void lowerDot(BlockLowering &block, tile::DotOp op) {
  KernelState &kernel = block.kernel;
  Location loc = op.getLoc();
  Type storedC = elementTypeOf(op.getC());
  Type type = storedC;
  if (isa<FloatType>(storedC) && storedC.getIntOrFloatBitWidth() < 32) {
    type = block.builder().getF32Type();
  }
  Type operandType = elementTypeOf(op.getA());
  if (isa<FloatType>(operandType) != isa<FloatType>(type) || operandType.isInteger(1)) {
    kernel.unsupported(op, "its operands and its accumulator must both be integers or both floats");
    return;
  }
  auto assigned = kernel.buffers.find(op.getResult());
  int64_t mark = 0;
  int target = assigned != kernel.buffers.end() ? assigned->second
                                                : kernel.allocate(shapeOf(op.getC()), storedC, loc);
  if (assigned == kernel.buffers.end()) {
    block.own(op.getResult(), target);
  }
  mark = kernel.scratchMark();
  Value transposed = kernel.plan.transposedOperand(op);
  if (op.getA().getDefiningOp<tile::TransOp>()) {
    tally(Recogniser::TransposedOperand, transposed != nullptr);
  }
  int a = block.bufferOf(transposed ? transposed : op.getA(), type);
  int b = block.bufferOf(op.getB(), type);
  Value initial;
  if (kernel.axes.isUniformEverywhere(op.getC()) && !kernel.buffers.count(op.getC())) {
    initial = convertElements(block.builder(), loc, block.scalarAtZero(op.getC()), type);
  } else {
    block.copyInto({{op.getC(), target}});
  }
  ArrayRef<int64_t> shapeA = shapeOf(op.getA()), shapeB = shapeOf(op.getB());
  size_t batchRank = shapeA.size() - 2;
  DotKernel dot(kernel, loc, type);
  dot.m = shapeA[batchRank];
  dot.k = shapeA[batchRank + 1];
  dot.n = shapeB[batchRank + 1];
  dot.storedC = KernelState::memoryType(storedC);
  dot.initial = initial;
  dot.isTransposed = bool(transposed);
  dot.a = kernel.bufferAddress(a);
  dot.b = kernel.bufferAddress(b);
  dot.c = kernel.bufferAddress(target);
  OpBuilder inside = block.builder();
  if (batchRank == 1 && shapeA[0] > 1) {
    auto loop = block.builder().create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(shapeA[0]),
                                                   kernel.i64(1));
    inside = OpBuilder(loop.getBody()->getTerminator());
    auto advance = [&](Value base, Type element, int64_t size) -> Value {
      Value index = inside.create<arith::MulIOp>(loc, loop.getInductionVar(), kernel.i64(size));
      return inside.create<LLVM::GEPOp>(loc, base.getType(), element, base, ValueRange{index});
    };
    dot.a = advance(dot.a, type, dot.m * dot.k);
    dot.b = advance(dot.b, type, dot.k * dot.n);
    dot.c = advance(dot.c, dot.storedC, dot.m * dot.n);
  }
  dot.emit(inside);
  kernel.releaseTo(mark);
  kernel.buffers[op.getResult()] = target;
}

} // namespace nereid::cpu
