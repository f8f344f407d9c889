// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/products/TurnedCopy.h"

#include "lib/targets/nvidia/products/MatrixReader.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

constexpr int64_t rows = 32, columns = 16; // bytes that a warp turns at a time
constexpr uint32_t inOrder = 0x6420, otherMatrix = 0x4444;

} // namespace

TurnedRows turnedRowsOf(const LinearLayout::Shape &shape, int64_t fastest, int64_t warps) {
  const int64_t ofColumn = fastest == 1 ? 1 : shape[1], ofRow = fastest == 1 ? shape[1] : 1;
  LinearLayout::Bases parts; // of the tile, first down the rows
  for (int64_t row = rows; row < shape[static_cast<size_t>(1 - fastest)]; row *= 2) {
    parts.push_back(row * ofRow);
  }
  for (int64_t column = columns; column < shape[static_cast<size_t>(fastest)]; column *= 2) {
    parts.push_back(column * ofColumn);
  }
  LinearLayout::Bases registers, ofWarps;
  for (int64_t part : parts) {
    (int64_t{1} << ofWarps.size() < warps ? ofWarps : registers).push_back(part);
  }
  while (int64_t{1} << ofWarps.size() < warps) {
    ofWarps.push_back(0); // warps beyond the last part write what others do
  }
  const LinearLayout::Bases read{ofRow, 4 * ofRow, 10 * ofRow, 2 * ofRow, 16 * ofRow};
  const LinearLayout::Bases written{2 * ofColumn, 4 * ofColumn, 9 * ofColumn, ofColumn, 16 * ofRow};
  return {{shape, registers, read, ofWarps}, {shape, registers, written, ofWarps}};
}

uint32_t turnOf(uint32_t lane) {
  return inOrder ^ ((lane & 2) != 0 ? otherMatrix : 0) ^ ((lane & 16) != 0 ? secondTurn : 0);
}

void lowerTurnCopy(ThreadCode &code, TurnCopyOp op) {
  OpBuilder &b = code.builder;
  const auto shape = tile::shapeOf(op.getTile()).vec();
  const auto fastest = static_cast<int64_t>(op.getFastest());
  const TurnedRows turned = turnedRowsOf(shape, fastest, code.threads.warps);
  const SharedTile from(shape, 1, fastest), to(shape, 1, 1 - fastest);
  SharedPlaces sources(code, from.placesOf(turned.read),
                       slotAddress(code, op.getSlot(), op.getPlace(), from));
  SharedPlaces targets(code, to.placesOf(turned.written),
                       slotAddress(code, op.getSlot(), op.getTo(), to));
  Value first = code.constant(inOrder), zero = code.constant(0);
  for (const auto &[bit, change] : {std::pair{2U, otherMatrix}, {16U, secondTurn}}) {
    Value masked = b.create<arith::AndIOp>(code.loc, code.laneNumber(), code.constant(bit));
    Value isSet = b.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::ne, masked, zero);
    Value step = b.create<arith::SelectOp>(code.loc, isSet, code.constant(change), zero);
    first = b.create<arith::XOrIOp>(code.loc, first, step);
  }
  Value second = b.create<arith::XOrIOp>(code.loc, first, code.constant(secondTurn));
  Type word = b.getI32Type();
  Type four = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, word));
  for (int64_t reg = 0; reg < turned.read.count(Holder::Register); ++reg) {
    const auto [source, sourceOffset] = sources.at(reg);
    Value read = code.assembly(
        fmt::format("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {{$0, $1, $2, $3}}, [$4 + {}];",
                    sourceOffset),
        "=r,=r,=r,=r,r,~{memory}", four, source);
    const auto [target, targetOffset] = targets.at(reg);
    SmallVector<Value> words{target};
    for (int64_t pair : {0, 2}) {
      SmallVector<Value> two;
      for (int64_t i : {pair, pair + 1}) {
        two.push_back(b.create<LLVM::ExtractValueOp>(code.loc, read, ArrayRef<int64_t>{i}));
      }
      for (Value turn : {first, second}) {
        words.push_back(code.intrinsic("llvm.nvvm.prmt", word, {two[0], two[1], turn}));
      }
    }
    code.assembly(fmt::format("stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0 + {}], {{$1, $2, $3, "
                              "$4}};",
                              targetOffset),
                  "r,r,r,r,r,~{memory}", nullptr, words);
  }
}

} // namespace nereid::nvidia
