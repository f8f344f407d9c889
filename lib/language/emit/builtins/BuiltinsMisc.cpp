// SPDX-License-Identifier: Apache-2.0
// Builtins about the program itself: ranges, hints, checks, printing, constants and the few Python
// functions kernels use.
#include "lib/language/emit/statements/LoopHints.h"
#include "lib/tile/ir/PrintDescription.h"
#include "lib/tile/ir/Promises.h"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace nereid::language::emit {

static Value rangeValue(const Bound &args, const char *name) {
  Value range;
  range.kind = Value::Kind::Range;
  range.text = name;
  bool isUpTo = args["arg2"].isNone();
  range.elements = {isUpTo ? Value::whole(0) : args["arg1"], isUpTo ? args["arg1"] : args["arg2"],
                    args["step"].isNone() ? Value::whole(1) : args["step"]};
  return range;
}

Value range(Emitter &emitter, const Bound &args) {
  Value value = rangeValue(args, "range");
  value.elements.push_back(readLoopHints(emitter, args));
  return value.elements.back().isPoison() ? Value::poison() : value;
}

Value staticRange(Emitter &emitter, const Bound &args) { return rangeValue(args, "static_range"); }

/// A hint about the loop, which has no effect here, around its condition.
Value conditionBuiltin(Emitter &emitter, const Bound &args) {
  std::optional<bool> isKept =
      emitter.constants.flag(args["disable_licm"], "'disable_licm' of 'condition'");
  return isKept ? args["arg1"] : Value::poison();
}

/// Hints are attributes of the operation that makes the value; a value without one (an argument)
/// has its own promises in the signature.
static Value hint(Emitter &emitter, const Bound &args, llvm::StringRef attribute) {
  std::optional<Shape> values = emitter.constants.shape(args["values"], "'values' of a hint");
  Value input = emitter.tiles.toTile(args["input"]);
  if (!values || input.isPoison()) {
    return Value::poison();
  }
  size_t rank = std::max<size_t>(input.tileType.shape.size(), 1);
  if (values->size() != rank) {
    return emitter.report.fail("E0229", "a hint on " + describe(input) + " expects " +
                                            std::to_string(rank) + " values, but got " +
                                            std::to_string(values->size()));
  }
  if (mlir::Operation *op = input.ssa.getDefiningOp();
      op && op->getNumResults() == 1 && !llvm::isa<mlir::arith::ConstantOp>(op)) {
    op->setAttr(attribute, emitter.tiles.builder.getDenseI64ArrayAttr(*values));
  }
  return args["input"];
}

Value multipleOf(Emitter &emitter, const Bound &args) {
  return hint(emitter, args, tile::promise::divisibility);
}

Value maxContiguous(Emitter &emitter, const Bound &args) {
  return hint(emitter, args, tile::promise::contiguity);
}

Value maxConstancy(Emitter &emitter, const Bound &args) {
  return hint(emitter, args, tile::promise::constancy);
}

Value assume(Emitter &emitter, const Bound &args) {
  const Value &given = args["cond"];
  if (std::optional<bool> known = constantTruth(given); known && *known) {
    return Value::none();
  }
  Value condition = emitter.tiles.truth(given);
  if (condition.isPoison()) {
    return condition;
  }
  emitter.tiles.create<tile::AssumeOp>(condition.ssa);
  return Value::none();
}

Value debugBarrier(Emitter &emitter, const Bound &) {
  emitter.tiles.create<tile::BarrierOp>();
  return Value::none();
}

static std::string joined(Emitter &emitter, const std::vector<Argument> &values,
                          const std::string &separator) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    Value shown = knownNumber(values[i].value).value_or(values[i].value);
    text += (i == 0 ? "" : separator) + pythonText(shown);
  }
  return text;
}

Value staticAssert(Emitter &emitter, const Bound &args) {
  std::optional<bool> holds = constantTruth(args["cond"]);
  if (!holds) {
    return emitter.report.fail(
        "E0203", "'static_assert' expects a constant condition, but got " + describe(args["cond"]),
        "use tl.device_assert for a condition known at run time");
  }
  if (!*holds) {
    const Expr *expr = args.expr("cond");
    std::string text = expr ? emitter.position.sourceText(*expr) : "";
    std::string message = args["msg"].isString() ? args["msg"].text : "";
    if (emitter.frame().module->isLibrary) { // how the library refuses its arguments
      return emitter.report.fail("E0229", message);
    }
    return emitter.report.fail("E0220", "static assertion failed" +
                                            (text.empty() ? "" : ": " + text) +
                                            (message.empty() ? "" : " (" + message + ")"));
  }
  return Value::none();
}

