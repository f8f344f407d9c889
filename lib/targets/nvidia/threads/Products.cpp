// SPDX-License-Identifier: Apache-2.0
// Matrix products: by the warps' matrix instructions where there is one for the types, else one
// multiplication at a time on operands in shared memory.
#include "lib/targets/nvidia/threads/Lowering.h"
#include "lib/targets/nvidia/threads/Words.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

void lowerMatrixUnit(ThreadCode &code, tile::DotOp op) {
  OpBuilder &b = code.builder;
  const Type from = tile::elementTypeOf(op.getA().getType());
  const Type to = tile::elementTypeOf(op.getType());
  const unsigned width = from.getIntOrFloatBitWidth();
  const LinearLayout left = *layoutOf(op.getA()), right = *layoutOf(op.getB());
  const LinearLayout result = *layoutOf(op);
  const int64_t k = shapeOf(op.getA())[1], step = 256 / width, steps = k / step;
  const SmallVector<Value> a = packWords(code, code.held(op.getA()), 32);
  const SmallVector<Value> bs = packWords(code, code.held(op.getB()), 32);
  const char *name = from.isF16() ? "f16" : from.isBF16() ? "bf16" : width == 32 ? "tf32" : "s8";
  const std::string instruction = fmt::format(
      "mma.sync.aligned.m16n8k{}.row.col.{}.{}.{}.{} {{$0, $1, $2, $3}}, {{$4, $5, $6, $7}}, "
      "{{$8, $9}}, {{$10, $11, $12, $13}};",
      step, to.isF32() ? "f32" : "s32", name, name, to.isF32() ? "f32" : "s32");
  const char letter = to.isF32() ? 'f' : 'r';
  const std::string constraints =
      fmt::format("={0},={0},={0},={0},r,r,r,r,r,r,{0},{0},{0},{0}", letter);
  Type structure = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, to));
  // Registers: of A four words for each step of k, then the rows; of B two words, then k, then the
  // columns; of the result two columns, two rows, then columns, then rows.
  const int64_t columnSteps = right.count(Holder::Register) * width / 32 / (2 * steps);
  ThreadCode::Held sums = code.held(op.getC());
  for (size_t first = 0; first < sums.size(); first += 4) {
    const auto tile = static_cast<int64_t>(first / 4);
    const int64_t column = tile % columnSteps, row = tile / columnSteps;
    for (int64_t i = 0; i < steps; ++i) {
      SmallVector<Value> operands;
      const auto atA = static_cast<size_t>(4 * (row * steps + i));
      const auto atB = static_cast<size_t>(2 * (column * steps + i));
      operands.append(a.begin() + atA, a.begin() + atA + 4);
      operands.append(bs.begin() + atB, bs.begin() + atB + 2);
      operands.append(sums.begin() + first, sums.begin() + first + 4);
      Value all = b.create<LLVM::InlineAsmOp>(code.loc, TypeRange(structure), operands, instruction,
                                              constraints, /*has_side_effects=*/true, false,
                                              LLVM::AsmDialectAttr(), ArrayAttr())
                      .getRes();
      for (int64_t part = 0; part < 4; ++part) {
        sums[first + static_cast<size_t>(part)] =
            b.create<LLVM::ExtractValueOp>(code.loc, all, ArrayRef<int64_t>{part});
      }
    }
  }
  code.hold(op, sums);
}

/// The number as the accumulator's type has it.
Value widened(ThreadCode &code, Value value, Type to) {
  OpBuilder &b = code.builder;
  if (value.getType() == to) {
    return value;
  }
  if (isa<FloatType>(to)) {
    return value.getType().getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()
               ? b.create<arith::ExtFOp>(code.loc, to, value).getResult()
               : b.create<arith::TruncFOp>(code.loc, to, value).getResult();
  }
  return b.create<arith::ExtSIOp>(code.loc, to, value);
}

