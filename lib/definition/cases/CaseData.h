// SPDX-License-Identifier: Apache-2.0
// The numbers an operator is tried on: ordinary, of every magnitude its type has, special, and
// arranged so that a kernel that leaves out part of its work gives something else.
#pragma once

#include "lib/definition/constraints/Constraint.h"
#include "runtime/tensor/Tensor.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::definition {

enum class DataKind : uint8_t {
  Normal,       ///< standard normal
  Scaled,       ///< normal, times one magnitude of the type's range
  Decades,      ///< every number of a decade of its own
  Special,      ///< normal; a row has one infinity, or one of the other sign, or one NaN, or zeros
  Negative,     ///< zeros and negative numbers
  Zeros,        ///< of both signs
  Ones,         ///< the same everywhere
  ConstantRows, ///< one number per row
  SortedRows,   ///< rows that rise; the last numbers of two of three stand out
  Cancelling,   ///< rows whose large numbers add up to nothing
};
constexpr int dataKindCount = 10;

struct Data {
  DataKind kind = DataKind::Normal;
  /// Scaled and Decades: what part of the type's range of exponents is used, from -1, its smallest
  /// subnormal number, to 1, a tenth of its largest number. Cancelling: of a thousand.
  /// Ones: how far around 1 they lie, with both signs; 0 = all are 1.
  double range = 0;
  /// Special: what the first row has, of an infinity, the other, NaN and zeros; rows go on in turn.
  /// From specialTurns on the same again, at other places.
  int turn = 0;
  /// Special: seeds the places, so that tensors have them in common; 0: the tensor's own seed does.
  uint64_t places = 0;
};
constexpr int specialTurns = 4;
/// The turn in which the first element is NaN; of an only row it is another one elsewhere in
/// nanFirst + specialTurns.
constexpr int nanFirst = 2;
/// So many from nanFirst on show few rows all that many rows show in one.
constexpr int turnsOfFewRows = specialTurns + 1;

std::string_view name(DataKind kind, DType dtype = DType::F32);
/// With the magnitude, where it has one.
std::string name(const Data &data, DType dtype = DType::F32);

/// Fills any float, integer or bool tensor of any strides; a row is what lies along the last
/// dimension. Numbers outside of `allowed` are moved into it; NaN stays. `normal`, where it is
/// given, holds what runtime::fillNormal makes of the seed, contiguous as the tensor is.
void fillData(const runtime::Tensor &tensor, const Data &data, uint64_t seed,
              const ValueRange &allowed, const runtime::Tensor *normal = nullptr);
/// The same for integers and bool. Their magnitudes reach the ends of the type's range, and so do
/// their special numbers.
void fillIntegerData(const runtime::Tensor &tensor, const Data &data, uint64_t seed,
                     const ValueRange &allowed);

/// A number that follows from the seed and another one.
uint64_t hashed(uint64_t seed, int64_t number);

} // namespace nereid::definition