Value staticPrint(Emitter &emitter, const Bound &args) {
  emitter.report.remark(
      "R0201", joined(emitter, args.rest(), args["sep"].isString() ? args["sep"].text : " "));
  return Value::none();
}

Value deviceAssert(Emitter &emitter, const Bound &args) {
  Value condition = emitter.tiles.truth(args["cond"]);
  std::optional<std::string> message = emitter.constants.string(args["msg"], "'msg'");
  if (condition.isPoison() || !message) {
    return Value::poison();
  }
  if (!args["mask"].isNone()) {
    condition =
        emitter.operators.logical(false, condition, emitter.operators.unary("not", args["mask"]));
    if (condition.isPoison()) {
      return condition;
    }
  }
  emitter.tiles.create<tile::AssertOp>(condition.ssa, llvm::StringRef(*message));
  return Value::none();
}

/// Upstream's form of what stands before a value: " x: ".
static std::string printedPrefix(std::string prefix, bool hasValues) {
  if (hasValues && !prefix.ends_with(' ')) {
    prefix += ' ';
  }
  if (hasValues && !prefix.ends_with(": ")) {
    prefix.replace(prefix.size() - 1, 1, ": ");
  }
  return prefix.size() > 2 && !prefix.starts_with(' ') ? ' ' + prefix : prefix;
}

static Value printValues(Emitter &emitter, const std::string &prefix,
                         const std::vector<Argument> &values, const Value &hex) {
  std::optional<bool> isHex = emitter.constants.flag(hex, "'hex'");
  std::vector<mlir::Value> operands;
  std::vector<int64_t> unsignedOperands;
  for (const Argument &argument : values) {
    Value value = emitter.tiles.toTile(argument.value);
    if (value.isPoison()) {
      return value;
    }
    if (value.tileType.element == ElementType{DType::F8E4B15, false}) { // bytes in tile IR
      value = emitter.tiles.cast(value, {DType::F32, false});
    }
    if (!value.isPointer() && isUnsigned(value.tileType.element.dtype)) {
      unsignedOperands.push_back(static_cast<int64_t>(operands.size()));
    }
    operands.push_back(value.ssa);
  }
  if (!isHex) {
    return Value::poison();
  }
  auto print = emitter.tiles.create<tile::PrintOp>(
      llvm::StringRef(printedPrefix(prefix, !values.empty())), *isHex, mlir::ValueRange(operands));
  if (!unsignedOperands.empty()) {
    print->setAttr(tile::unsignedOperands,
                   emitter.tiles.builder.getDenseI64ArrayAttr(unsignedOperands));
  }
  return Value::none();
}

Value devicePrint(Emitter &emitter, const Bound &args) {
  std::optional<std::string> prefix =
      emitter.constants.string(args["prefix"], "'prefix' of 'device_print'");
  return prefix ? printValues(emitter, *prefix, args.rest(), args["hex"]) : Value::poison();
}

Value pyPrint(Emitter &emitter, const Bound &args) {
  std::vector<Argument> values = args.rest();
  std::string prefix;
  if (!values.empty() && values[0].value.isString()) {
    prefix = values[0].value.text;
    values.erase(values.begin());
  }
  return printValues(emitter, prefix, values, args["hex"]);
}

Value constexprBuiltin(Emitter &emitter, const Bound &args) {
  Value value = knownNumber(args["value"]).value_or(args["value"]);
  value.bound.reset();
  if (value.isTile()) {
    return emitter.report.fail("E0203",
                               "'constexpr' expects a constant, but got " + describe(value));
  }
  return value;
}

Value dtypeBuiltin(Emitter &emitter, const Bound &args) {
  std::optional<ElementType> type = emitter.constants.type(args["name"], "'dtype'");
  return type ? Value::type(*type) : Value::poison();
}

Value pointerType(Emitter &emitter, const Bound &args) {
  std::optional<ElementType> type = emitter.constants.type(args["element_ty"], "'pointer_type'");
  if (type && type->isPointer) {
    return emitter.report.fail("E0310", "pointers to pointers are not supported yet");
  }
  return type ? Value::type({type->dtype, true}) : Value::poison();
}

Value toTensor(Emitter &emitter, const Bound &args) { return emitter.tiles.toTile(args["x"]); }

Value tupleBuiltin(Emitter &emitter, const Bound &args) {
  const Value &x = args["args"];
  return x.isTuple() ? x
                     : emitter.report.fail("E0204", "'tuple' expects a tuple or a list, but got " +
                                                        describe(x));
}

