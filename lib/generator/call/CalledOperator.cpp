// SPDX-License-Identifier: Apache-2.0
// An operator as its callers see it, see CalledOperator.h.
#include "lib/generator/call/CalledOperator.h"

#include <fmt/format.h>

#include <set>

namespace nereid::generator {

const Operand *CalledOperator::find(const std::string &name) const {
  for (const Operand &operand : operands) {
    if (operand.name == name) {
      return &operand;
    }
  }
  return nullptr;
}

CalledOperator calledOperator(const definition::Operator &op) {
  CalledOperator called;
  called.op = op;
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    const definition::Parameter &parameter = op.parameters[i];
    if (!parameter.isScalar) {
      Operand operand;
      operand.name = parameter.name;
      operand.index = static_cast<int>(i);
      operand.shape = parameter.shape;
      operand.fixedDtype = parameter.fixedDtype;
      called.operands.push_back(std::move(operand));
    }
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    Operand operand;
    operand.name = i < op.outputNames.size() ? op.outputNames[i] : "out";
    operand.isOutput = true;
    operand.index = static_cast<int>(i);
    operand.shape = op.nodes[static_cast<size_t>(op.outputs[i])].shape;
    operand.fixedDtype = i < op.outputDtypes.size() ? op.outputDtypes[i] : std::nullopt;
    called.operands.push_back(std::move(operand));
  }
  return called;
}

/// They become parameters in Python and C++: keywords, modules and what the generated functions
/// call their own variables.
Status checkNames(const definition::Operator &op) {
  static const std::set<std::string> reserved = {"Launch",       "Schedule",   "ScheduleTable",
                                                 "Sizes",        "addNumber",  "addSize",
                                                 "addTensor",    "alignas",    "alignof",
                                                 "and",          "arguments",  "as",
                                                 "asm",          "assert",     "async",
                                                 "auto",         "await",      "baseline",
                                                 "blocks",       "bool",       "break",
                                                 "bytes",        "case",       "catch",
                                                 "char",         "class",      "columns",
                                                 "const",        "constexpr",  "contiguous",
                                                 "continue",     "decltype",   "def",
                                                 "default",      "del",        "delete",
                                                 "dict",         "do",         "double",
                                                 "dtype",        "elif",       "else",
                                                 "enum",         "except",     "expectShape",
                                                 "explicit",     "export",     "extern",
                                                 "false",        "finally",    "float",
                                                 "for",          "friend",     "from",
                                                 "global",       "goto",       "grid",
                                                 "if",           "import",     "in",
                                                 "inline",       "int",        "is",
                                                 "isWide",       "joined",     "kept",
                                                 "kernel",       "kernelType", "lambda",
                                                 "leadingSizes", "load",       "long",
                                                 "main",         "math",       "max",
                                                 "mutable",      "namespace",  "nereid",
                                                 "new",          "noexcept",   "nonlocal",
                                                 "not",          "number",     "operator",
                                                 "or",           "pass",       "private",
                                                 "product",      "protected",  "public",
                                                 "raise",        "register",   "release",
                                                 "return",       "rows",       "schedule",
                                                 "short",        "signature",  "signed",
                                                 "sizeFromEnd",  "size_bytes", "sizeof",
                                                 "static",       "std",        "struct",
                                                 "switch",       "template",   "this",
                                                 "throw",        "tl",         "torch",
                                                 "triton",       "true",       "try",
                                                 "tuple",        "typedef",    "typename",
                                                 "union",        "unsigned",   "using",
                                                 "virtual",      "void",       "volatile",
                                                 "while",        "wide",       "with",
                                                 "xor",          "yield"};
  std::vector<std::string> names = op.outputNames;
  names.push_back(op.name);
  for (const definition::Parameter &parameter : op.parameters) {
    names.push_back(parameter.name);
  }
  for (const std::string &name : names) {
    if (reserved.contains(name)) {
      return makeError("E0607", fmt::format("the name '{}' is reserved in generated files", name))
          .withHelp("choose another name for the operator, input or output");
    }
  }
  return Done{};
}

DType operandType(const Operand &operand, DType dtype) {
  return operand.fixedDtype.value_or(dtype);
}

} // namespace nereid::generator
