// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/sweep/KernelForms.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/reader/Body.h"
#include "lib/definition/reader/written/Written.h"
#include "lib/generator/Generator.h"

#include <fmt/format.h>

#include <cctype>
#include <map>

namespace nereid::develop {
namespace {

using definition::Argument;
using definition::ArgumentType;
using definition::OperationKind;
using definition::Operator;
using definition::SymbolicShape;

/// What an argument is called with that is no operand; "" = its default, when it has one.
std::string literal(const Argument &argument, const std::string &function) {
  switch (argument.type) {
  case ArgumentType::Operand:
    break;
  case ArgumentType::Bool:
    return argument.hasDefault ? "" : "False";
  case ArgumentType::String:
    return argument.hasDefault ? "" : "'none'";
  case ArgumentType::Integer: { // of a function of others it says how many
    const bool isCount = argument.name == "k" || argument.name == "length" ||
                         definition::findOperation(function) == nullptr;
    return argument.hasDefault ? "" : isCount ? "1" : "0";
  }
  case ArgumentType::Dims: // also where the default is all of them
    return "-1";
  case ArgumentType::TrailingShape:
    return "(D,)";
  case ArgumentType::Pair:
    return argument.hasDefault ? "" : "1";
  case ArgumentType::Padding: // with another one sizes would be no names
    return "'same'";
  case ArgumentType::Order:
    return function == "permute"   ? "(1, 0)"
           : function == "pad"     ? "(1, 1)"
           : function == "reshape" ? "(-1,)"
           : function == "expand"  ? "(2, -1, -1)"
           : function == "unfold"  ? "1"
                                   : "0";
  case ArgumentType::Reduction:
    return "'none'";
  case ArgumentType::Dimension:
    return argument.hasDefault ? "" : "0";
  }
  return "";
}

SymbolicShape shapeOf(const std::string &function, const definition::Operation *operation,
                      size_t operand) {
  if (function == "dot" || (function == "mv" && operand == 1)) {
    return {{"D"}};
  }
  if (function == "bmm") {
    return operand == 0 ? SymbolicShape{{"N"}, {"R"}, {"D"}} : SymbolicShape{{"N"}, {"D"}, {"R"}};
  }
  if (operation != nullptr && operation->kind == OperationKind::Convolution) {
    return operand == 0 ? SymbolicShape{{"N"}, {"C"}, {"H"}, {"W"}}
                        : SymbolicShape{{"K"}, {"C"}, {"", 3}, {"", 3}};
  }
  if (operation == nullptr) {
    return {{"D"}, {"D"}}; // fits products as well
  }
  if (operation->name == "prelu" && operand == 1) {
    return {{"D"}}; // a slope for each of the second dimension
  }
  if (operation->name == "squeeze") {
    return {{"R"}, {"", 1}};
  }
  const bool isSecondFactor = operation->kind == OperationKind::Contraction && operand == 1;
  return isSecondFactor ? SymbolicShape{{"D"}, {"R"}} : SymbolicShape{{"R"}, {"D"}};
}

/// A call of a function that reads or writes at indices, which has operands of two types, or that
/// has no tensor among its operands.
std::string indexingCall(const std::string &function) {
  static const std::map<std::string, std::string> calls = {
      {"index", "x[chosen]"},
      {"embedding", "embedding(chosen, x)"},
      {"gather", "gather(x, 0, index)"},
      {"index_select", "index_select(x, 0, chosen)"},
      {"scatter_reduce", "scatter_reduce(x, 0, index, x, reduce='sum')"},
      {"index_add", "index_add(x, 0, chosen, x)"},
      {"index_put", "index_put(x, (chosen,), x)"},
      {"arange", "x * arange(D)"},
      {"full", "x * full((R, D), 2.0)"}};
  auto found = calls.find(function);
  return found == calls.end() ? function + "(x, 0, index, x)" : found->second;
}

/// Its body read, with the result `out` in the type that the body computes; none where it has
/// errors.
std::optional<Operator> readWith(Operator op, const std::string &function, DType dtype,
                                 Diagnostics &diags) {
  op.outputNames = {"out"};
  op.outputDescriptions = {""};
  op.outputDtypes = {std::nullopt};
  if (!definition::readBody(op, {function, op.body}, diags)) {
    return std::nullopt;
  }
  const DType result = definition::nodeDtypes(op, dtype)[static_cast<size_t>(op.outputs[0])];
  op.outputDtypes = {result == dtype ? std::nullopt : std::optional(result)};
  return op;
}

std::optional<Operator> indexingOperator(const std::string &function, DType dtype,
                                         Diagnostics &diags) {
  Operator op;
  op.name = "call";
  op.dtypes = {dtype};
  auto add = [&](const char *name, SymbolicShape shape, std::optional<DType> type) {
    definition::Parameter parameter;
    parameter.name = name;
    parameter.shape = std::move(shape);
    parameter.fixedDtype = type;
    definition::Node leaf;
    leaf.op = "input";
    leaf.shape = parameter.shape;
    leaf.name = name;
    op.nodes.push_back(std::move(leaf));
    op.parameters.push_back(std::move(parameter));
  };
  add("x", {{"R"}, {"D"}}, std::nullopt);
  add("chosen", {{"R"}}, DType::I64);
  add("index", {{"R"}, {"D"}}, DType::I64);
  op.body = "out = " + indexingCall(function);
  return readWith(std::move(op), function, dtype, diags);
}

/// Operands of examples: a sequence, an image, a volume and what goes with them.
const std::vector<std::pair<std::string, SymbolicShape>> &exampleOperands() {
  const auto of = [](int64_t size) { return definition::Dim{"", size}; };
  const definition::Dim batch{"N"};
  static const std::vector<std::pair<std::string, SymbolicShape>> operands = {
      {"s", {batch, of(8), {"L"}}},
      {"x", {batch, of(8), of(16), of(16)}},
      {"v", {batch, of(8), of(4), of(8), of(8)}},
      {"c", {of(8)}},
      {"parts", {batch, of(72), of(196)}},
      {"theta", {batch, of(2), of(3)}},
      {"points", {batch, of(5), of(6), of(2)}},
      {"sPlaces", {batch, of(8), {"L"}}},
      {"places", {batch, of(8), of(8), of(8)}},
      {"volumePlaces", {batch, of(8), of(2), of(4), of(4)}},
      {"sFilters", {of(8), of(8), of(3)}},
      {"xFilters", {of(8), of(8), of(3), of(3)}},
      {"vFilters", {of(8), of(8), of(3), of(3), of(3)}}};
  return operands;
}

bool namesOperand(const std::string &text, const std::string &name) {
  const auto isPart = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at) {
    const size_t end = at + name.size();
    if ((at == 0 || !isPart(text[at - 1])) && (end == text.size() || !isPart(text[end]))) {
      return true;
    }
  }
  return false;
}

/// The call of its row in operations.def.
std::optional<Operator> exampleOperator(const definition::Function &function, DType dtype,
                                        Diagnostics &diags) {
  Operator op;
  op.name = "call";
  op.dtypes = {dtype};
  for (const auto &[name, shape] : exampleOperands()) {
    if (!namesOperand(function.example, name)) {
      continue;
    }
    definition::Parameter parameter;
    parameter.name = name;
    parameter.shape = shape;
    if (name == "places" || name.ends_with("Places")) {
      parameter.fixedDtype = DType::I64;
    }
    definition::Node leaf;
    leaf.op = "input";
    leaf.shape = shape;
    leaf.name = name;
    op.nodes.push_back(std::move(leaf));
    op.parameters.push_back(std::move(parameter));
  }
  const bool hasTwo = function.name.ends_with("_with_indices");
  op.body = fmt::format("out{} = {}({}){}", hasTwo ? ", _" : "", function.name, function.example,
                        definition::returnsPieces(function.name) ? "[0]" : "");
  return readWith(std::move(op), function.name, dtype, diags);
}

/// `out = function(…)` on tensors of this type; none when it is not defined for them.
std::optional<Operator> callOf(const std::string &function, DType dtype, Diagnostics &diags) {
  const definition::Operation *operation = definition::findOperation(function);
  const definition::Function *written = definition::findFunction(function);
  if (operation != nullptr &&
      (operation->kind == OperationKind::Indexing || operation->kind == OperationKind::Creation)) {
    return indexingOperator(function, dtype, diags);
  }
  if (written != nullptr && written->forms.empty()) {
    return exampleOperator(*written, dtype, diags);
  }
  Operator op;
  op.name = "call";
  op.dtypes = {dtype};
  std::string words;
  for (const Argument &argument :
       operation != nullptr ? operation->arguments : written->arguments) {
    std::string value = literal(argument, function);
    if (argument.type == ArgumentType::Operand && !argument.hasDefault) {
      definition::Parameter parameter;
      parameter.name = value = fmt::format("x{}", op.parameters.size());
      parameter.shape = shapeOf(function, operation, op.parameters.size());
      const bool isCondition = argument.name == "mask" || argument.name == "condition";
      parameter.fixedDtype = isCondition                ? std::optional(DType::Bool)
                             : argument.name == "index" ? std::optional(DType::I64)
                                                        : std::nullopt;
      definition::Node leaf;
      leaf.op = "input";
      leaf.shape = parameter.shape;
      leaf.name = parameter.name;
      op.nodes.push_back(std::move(leaf));
      op.parameters.push_back(std::move(parameter));
      value = function == "cat" ? "[x0, x0]" : value;
    }
    if (!value.empty()) {
      words += fmt::format("{}{}={}", words.empty() ? "" : ", ", argument.name, value);
    }
  }
  const bool hasTwo = definition::findPair(function) != nullptr;
  op.body = fmt::format("out{} = {}({})", hasTwo ? ", _" : "", function, words);
  return readWith(std::move(op), function, dtype, diags);
}

} // namespace

std::optional<Diagnostic> missingForm(const std::string &function) {
  Diagnostics diags;
  for (DType dtype : {DType::F32, DType::I32}) {
    if (auto op = callOf(function, dtype, diags)) {
      return missingKernel(*op);
    }
  }
  return diags.all().front();
}

std::optional<Diagnostic> missingKernel(const Operator &op) {
  Status made = generator::checkGenerates(op);
  return made ? std::nullopt : std::optional(made.error());
}

} // namespace nereid::develop