Value pyLen(Emitter &emitter, const Bound &args) {
  const Value &x = args["x"];
  if (x.isTuple() || x.isString()) {
    return Value::whole(static_cast<Integer>(x.isTuple() ? x.elements.size() : x.text.size()));
  }
  return emitter.report.fail("E0204", "'len' expects a tuple or a string, but got " + describe(x));
}

Value pyInt(Emitter &emitter, const Bound &args) {
  const Value &x = args["x"];
  std::optional<Value> known = knownNumber(x);
  if (!known) {
    return x.isTile()
               ? emitter.tiles.cast(x, {DType::I32, false})
               : emitter.report.fail("E0204", "'int' expects a number, but got " + describe(x));
  }
  if (known->isWhole()) {
    return Value::whole(known->integer);
  }
  if (!std::isfinite(known->real) || std::fabs(known->real) >= 0x1p120) {
    return emitter.report.fail("E0222",
                               "'int' of " + pythonText(*known) + " does not fit an integer");
  }
  return Value::whole(static_cast<Integer>(known->real));
}

Value pyFloat(Emitter &emitter, const Bound &args) {
  const Value &x = args["x"];
  if (std::optional<Value> known = knownNumber(x)) {
    return Value::floating(known->asReal());
  }
  if (x.isString()) {
    char *end = nullptr;
    double value = std::strtod(x.text.c_str(), &end);
    if (!x.text.empty() && *end == '\0') {
      return Value::floating(value);
    }
  }
  return x.isTile()
             ? emitter.tiles.cast(x, {DType::F32, false})
             : emitter.report.fail("E0204", "'float' expects a number, but got " + describe(x));
}

Value pyBool(Emitter &emitter, const Bound &args) {
  if (std::optional<bool> known = constantTruth(args["x"])) {
    return Value::boolean(*known);
  }
  return emitter.tiles.truth(args["x"]);
}

Value pyStr(Emitter &emitter, const Bound &args) {
  return Value::string(pythonText(knownNumber(args["x"]).value_or(args["x"])));
}

Value pyRepr(Emitter &emitter, const Bound &args) {
  return Value::string(pythonRepresentation(knownNumber(args["x"]).value_or(args["x"])));
}

Value pyFormat(Emitter &emitter, const Bound &args) {
  if (!args["spec"].isString() || !args["spec"].text.empty()) {
    return emitter.report.fail("E0311", "format specifications are not supported in a kernel",
                               "write the value alone: {x}");
  }
  return pyStr(emitter, args);
}

Value pyAbs(Emitter &emitter, const Bound &args) {
  const Value &x = args["x"];
  if (x.isWeak()) {
    return x.isWhole() ? Value::whole(x.integer < 0 ? -x.integer : x.integer)
                       : Value::floating(std::fabs(x.real));
  }
  return emitter.evaluation.callBuiltin(*findBuiltin("abs", 'T'), {Argument{"", x, args.expr("x")}},
                                        {});
}

/// Python's min and max: of constants a constant, otherwise tl.minimum and tl.maximum.
static Value pyExtremum(Emitter &emitter, const Bound &args, bool isMax) {
  std::vector<Value> values;
  for (const Argument &argument : args.rest()) {
    values.push_back(argument.value);
  }
  if (values.size() == 1 && values[0].isTuple()) {
    values = std::vector<Value>(values[0].elements);
  }
  if (values.empty()) {
    return emitter.report.fail("E0229", std::string(isMax ? "'max'" : "'min'") +
                                            " expects at least one value");
  }
  if (values.size() == 1 && values[0].isBlock()) {
    return emitter.report.fail(
        "E0204", std::string("Python's ") + (isMax ? "'max'" : "'min'") + " does not reduce a tile",
        isMax ? "use tl.max(x, axis=0)" : "use tl.min(x, axis=0)");
  }
  Value result = values[0];
  for (size_t i = 1; i < values.size() && !result.isPoison(); ++i) {
    if (result.isWeak() && values[i].isWeak()) {
      Value isBetter = emitter.folding.compare(isMax ? ">" : "<", values[i], result);
      result = isBetter.integer ? values[i] : result;
    } else {
      result = emitter.operators.extremum(isMax, result, values[i], false);
    }
  }
  return result;
}

Value pyMin(Emitter &emitter, const Bound &args) { return pyExtremum(emitter, args, false); }
Value pyMax(Emitter &emitter, const Bound &args) { return pyExtremum(emitter, args, true); }

} // namespace nereid::language::emit
