// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/linalg/ScalarBody.h"

#include "lib/importer/body/Expressions.h"
#include "lib/importer/linalg/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <fmt/format.h>

#include <algorithm>
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
      {"arith.shli", "({0} << {1})"},
      {"arith.shrsi", "({0} >> {1})"},
      {"arith.floordivsi", "({0} // {1})"},
      {"arith.ceildivsi", "(-((-{0}) // {1}))"},
      {"arith.divsi", "torch.div({0}, {1}, rounding_mode=\"trunc\")"},
      {"arith.remsi", "torch.fmod({0}, {1})"},
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

/// What operations mean of integers that have no sign, or are known to have none.
const std::map<std::string, const char *, std::less<>> &nonNegativeTexts() {
  static const std::map<std::string, const char *, std::less<>> table = {
      {"arith.divsi", "({0} // {1})"},
      {"arith.divui", "({0} // {1})"},
      {"arith.ceildivui", "(-((-{0}) // {1}))"},
      {"arith.remsi", "({0} % {1})"},
      {"arith.remui", "({0} % {1})"},
      {"arith.shrui", "({0} >> {1})"},
      {"arith.maxui", "torch.maximum({0}, {1})"},
      {"arith.minui", "torch.minimum({0}, {1})"},
  };
  return table;
}

/// What operations mean of single bits: they wrap, and the only bit is the sign.
const std::map<std::string, const char *, std::less<>> &bitTexts() {
  static const std::map<std::string, const char *, std::less<>> table = {
      {"arith.addi", "({0} ^ {1})"},
      {"arith.subi", "({0} ^ {1})"},
      {"arith.muli", "({0} & {1})"},
      {"arith.andi", "({0} & {1})"},
      {"arith.ori", "({0} | {1})"},
      {"arith.xori", "({0} ^ {1})"},
      {"arith.maxsi", "({0} & {1})"},
      {"arith.minsi", "({0} | {1})"},
      {"arith.maxui", "({0} | {1})"},
      {"arith.minui", "({0} & {1})"},
      {"arith.select", "torch.where({0}, {1}, {2})"},
  };
  return table;
}

