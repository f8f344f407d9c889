// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/linalg/ScalarBody.h"

#include "lib/importer/body/Expressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <fmt/format.h>

#include <map>

namespace nereid::importer {
namespace {

constexpr size_t longestExpression = 10000;

/// {0}, {1}, {2} are the operands.
const std::map<std::string, const char *, std::less<>> &texts() {
  static const std::map<std::string, const char *, std::less<>> table = {
      {"arith.addf", "({0} + {1})"},
      {"arith.addi", "({0} + {1})"},
      {"arith.subf", "({0} - {1})"},
      {"arith.subi", "({0} - {1})"},
      {"arith.mulf", "({0} * {1})"},
      {"arith.muli", "({0} * {1})"},
      {"arith.divf", "({0} / {1})"},
      {"arith.remf", "torch.fmod({0}, {1})"},
      {"arith.negf", "(-{0})"},
      {"arith.maximumf", "torch.maximum({0}, {1})"},
      {"arith.minimumf", "torch.minimum({0}, {1})"},
      {"arith.maxnumf", "torch.fmax({0}, {1})"},
      {"arith.minnumf", "torch.fmin({0}, {1})"},
      {"arith.maxsi", "torch.maximum({0}, {1})"},
      {"arith.minsi", "torch.minimum({0}, {1})"},
      {"arith.andi", "({0} & {1})"},
      {"arith.ori", "({0} | {1})"},
      {"arith.xori", "({0} ^ {1})"},
      {"arith.select", "torch.where({0}, {1}, {2})"},
      {"math.absf", "torch.abs({0})"},
      {"math.absi", "torch.abs({0})"},
      {"math.acos", "torch.acos({0})"},
      {"math.acosh", "torch.acosh({0})"},
      {"math.asin", "torch.asin({0})"},
      {"math.asinh", "torch.asinh({0})"},
      {"math.atan", "torch.atan({0})"},
      {"math.atan2", "torch.atan2({0}, {1})"},
      {"math.atanh", "torch.atanh({0})"},
      {"math.ceil", "torch.ceil({0})"},
      {"math.copysign", "torch.copysign({0}, {1})"},
      {"math.cos", "torch.cos({0})"},
      {"math.cosh", "torch.cosh({0})"},
      {"math.erf", "torch.erf({0})"},
      {"math.exp", "torch.exp({0})"},
      {"math.exp2", "torch.exp2({0})"},
      {"math.expm1", "torch.expm1({0})"},
      {"math.floor", "torch.floor({0})"},
      {"math.fma", "({0} * {1} + {2})"},
      {"math.log", "torch.log({0})"},
      {"math.log10", "torch.log10({0})"},
      {"math.log1p", "torch.log1p({0})"},
      {"math.log2", "torch.log2({0})"},
      {"math.powf", "({0} ** {1})"},
      {"math.roundeven", "torch.round({0})"},
      {"math.rsqrt", "torch.rsqrt({0})"},
      {"math.sin", "torch.sin({0})"},
      {"math.sinh", "torch.sinh({0})"},
      {"math.sqrt", "torch.sqrt({0})"},
      {"math.tan", "torch.tan({0})"},
      {"math.tanh", "torch.tanh({0})"},
      {"math.trunc", "torch.trunc({0})"},
  };
  return table;
}

/// What a comparison of floats or signed integers is in Python; "" for those that treat NaN
/// otherwise.
std::string comparison(mlir::Operation &operation) {
  using Float = mlir::arith::CmpFPredicate;
  using Integer = mlir::arith::CmpIPredicate;
  if (auto floats = mlir::dyn_cast<mlir::arith::CmpFOp>(operation)) {
    switch (floats.getPredicate()) {
    case Float::OEQ:
      return "==";
    case Float::OLT:
      return "<";
    case Float::OLE:
      return "<=";
    case Float::OGT:
      return ">";
    case Float::OGE:
      return ">=";
    case Float::UNE:
      return "!=";
    default:
      return "";
    }
  }
  switch (mlir::cast<mlir::arith::CmpIOp>(operation).getPredicate()) {
  case Integer::eq:
    return "==";
  case Integer::ne:
    return "!=";
  case Integer::slt:
    return "<";
  case Integer::sle:
    return "<=";
  case Integer::sgt:
    return ">";
  case Integer::sge:
    return ">=";
  default:
    return "";
  }
}

} // namespace

Diagnostic linalgError(mlir::Location location, const std::string &file, std::string_view text,
                       std::string message) {
  Diagnostic error = makeError("E0637", std::move(message));
  error.file = file;
  if (auto place = location->findInstanceOf<mlir::FileLineColLoc>()) {
    const int line = static_cast<int>(place.getLine()),
              column = static_cast<int>(place.getColumn());
    error.at(file, text, {line, column, column + 1});
  }
  return error;
}

std::optional<std::string> constantText(mlir::Operation *operation) {
  auto constant = mlir::dyn_cast_or_null<mlir::arith::ConstantOp>(operation);
  if (!constant) {
    return std::nullopt;
  }
  mlir::Attribute value = constant.getValue();
  if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(value)) {
    if (!dense.isSplat()) {
      return std::nullopt;
    }
    value = dense.getSplatValue<mlir::Attribute>();
  }
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(value)) {
    return numberText(number.getValueAsDouble());
  }
  auto integer = mlir::dyn_cast<mlir::IntegerAttr>(value);
  if (!integer || integer.getValue().getBitWidth() > 64 || integer.getValue().getBitWidth() == 1) {
    return std::nullopt;
  }
  const int64_t whole = integer.getValue().getSExtValue();
  return fmt::format("{}{}{}", whole < 0 ? "(" : "", whole, whole < 0 ? ")" : "");
}

Status ScalarBody::add(mlir::Operation &operation) {
  const std::string name = operation.getName().getStringRef().str();
  if (auto number = constantText(&operation)) {
    expressions[operation.getResult(0)] = *number;
    return Done{};
  }
  std::string form;
  if (name == "arith.cmpf" || name == "arith.cmpi") {
    const std::string word = comparison(operation);
    form = word.empty() ? "" : "({0} " + word + " {1})";
  } else if (auto found = texts().find(name); found != texts().end()) {
    form = found->second;
  }
  if (form.empty() || operation.getNumResults() != 1) {
    return linalgError(operation.getLoc(), file, text,
                       fmt::format("bodies of definitions have nothing for '{}'{}", name,
                                   name.starts_with("arith.cmp") ? " with this predicate" : ""))
        .withHelp("docs/models.md lists the operations that can be imported");
  }
  for (size_t at = form.find('{'); at != std::string::npos; at = form.find('{', at)) {
    const auto operand = static_cast<unsigned>(form[at + 1] - '0');
    auto found = expressions.find(operation.getOperand(operand));
    // Constants may stand outside of the operation.
    auto outside = constantText(operation.getOperand(operand).getDefiningOp());
    if (found == expressions.end() && !outside) {
      return linalgError(operation.getLoc(), file, text,
                         fmt::format("'{}' reads a value that is no element of a tensor", name));
    }
    const std::string value = found == expressions.end() ? *outside : found->second;
    form.replace(at, 3, value);
    at += value.size();
  }
  // Each use repeats its operands: a chain of squares doubles with every link.
  if (form.size() > longestExpression) {
    return linalgError(operation.getLoc(), file, text,
                       fmt::format("the expression up to '{}' has more than {} characters", name,
                                   longestExpression))
        .withHelp("spread it over several operations of linalg");
  }
  expressions[operation.getResult(0)] = form;
  return Done{};
}

} // namespace nereid::importer
