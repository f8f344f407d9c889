// SPDX-License-Identifier: Apache-2.0
// The warpgroups' matrix instruction `wgmma`, over a whole tile: 64 rows and up to 256 columns at a
// time. Operands lie in slots in the swizzle of SharedTile.h, which a descriptor tells (PTX ISA,
// "Shared memory matrix layout", "Matrix descriptor format"); the left one may be in registers.
// Slots of 16-bit elements may run along either dimension, those of int8 along k alone.
#include "lib/targets/nvidia/layouts/MatrixLayouts.h"
#include "lib/targets/nvidia/products/MatrixReader.h"
#include "lib/targets/nvidia/products/Products.h"
#include "lib/targets/nvidia/threads/Words.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

namespace {

constexpr int64_t height = 64, widest = 256; // rows and columns of an instruction

/// What the instruction has for a type of the operands.
struct Numbers {
  const char *operand, *result; ///< as its name calls them
  char letter;                  ///< of a result's register
  int64_t depth;                ///< k
  bool hasFlags;                ///< signs and transposed operands: those of 16 bits alone

  explicit Numbers(Type element)
      : operand(element.isF16()    ? "f16"
                : element.isBF16() ? "bf16"
                                   : "s8"),
        result(isa<FloatType>(element) ? "f32" : "s32"),
        letter(isa<FloatType>(element) ? 'f' : 'r'),
        depth(256 / static_cast<int64_t>(element.getIntOrFloatBitWidth())),
        hasFlags(isa<FloatType>(element)) {}
};

int64_t bytesOfElement(Value tile) {
  return static_cast<int64_t>(memoryBits(tile::elementTypeOf(tile.getType()))) / 8;
}

/// An operand in a slot, as the instruction addresses it: by its outer dimension, rows of A or
/// columns of B, and by k.
class SlotFactor {
public:
  /// `outer`: that dimension of the operand. `first`: this group's first outer index, i32.
  SlotFactor(ThreadCode &code, ReadCopyOp read, int64_t outer, Value first)
      : code(code), shape(shapeOf(read.getResult())),
        elementBytes(bytesOfElement(read.getResult())), tile(shape, elementBytes, fastestOf(read)),
        outer(outer), runsAlongK(fastestOf(read) != outer) {
    OpBuilder &b = code.builder;
    Value address = slotAddress(code, read.getSlot(), read.getPlace(), tile);
    const int64_t unit = runsAlongK ? tile.rowBytes() : panelBytes() / panelElements();
    Value offset = b.create<arith::MulIOp>(code.loc, first, code.constant(unit));
    address = b.create<arith::AddIOp>(code.loc, address, offset);
    // The address in units of 16 bytes, of 18 bits.
    Value low = b.create<arith::ShRUIOp>(code.loc, address, code.constant(4));
    low = b.create<arith::AndIOp>(code.loc, low, code.constant(0x3fff));
    low = b.create<arith::ExtUIOp>(code.loc, b.getI64Type(), low);
    const int64_t row = tile.rowBytes(), swizzle = row == 128 ? 1 : row == 64 ? 2 : 3;
    // Eight rows of the swizzle follow eight others; panels, those of the next columns.
    const int64_t fixed = (swizzle << 62) | ((8 * row >> 4) << 32) | ((panelBytes() >> 4) << 16);
    start = b.create<arith::OrIOp>(code.loc, low, code.constant(fixed, 64));
  }

  /// The descriptor of the part that begins there.
  Value at(int64_t outerIndex, int64_t k) {
    int64_t bytes = 0;
    if (runsAlongK) {
      bytes = outerIndex * tile.rowBytes() + k / panelElements() * panelBytes() +
              k % panelElements() * elementBytes;
    } else {
      bytes = outerIndex / panelElements() * panelBytes() + k * tile.rowBytes();
    }
    return bytes == 0
               ? start
               : code.builder.create<arith::AddIOp>(code.loc, start, code.constant(bytes >> 4, 64))
                     .getResult();
  }
  bool isTransposed() const { return !runsAlongK; }

private:
  static int64_t fastestOf(ReadCopyOp read) {
    const auto fastest = static_cast<int64_t>(read.getFastest());
    return read.getTransposed() ? 1 - fastest : fastest;
  }
  int64_t panelElements() const { return tile.rowBytes() / elementBytes; }
  /// All rows of a panel.
  int64_t panelBytes() const {
    const int64_t rows = shape[static_cast<size_t>(runsAlongK ? outer : 1 - outer)];
    return rows * tile.rowBytes();
  }

