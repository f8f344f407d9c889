// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/products/MatrixReader.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

std::optional<MatrixRows> matrixRowsOf(const LinearLayout &fragment, int64_t fastest) {
  const auto &registers = fragment.bases(Holder::Register), &lanes = fragment.bases(Holder::Lane);
  if (fragment.shape().size() != 2 || registers.empty() || lanes.size() != 5) {
    return std::nullopt;
  }
  // A thread gets two neighbours of row lane / 4, or, transposed, of column lane / 4.
  const int64_t unit = fastest == 1 ? 1 : fragment.shape()[1];
  MatrixRows rows;
  LinearLayout::Bases ofRow;
  if (registers[0] == unit && lanes[0] == 2 * unit && lanes[1] == 4 * unit) {
    ofRow = {lanes[2], lanes[3], lanes[4]};
  } else if (lanes[2] == unit && lanes[3] == 2 * unit && lanes[4] == 4 * unit) {
    rows.isTransposed = true;
    ofRow = {registers[0], lanes[0], lanes[1]};
  } else {
    return std::nullopt;
  }
  // No other step may come between the eight elements of a row.
  for (Holder holder : {Holder::Register, Holder::Warp}) {
    for (size_t bit = holder == Holder::Register ? 1 : 0; bit < fragment.bases(holder).size();
         ++bit) {
      if ((fragment.bases(holder)[bit] & (7 * unit)) != 0) {
        return std::nullopt;
      }
    }
  }
  size_t next = 1;
  for (; next < 3; ++next) {
    ofRow.push_back(next < registers.size() ? registers[next] : 0);
  }
  rows.words = registers.size() > 2 ? 4 : registers.size() > 1 ? 2 : 1;
  next = std::min(next, registers.size());
  rows.starts = LinearLayout(
      fragment.shape(),
      LinearLayout::Bases(registers.begin() + static_cast<long>(next), registers.end()),
      std::move(ofRow), fragment.bases(Holder::Warp));
  return rows;
}

SharedPlaces::SharedPlaces(ThreadCode &code, const LinearLayout &places, Value base, When when)
    : code(code), places(places), base(base), ofThread(code.threadPart(places)) {
  if (when == When::InEachTurn) {
    ofThread = code.inThisTurn(ofThread);
  }
  for (Holder holder : {Holder::Lane, Holder::Warp}) {
    for (int64_t basis : places.bases(holder)) {
      threadBits |= basis;
    }
  }
}

std::pair<Value, int64_t> SharedPlaces::at(int64_t reg) {
  const int64_t part = places.contribution(Holder::Register, reg);
  const int64_t mixed = part & threadBits;
  Value &address = made[mixed];
  if (!address) {
    OpBuilder &b = code.builder;
    address = ofThread;
    if (mixed != 0) {
      address = b.create<arith::XOrIOp>(code.loc, ofThread, code.constant(mixed));
    }
    address = b.create<arith::AddIOp>(code.loc, address, base);
  }
  return {address, part & ~threadBits};
}

Value slotAddress(ThreadCode &code, Value slot, uint64_t place, const SharedTile &tile) {
  Value offset =
      code.builder.create<arith::MulIOp>(code.loc, code.scalar(slot), code.constant(tile.bytes()));
  return code.copyAddress(code.add(offset, static_cast<int64_t>(place)));
}

MatrixReader::MatrixReader(ThreadCode &code, const LinearLayout &fragment, const SharedTile &tile,
                           int64_t fastest, Value base, When when)
    : code(code), rows(*matrixRowsOf(fragment, fastest)),
      places(code, tile.placesOf(rows.starts), base, when) {}

Value MatrixReader::word(int64_t number) {
  auto &words = groups[number / rows.words];
  if (words.empty()) {
    OpBuilder &b = code.builder;
    const auto [address, offset] = places.at(number / rows.words);
    const auto n = static_cast<unsigned>(rows.words);
    std::string list, constraints;
    for (unsigned i = 0; i < n; ++i) {
      list += fmt::format("{}${}", i == 0 ? "" : ", ", i);
      constraints += "=r,";
    }
    const std::string text =
        fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {{{}}}, [${} + {}];", n,
                    rows.isTransposed ? ".trans" : "", list, n, offset);
    Type word = b.getI32Type();
    if (n == 1) {
      words.push_back(code.assembly(text, constraints + "r,~{memory}", word, address));
    } else {
      Type all = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(n, word));
      Value read = code.assembly(text, constraints + "r,~{memory}", all, address);
      for (unsigned i = 0; i < n; ++i) {
        words.push_back(b.create<LLVM::ExtractValueOp>(code.loc, read, ArrayRef<int64_t>{i}));
      }
    }
  }
  return words[static_cast<size_t>(number % rows.words)];
}

} // namespace nereid::nvidia
