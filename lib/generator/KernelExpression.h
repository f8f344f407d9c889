// SPDX-License-Identifier: Apache-2.0
// One primitive operation as an expression of the kernel language.
#pragma once

#include "lib/generator/kernel/Tree.h"

#include <optional>
#include <span>
#include <string>

namespace nereid::generator {

struct Expression {
  kernel::Expr tree;
  bool isBoolean = false;
};

/// 2.0, 1e-05, float("inf"); 2 when asked for integers and the value is one.
kernel::Expr constantExpression(double value, bool preferInteger);

/// The operation on these operands; nothing for a name that is no pointwise primitive.
/// `computeType` is what booleans become in arithmetic; `isFloating`: it may hold NaN.
std::optional<Expression> pointwiseExpression(const std::string &op,
                                              std::span<const Expression> operands,
                                              const std::string &computeType,
                                              bool isFloating = true);

/// value.to(type).
kernel::Expr cast(kernel::Expr value, const std::string &type);

/// True of functions of two operands whose literals are float32 or int32, whatever the other
/// operand is: where another type is meant they are given theirs.
bool takesTypedOperands(const std::string &op, bool isFloating);
/// True when the expression uses the libdevice module.
bool needsLibdevice(const std::string &op, bool isFloating = true);

/// Whether pointwiseExpression knows the operation on floats, or on integers and bools.
bool hasExpression(const std::string &op, bool isFloating);

} // namespace nereid::generator
