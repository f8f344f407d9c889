// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/Conversion.h"
#include "lib/targets/nvidia/products/MatrixReader.h"
#include "lib/targets/nvidia/products/Products.h"
#include "lib/targets/nvidia/threads/Words.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

void storeSwizzled(ThreadCode &code, Value tile, const SharedTile &placed, Value base, int64_t n) {
  const LinearLayout from = *layoutOf(tile);
  const auto elementBits = memoryBits(tile::elementTypeOf(tile.getType()));
  const auto &held = code.held(tile);
  SharedPlaces places(code, placed.placesOf(from), base, When::InEachTurn);
  OpBuilder::InsertionGuard guard(code.builder);
  if (Value isFirst = code.isFirstReplica(from)) {
    auto only = code.builder.create<scf::IfOp>(code.loc, isFirst, /*withElseRegion=*/false);
    code.builder.setInsertionPointToStart(&only.getThenRegion().front());
  }
  for (int64_t reg = 0; reg < static_cast<int64_t>(held.size()); reg += n) {
    if (ThreadCode::isRepeatedRegister(from, reg)) {
      continue;
    }
    const unsigned bits = n == 1 ? elementBits : 32;
    const auto words = packWords(
        code, ArrayRef<Value>(held).slice(static_cast<size_t>(reg), static_cast<size_t>(n)), bits);
    const auto [address, offset] = places.at(reg);
    code.storeWords(address, offset, words, bits);
  }
}

/// Writes the tile to shared memory as the conversion says. Returns the address of the first byte.
static Value publishSwizzled(ThreadCode &code, Value tile, const SharedTile &placed,
                             const Conversion &conversion) {
  code.reserveShared(placed.bytes());
  Value base = code.sharedAddress(code.constant(0));
  code.barrier(); // what was staged before has been read
  storeSwizzled(code, tile, placed, base, conversion.vector);
  code.barrier();
  return base;
}

ThreadCode::Held exchangedForMatrixUnit(ThreadCode &code, Value tile, const LinearLayout &to,
                                        const Conversion &conversion) {
  const Type type = tile::elementTypeOf(tile.getType());
  const int64_t fastest = conversion.fastest;
  const SharedTile placed(to.shape(), 2, fastest);
  Value base = publishSwizzled(code, tile, placed, conversion);
  MatrixReader reader(code, to, placed, fastest, base, When::InEachTurn);
  ThreadCode::Held result;
  for (int64_t word = 0; word < to.count(Holder::Register) / 2; ++word) {
    const auto two = unpackWord(code, reader.word(word), 2, type);
    result.append(two.begin(), two.end());
  }
  return result;
}

ThreadCode::Held exchangedInVectors(ThreadCode &code, Value tile, const LinearLayout &to,
                                    const Conversion &conversion) {
  const Type type = threadType(tile::elementTypeOf(tile.getType()));
  const int64_t bytes = memoryBits(type) / 8, n = conversion.readVector;
  const SharedTile placed(to.shape(), bytes, conversion.fastest);
  Value base = publishSwizzled(code, tile, placed, conversion);
  SharedPlaces places(code, placed.placesOf(to), base, When::InEachTurn);
  ThreadCode::Held result;
  for (int64_t reg = 0; reg < to.count(Holder::Register); reg += n) {
    const auto [address, offset] = places.at(reg);
    const int64_t wordBytes = std::min<int64_t>(n * bytes, 4);
    for (Value word : code.loadWords(address, offset, n * bytes / wordBytes,
                                     static_cast<unsigned>(8 * wordBytes))) {
      const auto elements = unpackWord(code, word, static_cast<size_t>(wordBytes / bytes), type);
      result.append(elements.begin(), elements.end());
    }
  }
  return result;
}

} // namespace nereid::nvidia