/// What a comparison of floats is in Python; "" for those that treat NaN otherwise.
std::string comparison(mlir::arith::CmpFPredicate predicate) {
  using Float = mlir::arith::CmpFPredicate;
  switch (predicate) {
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

/// Of integers; "" for unsigned ones unless both are known to be `nonNegative`.
std::string comparison(mlir::arith::CmpIPredicate predicate, bool nonNegative) {
  using Integer = mlir::arith::CmpIPredicate;
  switch (predicate) {
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
  case Integer::ult:
    return nonNegative ? "<" : "";
  case Integer::ule:
    return nonNegative ? "<=" : "";
  case Integer::ugt:
    return nonNegative ? ">" : "";
  case Integer::uge:
    return nonNegative ? ">=" : "";
  }
  return "";
}

/// Whether the operation makes no negative number of none; sums and products that wrap have fewer
/// bits than sizes and indices.
bool staysNonNegative(mlir::Operation &operation) {
  namespace arith = mlir::arith;
  const mlir::Type type = operation.getResult(0).getType();
  const bool isWide = type.isIndex() || type.isInteger(64);
  return (isWide && mlir::isa<arith::AddIOp, arith::MulIOp>(operation)) ||
         mlir::isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
                   arith::CeilDivUIOp, arith::RemSIOp, arith::RemUIOp, arith::AndIOp, arith::OrIOp,
                   arith::ShRSIOp, arith::ShRUIOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp,
                   arith::MinUIOp, arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
                   arith::ExtUIOp>(operation);
}

bool isBit(mlir::Type type) { return type.isInteger(1); }

/// {0}, {1} and {2} are the operands; "" where bodies have nothing for it.
std::string formOf(mlir::Operation &operation, bool nonNegative) {
  const std::string name = operation.getName().getStringRef().str();
  const bool areBits = operation.getNumOperands() > 0 &&
                       isBit(operation.getOperand(operation.getNumOperands() - 1).getType());
  std::string word;
  if (auto floats = mlir::dyn_cast<mlir::arith::CmpFOp>(operation)) {
    word = comparison(floats.getPredicate());
  } else if (auto integers = mlir::dyn_cast<mlir::arith::CmpIOp>(operation)) {
    word = comparison(integers.getPredicate(), nonNegative);
    word = areBits && word != "==" && word != "!=" ? "" : word;
  }
  if (!word.empty()) {
    return "({0} " + word + " {1})";
  }
  for (const auto *table : {&bitTexts(), &nonNegativeTexts(), &texts()}) {
    const bool isMeant = table == &bitTexts()           ? areBits
                         : table == &nonNegativeTexts() ? nonNegative && !areBits
                                                        : !areBits;
    if (auto found = table->find(name); isMeant && found != table->end()) {
      return found->second;
    }
  }
  return "";
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

std::optional<Scalar> constantOf(mlir::Attribute value) {
  if (auto dense = mlir::dyn_cast_or_null<mlir::DenseElementsAttr>(value)) {
    value = dense.isSplat() ? dense.getSplatValue<mlir::Attribute>() : mlir::Attribute();
  }
  if (auto number = mlir::dyn_cast_or_null<mlir::FloatAttr>(value)) {
    return Scalar{numberText(number.getValueAsDouble()), value};
  }
  auto integer = mlir::dyn_cast_or_null<mlir::IntegerAttr>(value);
  if (!integer || integer.getValue().getBitWidth() > 64) {
    return std::nullopt;
  }
  if (integer.getValue().getBitWidth() == 1) {
    return Scalar{"", value};
  }
  const int64_t whole = integer.getValue().getSExtValue();
  return Scalar{fmt::format("{}{}{}", whole < 0 ? "(" : "", whole, whole < 0 ? ")" : ""), value,
                false, whole >= 0};
}

const Scalar *ScalarBody::find(mlir::Value value) const {
  auto found = scalars.find(value);
  return found != scalars.end() ? &found->second : outside ? outside->find(value) : nullptr;
}

Status ScalarBody::refuse(mlir::Operation &operation) const {
  const std::string name = operation.getName().getStringRef().str();
  const bool hasForms = name.starts_with("arith.cmp");
  return linalgError(operation.getLoc(), file, text,
                     fmt::format("bodies of definitions have nothing for '{}'{}", name,
                                 hasForms                  ? " with this predicate"
                                 : isConversion(operation) ? " between these types"
                                                           : ""))
      .withHelp("docs/models.md lists the operations that can be imported");
}

/// What MLIR itself knows the value of: operations on constants, and those that a constant leaves
/// without effect, which is all that may be said of constants of one bit.
bool ScalarBody::addFolded(mlir::Operation &operation) {
  llvm::SmallVector<mlir::Attribute> constants;
  for (mlir::Value operand : operation.getOperands()) {
    const Scalar *known = find(operand);
    constants.push_back(known ? known->number : mlir::Attribute());
  }
  if (std::none_of(constants.begin(), constants.end(), [](auto one) { return bool(one); })) {
    return false;
  }
  auto narrow = mlir::dyn_cast<mlir::arith::TruncFOp>(operation);
  if (narrow && !narrow.getRoundingmode()) {
    // MLIR leaves what is rounded as it is.
    auto type = mlir::dyn_cast<mlir::FloatType>(narrow.getType());
    auto number = mlir::dyn_cast<mlir::FloatAttr>(constants[0]);
    if (!type || !number) {
      return false;
    }
    llvm::APFloat value = number.getValue();
    bool isInexact = false;
    value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &isInexact);
    scalars[narrow] = *constantOf(mlir::FloatAttr::get(type, value));
    return true;
  }
  llvm::SmallVector<mlir::OpFoldResult> folded;
  if (mlir::failed(operation.fold(constants, folded)) || folded.size() != 1) {
    return false;
  }
  std::optional<Scalar> result;
  if (auto value = mlir::dyn_cast<mlir::Value>(folded[0])) {
    const Scalar *known = find(value);
    result = known ? std::optional(*known) : std::nullopt;
  } else {
    result = constantOf(mlir::cast<mlir::Attribute>(folded[0]));
  }
  if (result) {
    scalars[operation.getResult(0)] = *result;
  }
  return result.has_value();
}

Status ScalarBody::add(mlir::Operation &operation) {
  if (auto constant = mlir::dyn_cast<mlir::arith::ConstantOp>(operation)) {
    auto number = constantOf(constant.getValue());
    if (!number) {
      return refuse(operation);
    }
    scalars[constant.getResult()] = *number;
    return Done{};
  }
  if (operation.getNumResults() != 1) {
    return refuse(operation);
  }
  bool nonNegative = true;
  for (mlir::Value operand : operation.getOperands()) {
    const Scalar *known = find(operand);
    if (!known) {
      return linalgError(operation.getLoc(), file, text,
                         fmt::format("'{}' reads a value that is no element of a tensor",
                                     operation.getName().getStringRef().str()));
    }
    nonNegative &= known->isNonNegative;
  }
  if (addFolded(operation)) {
    return Done{};
  }
  // Constants of one bit have no text: by 0 the exclusive or is folded, by 1 it inverts.
  const bool isInverted = mlir::isa<mlir::arith::XOrIOp>(operation) &&
                          isBit(operation.getResult(0).getType()) &&
                          find(operation.getOperand(1))->text.empty();
  std::string form = isConversion(operation)
                         ? conversionText(operation, *find(operation.getOperand(0)))
                     : isInverted ? "torch.logical_not({0})"
                                  : formOf(operation, nonNegative);
  for (size_t operand = 0; operand < operation.getNumOperands() - (isInverted ? 1 : 0); ++operand) {
    if (find(operation.getOperand(operand))->text.empty()) {
      form.clear();
    }
  }
  return form.empty() ? refuse(operation) : addForm(operation, std::move(form));
}

Status ScalarBody::addForm(mlir::Operation &operation, std::string form) {
  Scalar result;
  result.isNonNegative = staysNonNegative(operation);
  bool hasTensorElements = false;
  for (auto [number, operand] : llvm::enumerate(operation.getOperands())) {
    const Scalar &value = *find(operand);
    result.isTensor |= value.isTensor;
    result.isNonNegative &= value.isNonNegative;
    hasTensorElements |=
        value.isTensor && (number > 0 || !mlir::isa<mlir::arith::SelectOp>(operation));
  }
  if (!isConversion(operation)) {
    for (size_t at = form.find('{'); at != std::string::npos; at = form.find('{', at)) {
      const auto operand = static_cast<unsigned>(form[at + 1] - '0');
      const std::string &value = find(operation.getOperand(operand))->text;
      form.replace(at, 3, value);
      at += value.size();
    }
  }
  result.isNonNegative |= mlir::isa<mlir::arith::ExtUIOp>(operation);
  // Of two numbers PyTorch makes its own type.
  const mlir::Type type = operation.getResult(0).getType();
  if (result.isTensor && !hasTensorElements && dtypeOf(type)) {
    form += fmt::format(".to({})", typeText(type));
  }
  // Each use repeats its operands: a chain of squares doubles with every link.
  if (form.size() > longestExpression) {
    return linalgError(operation.getLoc(), file, text,
                       fmt::format("the expression up to '{}' has more than {} characters",
                                   operation.getName().getStringRef().str(), longestExpression))
        .withHelp("spread it over several operations of linalg");
  }
  result.text = form;
  scalars[operation.getResult(0)] = result;
  return Done{};
}

} // namespace nereid::importer