/// Writes an operand to shared memory, behind `base` bytes.
void publishAt(ThreadCode &code, Value tile, int64_t base) {
  const LinearLayout layout = *layoutOf(tile);
  const auto elements = code.elements(layout);
  for (size_t reg = 0; reg < elements.size(); ++reg) {
    if (!ThreadCode::isRepeatedRegister(layout, static_cast<int64_t>(reg))) {
      const int64_t bytes = memoryBits(code.held(tile)[reg].getType()) / 8;
      code.storeShared(code.held(tile)[reg], code.add(elements[reg], base / bytes));
    }
  }
}

/// One step of k at a time in a loop, for all elements of the thread.
void lowerOneByOne(ThreadCode &code, tile::DotOp op) {
  OpBuilder &b = code.builder;
  const Type from = threadType(tile::elementTypeOf(op.getA().getType()));
  const Type to = tile::elementTypeOf(op.getType());
  const LinearLayout result = *layoutOf(op);
  const auto shape = shapeOf(op.getResult());
  const size_t rank = shape.size();
  const int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  const int64_t k = shapeOf(op.getA())[rank - 1];
  const int64_t bytes = memoryBits(from) / 8;
  const int64_t leftBytes = LinearLayout(shapeOf(op.getA()), {}, {}, {}).elementCount() * bytes;
  const int64_t rightBytes = LinearLayout(shapeOf(op.getB()), {}, {}, {}).elementCount() * bytes;
  code.reserveShared(leftBytes + rightBytes);
  code.barrier();
  publishAt(code, op.getA(), 0);
  publishAt(code, op.getB(), leftBytes);
  code.barrier();
  const auto elements = code.elements(result);
  SmallVector<Value> leftPlaces, rightPlaces;
  for (Value element : elements) {
    Value column = b.create<arith::AndIOp>(code.loc, element, code.constant(columns - 1));
    Value rowOfAll = b.create<arith::DivUIOp>(code.loc, element, code.constant(columns));
    leftPlaces.push_back(b.create<arith::MulIOp>(code.loc, rowOfAll, code.constant(k)));
    Value batch = b.create<arith::DivUIOp>(code.loc, rowOfAll, code.constant(rows));
    Value right = b.create<arith::MulIOp>(code.loc, batch, code.constant(k * columns));
    right = b.create<arith::AddIOp>(code.loc, right, column);
    rightPlaces.push_back(code.add(right, leftBytes / bytes));
  }
  // Half types are summed up in float32 and rounded at the end, like a matrix unit does.
  const bool isNarrow = isa<FloatType>(to) && to.getIntOrFloatBitWidth() < 32;
  const Type sumType = isNarrow ? b.getF32Type() : to;
  SmallVector<Value> start;
  for (Value value : code.held(op.getC())) {
    start.push_back(widened(code, value, sumType));
  }
  Value zero = code.constant(0), one = code.constant(1), end = code.constant(k);
  auto loop = b.create<scf::ForOp>(code.loc, zero, end, one, start);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value i = loop.getInductionVar();
    Value below = b.create<arith::MulIOp>(code.loc, i, code.constant(columns));
    SmallVector<Value> sums;
    for (auto [at, sum] : llvm::enumerate(loop.getRegionIterArgs())) {
      Value left = code.loadShared(from, b.create<arith::AddIOp>(code.loc, leftPlaces[at], i));
      Value right =
          code.loadShared(from, b.create<arith::AddIOp>(code.loc, rightPlaces[at], below));
      left = widened(code, left, sumType);
      right = widened(code, right, sumType);
      if (isa<FloatType>(sumType)) {
        sums.push_back(b.create<math::FmaOp>(code.loc, left, right, sum));
      } else {
        sums.push_back(b.create<arith::AddIOp>(
            code.loc, sum, b.create<arith::MulIOp>(code.loc, left, right).getResult()));
      }
    }
    b.create<scf::YieldOp>(code.loc, sums);
  }
  ThreadCode::Held held;
  for (Value sum : loop.getResults()) {
    held.push_back(widened(code, sum, to));
  }
  code.hold(op, held);
}

} // namespace

void lowerDot(ThreadCode &code, tile::DotOp op) {
  usesMatrixUnit(op) ? lowerMatrixUnit(code, op) : lowerOneByOne(code, op);
}

} // namespace nereid::nvidia
