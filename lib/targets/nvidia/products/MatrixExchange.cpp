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
      shape[0] * shape[1] * 2 > mostStagedBytes || !matrixRowsOf(to, fastest)) {
    return std::nullopt;
  }
  const SharedTile placed(shape, 2, fastest);
  code.reserveShared(placed.bytes());
  Value base = code.sharedAddress(code.constant(0));
  const auto &held = code.held(tile);
  const int64_t n = neighboursAlong(from, fastest);
  SharedPlaces places(code, placed.placesOf(from), base);
  code.barrier(); // what was staged before has been read
  for (int64_t reg = 0; reg < static_cast<int64_t>(held.size()); reg += n) {
    if (ThreadCode::isRepeatedRegister(from, reg)) {
      continue;
    }
    const auto words = packWords(
        code, ArrayRef<Value>(held).slice(static_cast<size_t>(reg), static_cast<size_t>(n)),
        n == 1 ? 16 : 32);
    const auto [address, offset] = places.at(reg);
    code.storeWords(address, offset, words);
  }
  code.barrier();
  MatrixReader reader(code, to, placed, fastest, base);
  ThreadCode::Held result;
  for (int64_t word = 0; word < to.count(Holder::Register) / 2; ++word) {
    const auto two = unpackWord(code, reader.word(word), 2, type);
    result.append(two.begin(), two.end());
  }
  return result;
}

} // namespace nereid::nvidia