  ThreadCode &code;
  layout::LinearLayout::Shape shape;
  int64_t elementBytes;
  SharedTile tile;
  int64_t outer;
  bool runsAlongK;
  Value start;
};

/// The text of one instruction and its constraints, for so many registers of the result.
struct Instruction {
  std::string text, constraints;
};

Instruction instructionFor(int64_t columns, const Numbers &numbers, bool hasLeftInRegisters,
                           bool isLeftTransposed, bool isRightTransposed, bool adds) {
  const int64_t results = columns / 2;
  std::string list, outs, ties;
  for (int64_t i = 0; i < results; ++i) {
    list += fmt::format("{}${}", i == 0 ? "" : ", ", i);
    outs += fmt::format("={},", numbers.letter);
    ties += adds ? fmt::format("{},", i) : "";
  }
  int64_t next = adds ? 2 * results : results;
  std::string left;
  if (hasLeftInRegisters) {
    left = fmt::format("{{${}, ${}, ${}, ${}}}", next, next + 1, next + 2, next + 3);
    next += 4;
  } else {
    left = fmt::format("${}", next++);
  }
  std::string flags;
  if (numbers.hasFlags) {
    flags = fmt::format(", 1, 1{}, {}",
                        hasLeftInRegisters ? "" : fmt::format(", {}", isLeftTransposed ? 1 : 0),
                        isRightTransposed ? 1 : 0);
  }
  return {fmt::format("{{.reg .pred p; setp.ne.b32 p, {}, 0; "
                      "wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{} {{{}}}, {}, ${}, p{};}}",
                      adds ? 1 : 0, columns, numbers.depth, numbers.result, numbers.operand,
                      numbers.operand, list, left, next, flags),
          outs + ties + (hasLeftInRegisters ? "r,r,r,r,l" : "l,l") + ",~{memory}"};
}

/// The same in all threads of the warp, which the assembler can only see of a shuffle.
Value uniform(ThreadCode &code, Value number) {
  return code.intrinsic("llvm.nvvm.shfl.sync.idx.i32", code.builder.getI32Type(),
                        {code.constant(-1), number, code.constant(0), code.constant(31)});
}

/// Which of the program's warpgroups this one is.
Value groupNumber(ThreadCode &code) {
  constexpr int64_t warpsOfGroup = 4;
  if (code.threads.warps == warpsOfGroup) {
    return code.constant(0);
  }
  return uniform(
      code, code.builder.create<arith::ShRUIOp>(code.loc, code.warpNumber(), code.constant(2)));
}

/// The sums when all products have ended: what reads them cannot move in front of the wait.
ThreadCode::Held awaited(ThreadCode &code, const ThreadCode::Held &sums) {
  const Type type = sums.front().getType();
  std::string constraints;
  for (size_t i = 0; i < sums.size(); ++i) {
    constraints += isa<FloatType>(type) ? "=f," : "=r,";
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    constraints += fmt::format("{},", i);
  }
  Type structure = LLVM::LLVMStructType::getLiteral(code.builder.getContext(),
                                                    SmallVector<Type>(sums.size(), type));
  const SmallVector<Value> operands(sums.begin(), sums.end());
  Value all = code.assembly("wgmma.wait_group.sync.aligned 0;", constraints + "~{memory}",
                            structure, operands);
  ThreadCode::Held result;
  for (size_t i = 0; i < sums.size(); ++i) {
    result.push_back(code.builder.create<LLVM::ExtractValueOp>(
        code.loc, all, ArrayRef<int64_t>{static_cast<int64_t>(i)}));
  }
  return result;
}

} // namespace

