// SPDX-License-Identifier: Apache-2.0
// The warps' matrix instruction `mma.sync`, over a whole tile.
#include "lib/targets/nvidia/products/MatrixReader.h"
#include "lib/targets/nvidia/products/Products.h"
#include "lib/targets/nvidia/threads/Words.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

/// The words of an operand: in registers, or read from a slot when they are needed.
class Factor {
public:
  Factor(ThreadCode &code, Value tile) {
    auto read = tile.getDefiningOp<ReadCopyOp>();
    if (!read) {
      words = packWords(code, code.held(tile), 32);
      return;
    }
    LinearLayout fragment = *layoutOf(tile);
    if (read.getTransposed()) {
      fragment = fragment.transposed(ArrayRef<int32_t>{1, 0});
    }
    const auto fastest = static_cast<int64_t>(read.getFastest());
    const SharedTile placed(fragment.shape(), 2, fastest);
    reader.emplace(code, fragment, placed, fastest,
                   slotAddress(code, read.getSlot(), read.getPlace(), placed));
  }
  Value word(int64_t number) {
    return reader ? reader->word(number) : words[static_cast<size_t>(number)];
  }

private:
  SmallVector<Value> words;
  std::optional<MatrixReader> reader;
};

} // namespace

void lowerMatrixUnit(ThreadCode &code, tile::DotOp op) {
  OpBuilder &b = code.builder;
  const Type from = tile::elementTypeOf(op.getA().getType());
  const Type to = tile::elementTypeOf(op.getType());
  const unsigned width = from.getIntOrFloatBitWidth();
  const LinearLayout right = *layoutOf(op.getB());
  const int64_t k = shapeOf(op.getA())[1], step = 256 / width, steps = k / step;
  Factor a(code, op.getA()), bs(code, op.getB());
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
  // Sums that do not wait for each other follow each other.
  for (int64_t i = 0; i < steps; ++i) {
    for (size_t first = 0; first < sums.size(); first += 4) {
      const auto tile = static_cast<int64_t>(first / 4);
      const int64_t column = tile % columnSteps, row = tile / columnSteps;
      SmallVector<Value> operands;
      for (int64_t word = 0; word < 4; ++word) {
        operands.push_back(a.word(4 * (row * steps + i) + word));
      }
      for (int64_t word = 0; word < 2; ++word) {
        operands.push_back(bs.word(2 * (column * steps + i) + word));
      }
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

} // namespace nereid::nvidia
