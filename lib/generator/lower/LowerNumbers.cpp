// SPDX-License-Identifier: Apache-2.0
// Numbers of the text and of sizes, tensors made of them, and values in another type.
#include "lib/definition/operations/Signs.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/generator/lower/Lowerer.h"
#include "lib/generator/lower/Moves.h"
#include "lib/language/syntax/Parser.h"

#include <algorithm>
#include <cmath>

namespace nereid::generator {

using definition::OperandKind;

static double roundedTo(DType type, double value) {
  uint64_t element = 0;
  storeFromDouble(&element, type, value);
  return loadAsDouble(&element, type);
}

/// The element's number, or the operand as it is stored in the result's type.
Lowered Lowerer::created(const GraphNode &node, const std::vector<Lowered> &in) {
  Lowered result;
  result.dtype = definition::createdDtype(node, dtype);
  result.isNonNegative = node.op == "arange";
  Shape shape;
  for (const definition::Dim &dim : node.shape) {
    const std::optional<Polynomial> size =
        dim.isRest() ? std::optional(sizes.at(dim.symbol))
                     : sizeIn(program, sizes, definition::SizePolynomial::of(dim));
    if (!size) {
      throw Unsupported{node.op};
    }
    shape.push_back(*size);
  }
  const DType type = computed(result.dtype);
  if (node.op == "arange") {
    const std::vector<Polynomial> strides = contiguousStrides(shape);
    result.tensor = make.make(shape, type, [this, strides, type](const Point &point) {
      Affine number;
      for (size_t dim = 0; dim < point.size(); ++dim) {
        number = number + point[dim] * strides[dim];
      }
      const Node *index = program.nodes.index(number);
      return index->dtype == type ? index : program.nodes.map("cast", type, {index});
    });
    return result;
  }
  const Lazy value = in[0].isNumber() ? make.constant(numberOf(in[0], result.dtype))
                     : result.dtype == DType::Bool
                         ? asCondition(in[0])
                         : make.cast(make.cast(in[0].tensor, result.dtype), type);
  result.tensor = make.make(shape, type, [value](const Point &) { return value.at(Point()); });
  return result;
}

/// A number of the text as it is stored in a type, in the type that computes with it.
const Node *Lowerer::numberOf(const Lowered &number, DType storage) {
  const DType type = computed(storage);
  if (storage == DType::Bool) {
    return program.nodes.integer(number.real != 0 ? 1 : 0, type);
  }
  return isFloat(storage) ? program.nodes.real(roundedTo(storage, number.real), type)
                          : program.nodes.integer(wholeOf(number, storage), type);
}

Lowered Lowerer::sizeNumber(const GraphNode &node) {
  Diagnostics diags;
  const language::ExprPtr expr =
      language::parseExpression("size", definition::sizeText(node), diags);
  Lowered result;
  result.kind = definition::operandKind(node);
  result.dtype = result.kind == OperandKind::Whole ? DType::I64 : computed(dtype);
  const bool ofInputs = definition::hasNumberInputs(node);
  const std::optional<Polynomial> whole = polynomialOf(*expr);
  const bool isQuotient = !whole && !ofInputs && result.kind == OperandKind::Whole;
  const auto quotient =
      isQuotient ? definition::sizePolynomial(*expr) : std::optional<definition::SizePolynomial>();
  const std::optional<Polynomial> symbol =
      quotient ? sizeIn(program, sizes, *quotient) : std::nullopt;
  if (whole || symbol) {
    result.tensor = make.cast(wholeTensor(whole ? *whole : *symbol), result.dtype);
  } else {
    const DType real = isFloat(dtype) ? computed(dtype) : DType::F32;
    const bool isWhole = result.kind == OperandKind::Whole;
    result.tensor = numberTensor(*expr, isWhole ? DType::I64 : real);
  }
  return result;
}

Lazy Lowerer::wholeTensor(const Polynomial &value) {
  return make.constant(program.nodes.index(Affine(value)));
}

/// Sums and products of sizes.
std::optional<Polynomial> Lowerer::polynomialOf(const language::Expr &expr) const {
  using language::ExprKind;
  if (expr.kind == ExprKind::Integer) {
    return Polynomial(expr.integer);
  }
  if (expr.kind == ExprKind::Name) {
    const auto found = sizes.find(expr.text);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  }
  if (expr.kind != ExprKind::Unary && expr.kind != ExprKind::Binary) {
    return std::nullopt;
  }
  std::vector<Polynomial> in;
  for (const language::ExprPtr &operand : expr.operands) {
    std::optional<Polynomial> each = polynomialOf(*operand);
    if (!each) {
      return std::nullopt;
    }
    in.push_back(*each);
  }
  if (expr.kind == ExprKind::Unary) {
    return -in[0];
  }
  if (expr.text == "**") {
    return powerOf(in[0], in[1]);
  }
  return expr.text == "+"   ? std::optional(in[0] + in[1])
         : expr.text == "-" ? std::optional(in[0] - in[1])
         : expr.text == "*" ? std::optional(in[0] * in[1])
                            : std::nullopt;
}

std::optional<Polynomial> Lowerer::powerOf(const Polynomial &base, const Polynomial &exponent) {
  constexpr int64_t highest = 8;
  const std::optional<int64_t> times = exponent.constant();
  if (!times || *times < 0 || *times > highest) {
    return std::nullopt;
  }
  Polynomial result = 1;
  for (int64_t i = 0; i < *times; ++i) {
    result = result * base;
  }
  return result;
}

/// With a fraction, or of number inputs: computed in the kernel.
Lazy Lowerer::numberTensor(const language::Expr &expr, DType type) {
  using language::ExprKind;
  if (const std::optional<Polynomial> whole = polynomialOf(expr)) {
    return make.cast(wholeTensor(*whole), type);
  }
  if (expr.kind == ExprKind::Binary && (expr.text == "//" || expr.text == "%")) {
    const auto quotient = definition::sizePolynomial(expr);
    if (const auto whole = quotient ? sizeIn(program, sizes, *quotient) : std::nullopt) {
      return make.cast(wholeTensor(*whole), type);
    }
  }
  switch (expr.kind) {
  case ExprKind::Name: {
    const auto input =
        std::find_if(op.parameters.begin(), op.parameters.end(),
                     [&](const definition::Parameter &each) { return each.name == expr.text; });
    if (input == op.parameters.end()) {
      throw Unsupported{"'" + expr.text + "'"};
    }
    return make.cast(parameter(*input).tensor, type);
  }
  case ExprKind::Float:
    return make.constant(program.nodes.real(expr.real, type));
  case ExprKind::Attribute:
    return make.constant(program.nodes.real(INFINITY, type));
  case ExprKind::Unary:
    return make.map("neg", {numberTensor(*expr.operands[0], type)});
  case ExprKind::Call: {
    const std::string &function = expr.operands[0]->text;
    Lazy operand = numberTensor(*expr.operands[1], type);
    return function == "float" ? operand : make.map(function, {operand});
  }
  case ExprKind::Binary:
    if (isFloat(type) && (expr.text == "//" || expr.text == "%")) { // of whole numbers alone
      return make.cast(numberTensor(expr, DType::I64), type);
    }
    if (const auto operation = definition::operationOfSign(expr.text)) {
      return make.map(*operation, {numberTensor(*expr.operands[0], type),
                                   numberTensor(*expr.operands[1], type)});
    }
    [[fallthrough]];
  default:
    throw Unsupported{"'" + expr.text + "' of sizes"};
  }
}

/// The value in a type; of a number, its constant.
Lazy Lowerer::as(const Lowered &value, DType type) {
  if (!value.isNumber()) {
    return make.cast(value.tensor, type);
  }
  return make.constant(isFloat(type) ? program.nodes.real(value.real, type)
                                     : program.nodes.integer(wholeOf(value, type), type));
}

/// A bound that is left out is infinite: no integer of the type is beyond its ends.
int64_t Lowerer::wholeOf(const Lowered &number, DType type) {
  if (std::isinf(number.real)) {
    return number.real < 0 ? definition::lowestInteger(type)
                           : static_cast<int64_t>(definition::highestInteger(type));
  }
  return number.kind == OperandKind::Whole ? number.integer : static_cast<int64_t>(number.real);
}

/// Not 0.
Lazy Lowerer::asCondition(const Lowered &value) {
  Lazy tensor = value.isNumber() ? as(value, DType::F64) : value.tensor;
  const DType type = tensor.dtype;
  const Node *zero = isFloat(type) ? program.nodes.real(0, type) : program.nodes.integer(0, type);
  return type == DType::Bool ? tensor : make.map("ne", {tensor, make.constant(zero)});
}

/// Rounded to the type, unless nothing can be lost; what is shorter than what is computed in
/// stays as it is stored.
Lowered Lowerer::converted(const Lowered &from, DType type) {
  Lowered result;
  result.dtype = type;
  result.isNonNegative = from.isNonNegative && isFloat(from.dtype) == isFloat(type) &&
                         sizeInBytes(type) >= sizeInBytes(from.dtype);
  if (isFloat(from.dtype) && definition::holdsAll(type, from.dtype)) {
    result.tensor = make.cast(from.tensor, computed(type));
    return result;
  }
  // Float64 goes by way of float32, which the language's conversions to 8 bits expect.
  const bool isByFloat = isFloat8(type) || (isFloat(type) && from.dtype == DType::F64);
  const Lazy given = make.cast(from.tensor, isByFloat ? DType::F32 : computed(from.dtype));
  result.tensor = make.cast(given, type);
  return result;
}

const Node *Lowerer::zeroOf(DType type) {
  return isFloat(type) ? program.nodes.real(0, type) : program.nodes.integer(0, type);
}

} // namespace nereid::generator
