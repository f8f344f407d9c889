// SPDX-License-Identifier: Apache-2.0
// Where the elements of a matrix lie in shared memory, so that neither those who write vectors of
// 16 bytes nor matrix instructions meet in a bank: 16-byte chunks of a row change places with the
// number of the row (PTX ISA, "Shared memory matrix layout": swizzles of 128, 64 and 32 bytes).
#pragma once

#include "lib/layout/LinearLayout.h"

namespace nereid::nvidia {

class SharedTile {
public:
  /// `fastest` is the dimension of the two that memory runs along; it has 16 bytes at least.
  SharedTile(layout::LinearLayout::Shape shape, int64_t elementBytes, int64_t fastest);

  int64_t bytes() const;
  /// Byte of an element, by its row-major number; linear over the bits of the number.
  int64_t placeOf(int64_t element) const;
  /// The bytes, instead of the elements, that a layout of the tile holds.
  layout::LinearLayout placesOf(const layout::LinearLayout &elements) const;
  /// From one row of bytes along `fastest` to the next one.
  int64_t rowBytes() const;

private:
  layout::LinearLayout::Shape shape;
  int64_t elementBytes, fastest;
};

} // namespace nereid::nvidia
