// SPDX-License-Identifier: Apache-2.0
// Type promotion of the kernel language: a literal takes the other operand's type unless it is of a
// higher kind (bool < integer < float); otherwise the wider float wins, and integers follow C.
// Upstream's comparisons and most of its functions make a scalar of a literal first; see
// literalAsScalar().
#pragma once

#include "lib/language/emit/tiles/TileBuilder.h"

namespace nereid::language::emit {

enum class Arithmetic { Plain, Division, Bitwise };

class Promotion {
public:
  Promotion(TileBuilder &tiles, Reporter &report) : tiles(tiles), report(report) {}

  /// Brings both to one type and shape; E0204 when there is none. The spelling is for messages.
  bool promote(Value &a, Value &b, const std::string &spelled, Arithmetic kind);
  /// Whether the type holds the literal, and the scalar that it would be, without rounding either.
  bool isExactly(const Value &literal, DType type);

private:
  bool checkLiteral(const Value &value, DType type);

  TileBuilder &tiles;
  Reporter &report;
};

/// The one type of both; nothing when there is none.
std::optional<DType> promotedType(const Value &a, const Value &b, Arithmetic kind);
/// A literal as the scalar that a variable assigned with it holds; other values as they are.
Value literalAsScalar(Value value);

} // namespace nereid::language::emit
