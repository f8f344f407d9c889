// SPDX-License-Identifier: Apache-2.0
// One primitive operation as a Triton-language expression, with just the parentheses Python needs.
#pragma once

#include "lib/generator/Fusion.h"

#include <optional>
#include <span>
#include <string>

namespace nereid::generator {

/// How tightly an expression binds; larger binds tighter.
enum class Precedence { Comparison, BitOr, BitXor, BitAnd, Sum, Product, Unary, Atom };

struct Expression {
  std::string text;
  Precedence precedence = Precedence::Atom;
  bool isBoolean = false;
};

/// "2.0", "1e-05", `float("inf")`; "2" when asked for integers and the value is one.
Expression constantExpression(double value, bool preferInteger);

/// The operation on these operands; nothing for a name that is no pointwise primitive.
/// `computeType` is what booleans become in arithmetic; `isFloating`: it may hold NaN.
std::optional<Expression> pointwiseExpression(const std::string &op,
                                              std::span<const Expression> operands,
                                              const std::string &computeType,
                                              bool isFloating = true);

/// True when the expression uses the libdevice module.
bool needsLibdevice(const std::string &op);

} // namespace nereid::generator
