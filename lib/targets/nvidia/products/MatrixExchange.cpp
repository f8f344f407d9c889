// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/products/MatrixReader.h"
#include "lib/targets/nvidia/products/Products.h"
#include "lib/targets/nvidia/threads/Staging.h"
#include "lib/targets/nvidia/threads/Words.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

/// How many registers from a multiple on are neighbours along the dimension; 8 at most.
static int64_t neighboursAlong(const LinearLayout &layout, int64_t dim) {
  const int64_t unit = dim == 1 ? 1 : layout.shape()[1];
  int64_t count = 1;
  for (int64_t basis : layout.bases(Holder::Register)) {
    if (basis != count * unit || count == 8) {
      break;
    }
    count *= 2;
  }
  return count;
}

/// Writes the tile to shared memory, in vectors of what neighbours along `fastest` a thread has.
/// Returns the address of the first byte.
static Value publishSwizzled(ThreadCode &code, Value tile, const SharedTile &placed,
                             int64_t fastest) {
  const LinearLayout from = *layoutOf(tile);
  const auto elementBits = memoryBits(tile::elementTypeOf(tile.getType()));
  code.reserveShared(placed.bytes());
  Value base = code.sharedAddress(code.constant(0));
  const auto &held = code.held(tile);
  const int64_t n =
      std::min<int64_t>(neighboursAlong(from, fastest), 128 / static_cast<int64_t>(elementBits));
  SharedPlaces places(code, placed.placesOf(from), base);
  code.barrier(); // what was staged before has been read
  OpBuilder::InsertionGuard guard(code.builder);
  Operation *branch = nullptr;
  if (Value isFirst = code.isFirstReplica(from)) {
    auto only = code.builder.create<scf::IfOp>(code.loc, isFirst, /*withElseRegion=*/false);
    code.builder.setInsertionPointToStart(&only.getThenRegion().front());
    branch = only;
  }
  for (int64_t reg = 0; reg < static_cast<int64_t>(held.size()); reg += n) {
    if (ThreadCode::isRepeatedRegister(from, reg)) {
      continue;
    }
    const auto words = packWords(
        code, ArrayRef<Value>(held).slice(static_cast<size_t>(reg), static_cast<size_t>(n)),
        n == 1 ? elementBits : 32);
    const auto [address, offset] = places.at(reg);
    code.storeWords(address, offset, words);
  }
  if (branch) {
    code.builder.setInsertionPointAfter(branch);
  }
  code.barrier();
  return base;
}

std::optional<ThreadCode::Held> exchangedForMatrixUnit(ThreadCode &code, Value tile,
                                                       const LinearLayout &to) {
  const Type type = tile::elementTypeOf(tile.getType());
  const LinearLayout from = *layoutOf(tile);
  const auto shape = from.shape();
  if (shape.size() != 2 || isa<tile::PtrType>(type) || type.getIntOrFloatBitWidth() != 16) {
    return std::nullopt;
  }
  const int64_t fastest = neighboursAlong(from, 0) > neighboursAlong(from, 1) ? 0 : 1;
  if (shape[static_cast<size_t>(fastest)] < 8 || shape[static_cast<size_t>(1 - fastest)] < 8 ||
      shape[0] * shape[1] * 2 > code.mostStaged() || !matrixRowsOf(to, fastest)) {
    return std::nullopt;
  }
  const SharedTile placed(shape, 2, fastest);
  Value base = publishSwizzled(code, tile, placed, fastest);
  MatrixReader reader(code, to, placed, fastest, base);
  ThreadCode::Held result;
  for (int64_t word = 0; word < to.count(Holder::Register) / 2; ++word) {
    const auto two = unpackWord(code, reader.word(word), 2, type);
    result.append(two.begin(), two.end());
  }
  return result;
}

std::optional<ThreadCode::Held> exchangedInVectors(ThreadCode &code, Value tile,
                                                   const LinearLayout &to) {
  const Type type = threadType(tile::elementTypeOf(tile.getType()));
  const auto shape = to.shape();
  const int64_t bytes = memoryBits(type) / 8;
  if (shape.size() != 2 || (bytes != 2 && bytes != 4)) {
    return std::nullopt;
  }
  const int64_t fastest = neighboursAlong(to, 0) > neighboursAlong(to, 1) ? 0 : 1;
  const int64_t n = std::min<int64_t>(neighboursAlong(to, fastest), 16 / bytes);
  if (n * bytes < 8 || shape[static_cast<size_t>(fastest)] * bytes < 16 ||
      shape[0] * shape[1] * bytes > code.mostStaged()) {
    return std::nullopt;
  }
  const SharedTile placed(shape, bytes, fastest);
  Value base = publishSwizzled(code, tile, placed, fastest);
  SharedPlaces places(code, placed.placesOf(to), base);
  ThreadCode::Held result;
  for (int64_t reg = 0; reg < to.count(Holder::Register); reg += n) {
    const auto [address, offset] = places.at(reg);
    for (Value word : code.loadWords(address, offset, n * bytes / 4)) {
      const auto elements = unpackWord(code, word, static_cast<size_t>(4 / bytes), type);
      result.append(elements.begin(), elements.end());
    }
  }
  return result;
}

} // namespace nereid::nvidia