void lowerWarpgroupProduct(ThreadCode &code, tile::DotOp op) {
  OpBuilder &b = code.builder;
  const auto shape = shapeOf(op.getResult());
  const int64_t rows = shape[0], columns = shape[1], k = shapeOf(op.getA())[1];
  const WarpGrid grid = *warpgroupGridFor(rows, columns, code.threads.warps);
  const int64_t groupRows = grid.rows / 4, width = columns / grid.columns;
  Value group = groupNumber(code);
  Value rowGroup = b.create<arith::AndIOp>(code.loc, group, code.constant(groupRows - 1));
  Value columnGroup = b.create<arith::DivUIOp>(code.loc, group, code.constant(groupRows));
  Value firstRow = b.create<arith::MulIOp>(code.loc, rowGroup, code.constant(height));
  Value firstColumn = b.create<arith::MulIOp>(code.loc, columnGroup, code.constant(width));

  auto readLeft = op.getA().getDefiningOp<ReadCopyOp>();
  std::optional<SlotFactor> left;
  SmallVector<Value> leftWords;
  if (readLeft) {
    left.emplace(code, readLeft, 0, firstRow);
  } else {
    leftWords = packWords(code, code.held(op.getA()), 32);
  }
  SlotFactor right(code, op.getB().getDefiningOp<ReadCopyOp>(), 1, firstColumn);

  const Numbers numbers(tile::elementTypeOf(op.getA().getType()));
  const int64_t depth = numbers.depth;
  const int64_t step = std::min(width, widest), registers = step / 2;
  Type structure = LLVM::LLVMStructType::getLiteral(
      b.getContext(),
      SmallVector<Type>(static_cast<size_t>(registers), tile::elementTypeOf(op.getType())));
  const bool startsAtZero = isZeros(op.getC());
  ThreadCode::Held sums =
      startsAtZero
          ? ThreadCode::Held(static_cast<size_t>(layoutOf(op)->count(layout::Holder::Register)))
          : code.held(op.getC());
  code.assembly("wgmma.fence.sync.aligned;", "~{memory}", nullptr, {});
  size_t first = 0;
  for (int64_t row = 0; row < rows / (height * groupRows); ++row) {
    for (int64_t column = 0; column < width; column += step) {
      for (int64_t at = 0; at < k; at += depth) {
        const bool adds = at > 0 || !startsAtZero;
        SmallVector<Value> operands;
        if (adds) {
          operands.append(sums.begin() + first, sums.begin() + first + registers);
        }
        if (left) {
          operands.push_back(left->at(row * height * groupRows, at));
        } else {
          for (int64_t word = 0; word < 4; ++word) {
            operands.push_back(
                leftWords[static_cast<size_t>(4 * (row * (k / depth) + at / depth) + word)]);
          }
        }
        operands.push_back(right.at(column, at));
        const Instruction one = instructionFor(step, numbers, !left, left && left->isTransposed(),
                                               right.isTransposed(), adds);
        Value all = code.assembly(one.text, one.constraints, structure, operands);
        for (int64_t i = 0; i < registers; ++i) {
          sums[first + static_cast<size_t>(i)] =
              b.create<LLVM::ExtractValueOp>(code.loc, all, ArrayRef<int64_t>{i});
        }
      }
      first += static_cast<size_t>(registers);
    }
  }
  code.assembly("wgmma.commit_group.sync.aligned;", "~{memory}", nullptr, {});
  code.hold(op, sums);
  if (!op->hasAttr(deferredAttribute)) {
    code.hold(op, awaited(code, sums));
  }
}

void lowerWaitProducts(ThreadCode &code, WaitProductsOp op) {
  code.assembly(fmt::format("wgmma.wait_group.sync.aligned {};", op.getPending()), "~{memory}",
                nullptr, {});
}

void lowerAwaitProduct(ThreadCode &code, AwaitProductOp op) {
  code.hold(op, awaited(code, code.held(op.getSource())));
}

} // namespace nereid::nvidia
