// SPDX-License-Identifier: Apache-2.0
// Which type an operator gives, written down from upstream's documentation ("Triton Semantics",
// type promotion) and checked against its front end: tables for values that have a type, and the
// rules for literals.
#pragma once

#include "test/tables/Scalar.h"

namespace nereid::tables {

/// The types in the tables' order, 8-bit floats apart.
const std::vector<DType> &tableTypes();

/// What an operand is turned into; nothing where upstream refuses the pair. `op` is an operator,
/// "where yes" or "where no" by the condition, or "max" or "min", with " nan" when they pass NaN
/// on.
std::optional<DType> computationType(const std::string &op, DType a, DType b);
/// Bool for comparisons, otherwise the type it is computed in.
std::optional<DType> resultType(const std::string &op, DType a, DType b);
/// The operator applied to operands as the kernel holds them.
std::optional<Scalar> evaluate(const std::string &op, Scalar a, Scalar b);

/// A number in the source text.
struct Literal {
  std::string text;
  enum class Kind { Bool, Integer, Float } kind;
  __int128 whole = 0;
  double real = 0;
};

std::vector<Literal> literals();
/// The type of a variable that holds it.
DType typeOf(const Literal &literal);
/// The operator's result type for a literal beside a value.
std::optional<DType> resultBeside(const Literal &literal, const std::string &op, DType other,
                                  bool isLeft);
/// With the literal on the left or on the right; only where resultBeside() gives a type.
std::optional<Scalar> evaluateBeside(const Literal &literal, const std::string &op, Scalar other,
                                     bool isLeft);

} // namespace nereid::tables
