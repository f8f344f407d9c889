// SPDX-License-Identifier: Apache-2.0
// Calls of a body: which function is meant, and its arguments matched against the signature in
// operations.def the way Python matches them.
#include "lib/definition/reader/BodyExpressions.h"

#include "lib/definition/operations/Lowering.h"
#include "lib/definition/operations/ReductionPairs.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/reader/BodyCasts.h"
#include "lib/definition/reader/BodyInPlace.h"
#include "lib/definition/reader/creation/BodyCreation.h"
#include "lib/definition/reader/creation/TypeLimits.h"
#include "lib/definition/reader/indices/BodyIndexing.h"
#include "lib/definition/reader/moves/BodyMoves.h"
#include "lib/definition/reader/sequences/BodySequences.h"
#include "lib/definition/reader/windows/BodyWindows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace nereid::definition {
namespace {

using language::Expr;
using language::ExprKind;

bool isModulePath(const Expr &expr) {
  static const std::vector<std::string> roots = {"torch", "F", "nn", "math"};
  if (expr.kind == ExprKind::Name) {
    return std::find(roots.begin(), roots.end(), expr.text) != roots.end();
  }
  return expr.kind == ExprKind::Attribute &&
         (expr.text == "nn" || expr.text == "functional" || expr.text == "special" ||
          expr.text == "linalg" || expr.text == "ops" || expr.text == "aten") &&
         isModulePath(*expr.operands[0]);
}

std::string argumentList(const Operation &operation) {
  return signatureText(operation.name, operation.arguments);
}

/// The indices of a call that returns two tensors have no name of their own in PyTorch, nor have
/// movements that only readers make.
bool isHidden(const std::string &name) {
  return name.starts_with("_") || (findPairOfIndices(name) && name.ends_with("_indices"));
}

bool isAmong(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const std::vector<std::string> &approximations() {
  static const std::vector<std::string> known = {"none", "tanh"};
  return known;
}

} // namespace

std::optional<BodyExpressions::Call> BodyExpressions::takenApart(const Expr &expr,
                                                                 bool opensLists) {
  Call call;
  call.whole = &expr;
  const Expr &callee = *expr.operands[0];
  if (callee.kind == ExprKind::Name) {
    call.function = callee.text;
  } else if (callee.kind == ExprKind::Attribute) {
    call.function = callee.text;
    const Expr &base = *callee.operands[0];
    bool isModule = isModulePath(base) && !(base.kind == ExprKind::Name && lookup(base.text));
    call.isMath = isModule && base.kind == ExprKind::Name && base.text == "math";
    call.receiver = isModule ? nullptr : &base;
  } else {
    fail("E0608", expr.range, "a call in a body expects a function's name");
    return std::nullopt;
  }
  for (size_t i = 1; i < expr.operands.size(); ++i) {
    call.positional.push_back(expr.operands[i].get());
  }
  const bool keepsShapes = BodyCreation::isFunction(call.function); // whose rank may be open
  if (opensLists && !BodySequences(*this).openAll(call.positional, keepsShapes)) {
    return std::nullopt;
  }
  return call;
}

std::optional<int> BodyExpressions::readCall(const Expr &expr) {
  if (expr.operands[0]->kind == ExprKind::Name && defined.has(expr.operands[0]->text) &&
      !callRange) {
    const std::optional<std::vector<int>> values = defined.call(expr);
    if (values && values->size() != 1) {
      const std::string &name = expr.operands[0]->text;
      fail("E0608", expr.range,
           fmt::format("'{}' returns {} values, but one is expected here", name, values->size()))
          .withHelp(fmt::format("take them apart first: a, b = {}(…)", name));
      return std::nullopt;
    }
    return values ? std::optional(values->front()) : std::nullopt;
  }
  if (BodySequences lists(*this); !callRange && lists.isFunction(expr)) {
    return lists.called(expr);
  }
  const std::optional<Call> parts = takenApart(expr, true);
  if (parts && !callRange && BodyInPlace::isActivation(*parts)) {
    return BodyInPlace(*this).activated(*parts);
  }
  return parts ? called(*parts) : std::nullopt;
}

std::optional<int> BodyExpressions::called(const Call &call) {
  const Expr &callee = *call.whole->operands[0];
  if (call.isMath || (call.function == "float" && !call.receiver)) {
    return mathCall(call);
  }
  if (BodyInPlace::isFunction(call.function)) {
    return BodyInPlace(*this).call(call);
  }
  if (call.receiver && isAmong(BodyCasts::names(), call.function)) {
    return BodyCasts(*this).call(call);
  }
  if (std::find(swapNames().begin(), swapNames().end(), call.function) != swapNames().end()) {
    return swapCall(call);
  }
  const bool isCount = call.function == "numel" || call.function == "nelement";
  if (isCount && (call.receiver ? call.positional.empty() : call.positional.size() == 1)) {
    return elementCount(call.receiver ? *call.receiver : *call.positional[0], call.whole->range);
  }
  if (call.function == "dim" && call.receiver) {
    if (const std::optional<int64_t> rank = known.integerOf(*call.whole)) {
      return integerConstant(*rank, std::to_string(*rank));
    }
  }
  if (call.function == "size" && call.receiver && call.positional.size() == 1) {
    return sizeOf(*call.receiver, *call.positional[0], call.whole->range);
  }
  if (call.function == "einsum") {
    return einsumCall(call);
  }
  if (call.function == "sum_to_size") {
    return sumToSizeCall(call);
  }
  if (BodyIndexing::isFunction(call.function)) {
    return BodyIndexing(*this).call(call);
  }
  if (BodyClassLosses::isFunction(call.function)) {
    return BodyClassLosses(*this).call(call);
  }
  if (BodyWindows::isColumns(call) || BodyWindows::isFunction(call.function)) {
    return onlyOfWritten(call);
  }
  if (BodyCreation::isFunction(call.function)) {
    return BodyCreation(*this).call(call);
  }
  if (BodyMoves moves(*this); isAmong(BodyMoves::sliceNames(), call.function)) {
    return moves.sliceCall(call);
  } else if (isAmong(BodyMoves::joinNames(), call.function)) {
    return moves.joinCall(call);
  } else if (isAmong(BodyMoves::shapeNames(), call.function)) {
    return moves.shapeCall(call);
  }
  if (const Function *function = findFunction(call.function)) {
    return functionCall(call, *function);
  }
  if (findPair(call.function) || findReductionPair(call.function)) {
    return onlyOfPair(call);
  }
  const Operation *operation = findOperation(call.function);
  // Indexing is written x[index].
  if (!operation || isHidden(call.function) || call.function == "index" ||
      operation->result == ResultType::Cast) {
    Diagnostic &error =
        fail("E0603", callee.range, fmt::format("unknown function '{}'", call.function));
    std::vector<std::string> known = operationNames();
    known.insert(known.end(), functionNames().begin(), functionNames().end());
    known.insert(known.end(), swapNames().begin(), swapNames().end());
    known.insert(known.end(), {"einsum", "sum_to_size", "meshgrid", "broadcast_tensors"});
    const std::vector<std::string> pairs = pairNames();
    known.insert(known.end(), pairs.begin(), pairs.end());
    known.insert(known.end(), BodyCasts::names().begin(), BodyCasts::names().end());
    const std::vector<std::string> indexing = BodyIndexing::functionNames();
    known.insert(known.end(), indexing.begin(), indexing.end());
    for (const auto *names : {&BodyMoves::sliceNames(), &BodyMoves::joinNames(),
                              &BodyMoves::shapeNames(), &BodyCreation::functionNames()}) {
      known.insert(known.end(), names->begin(), names->end());
    }
    auto near = nearestNames(call.function, known);
    error.withHelp(near.empty() ? "'nereid ops' lists the functions a body may use"
                                : fmt::format("did you mean '{}'?", fmt::join(near, "', '")));
    return std::nullopt;
  }
  return operationCall(call, *operation);
}

/// math.sqrt(2.0) and float("-inf"): numbers, known now.
std::optional<int> BodyExpressions::mathCall(const Call &call) {
  const Expr &whole = *call.whole;
  if (call.positional.size() != 1 || !whole.keywords.empty()) {
    fail("E0608", whole.range, fmt::format("'{}' expects one argument", call.function));
    return std::nullopt;
  }
  const Expr &argument = *call.positional[0];
  if (call.function == "float" && argument.kind == ExprKind::String) {
    char *end = nullptr;
    double value = std::strtod(argument.text.c_str(), &end);
    if (argument.text.empty() || *end != '\0') {
      fail("E0608", argument.range,
           fmt::format("float expects a number, 'inf', '-inf' or 'nan', but got '{}'",
                       argument.text));
      return std::nullopt;
    }
    return constant(value, sourceText(whole.range));
  }
  std::optional<int> operand = read(argument);
  if (!operand) {
    return std::nullopt;
  }
  const Node node = op.nodes[static_cast<size_t>(*operand)];
  if (!isNumber(node)) {
    fail("E0608", whole.range,
         fmt::format("'{}' expects a number, but got a tensor", call.function))
        .withHelp("use the function of the same name in torch");
    return std::nullopt;
  }
  static const std::map<std::string, double (*)(double)> functions = {
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"exp", [](double x) { return std::exp(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"float", [](double x) { return x; }}};
  auto found = functions.find(call.function);
  if (found == functions.end()) {
    fail("E0603", whole.range, fmt::format("unknown function 'math.{}'", call.function))
        .withHelp("available: math.sqrt, math.exp, math.log, math.pi, math.e, math.inf, math.nan");
    return std::nullopt;
  }
  if (node.op == "constant") {
    return constant(found->second(constantValue(node)), sourceText(whole.range));
  }
  const bool isInput = node.op == "scalar";
  const std::string inner =
      isInput ? op.parameters[static_cast<size_t>(*operand)].name : sizeText(node);
  const int made =
      size(fmt::format("{}{}({})", call.function == "float" ? "" : "math.", call.function, inner),
           false, whole.range);
  if (isInput || hasNumberInputs(node)) {
    noteNumberInputs(op.nodes[static_cast<size_t>(made)]);
  }
  return made;
}

/// Sums whose second operand an argument `alpha` multiplies.
static bool takesScale(const std::string &function) {
  return function == "add" || function == "sub" || function == "rsub";
}

/// Functions with an argument `dtype`, to which the operand is converted first.
static bool takesType(const std::string &function) {
  static const std::vector<std::string> functions = {"sum",     "mean",        "prod",   "cumsum",
                                                     "cumprod", "log_softmax", "softmax"};
  return isAmong(functions, function);
}

std::optional<std::map<std::string, const Expr *>>
BodyExpressions::matched(const Call &call, const std::string &name,
                         const std::vector<Argument> &arguments) {
  const Expr &whole = *call.whole;
  std::vector<const Expr *> positional = call.positional;
  if (call.receiver) { // of a method: the first operand
    auto operand = std::find_if(arguments.begin(), arguments.end(), [](const Argument &argument) {
      return argument.type == ArgumentType::Operand;
    });
    const auto at =
        std::min(operand - arguments.begin(), static_cast<std::ptrdiff_t>(positional.size()));
    positional.insert(positional.begin() + at, call.receiver);
  }
  if (positional.size() > arguments.size()) {
    fail("E0608", whole.range,
         fmt::format("'{}' expects at most {} arguments, but got {}", name, arguments.size(),
                     positional.size()))
        .withHelp("its form is " + signatureText(name, arguments));
    return std::nullopt;
  }
  std::map<std::string, const Expr *> given;
  for (size_t i = 0; i < positional.size(); ++i) {
    given[arguments[i].name] = positional[i];
  }
  for (const language::Keyword &keyword : whole.keywords) {
    if (BodyInPlace::isActivation(call) && keyword.name == "inplace") {
      continue; // what that means, BodyInPlace knows
    }
    const std::string argument = keyword.name == "unbiased" ? "correction" : keyword.name;
    bool known = std::any_of(arguments.begin(), arguments.end(),
                             [&](const Argument &a) { return a.name == argument; }) ||
                 (takesScale(name) && argument == "alpha") ||
                 (takesType(name) && argument == "dtype") ||
                 (name == "div" && argument == "rounding_mode");
    const Expr *value = BodySequences(*this).opened(keyword.value.get());
    if (!value) {
      return std::nullopt;
    }
    if (!known || !given.emplace(argument, value).second) {
      fail("E0608", keyword.range,
           known ? fmt::format("argument '{}' of '{}' is given twice", keyword.name, name)
                 : fmt::format("'{}' has no argument '{}'", name, keyword.name))
          .withHelp("its form is " + signatureText(name, arguments));
      return std::nullopt;
    }
  }
  return given;
}

std::optional<int> BodyExpressions::operationCall(const Call &call, const Operation &operation) {
  const Expr &whole = *call.whole;
  // x.permute(0, 2, 1) lists the dimensions one by one.
  Call direct = call;
  std::vector<const Expr *> order;
  const Argument &last = operation.arguments.back();
  const size_t count = call.positional.size() + (call.receiver ? 1 : 0);
  if (last.type == ArgumentType::Order && count > operation.arguments.size()) {
    order.assign(call.positional.begin() + (call.receiver ? 0 : 1), call.positional.end());
    direct.positional.resize(call.receiver ? 0 : 1);
  }
  auto given = matched(direct, operation.name, operation.arguments);
  if (!given) {
    return std::nullopt;
  }
  auto argumentOf = [&](const std::string &name) {
    auto found = given->find(name);
    return found == given->end() ? nullptr : resolved(found->second);
  };
  Node node;
  node.op = operation.name;
  bool isLoss = false;
  for (const Argument &argument : operation.arguments) {
    if (argument.type == ArgumentType::Order && !order.empty()) {
      if (!readNumbers(argument, order, node)) {
        return std::nullopt;
      }
      continue;
    }
    if (argument.type == ArgumentType::Reduction) {
      isLoss = true;
      continue;
    }
    const Expr *value = argumentOf(argument.name);
    if (!(value ? readArgument(argument, *value, node)
                : fillDefault(argument, node, whole.range))) {
      return std::nullopt;
    }
  }
  const Expr *type = argumentOf("dtype");
  type = type && type->kind != ExprKind::None ? type : nullptr;
  const std::optional<std::string> target = type ? BodyCasts(*this).target(*type) : std::nullopt;
  if (type && !convertOperand(target, node, whole.range)) {
    return std::nullopt;
  }
  if (std::vector<std::string> known; !hasForm(node, known)) {
    fail("E0608", whole.range,
         fmt::format("'{}' expects {}", operation.name, fmt::join(known, " or ")));
    return std::nullopt;
  }
  if (takesScale(operation.name) && !scaleOperand(argumentOf("alpha"), node, whole.range)) {
    return std::nullopt;
  }
  if (const Expr *mode = argumentOf("rounding_mode")) {
    return roundedQuotient(*mode, std::move(node), whole.range);
  }
  if (!checkLength(node, whole.range) || !checkRanks(call.function, node, whole.range)) {
    return std::nullopt;
  }
  if (isLoss) {
    const std::optional<int> loss = append(std::move(node), whole.range);
    return loss ? reducedLoss(operation.name, argumentOf("reduction"), *loss, whole.range) : loss;
  }
  const bool isConvolution = operation.kind == OperationKind::Convolution;
  std::optional<int> result = append(std::move(node), whole.range);
  if (result && target) { // sums of integers are int64
    result = BodyCasts(*this).converted(*result, *target, false, whole.range);
  }
  return !isConvolution || !result || BodyMoves(*this).expectRoom(*result, whole.range)
             ? result
             : std::nullopt;
}

bool BodyExpressions::convertOperand(const std::optional<std::string> &target, Node &node,
                                     SourceRange range) {
  const std::optional<int> converted =
      target ? BodyCasts(*this).converted(node.inputs[0], *target, false, range) : std::nullopt;
  node.inputs[0] = converted.value_or(node.inputs[0]);
  return converted.has_value();
}

bool BodyExpressions::fillDefault(const Argument &argument, Node &node, SourceRange range) {
  if (!argument.hasDefault) {
    const Operation *operation = findOperation(node.op);
    fail("E0608", range, fmt::format("'{}' expects the argument '{}'", node.op, argument.name))
        .withHelp("its form is " + argumentList(*operation));
    return false;
  }
  const std::string &text = argument.defaultText;
  switch (argument.type) {
  case ArgumentType::Operand: {
    if (text == "max" || text == "min") { // of the first operand's type
      const auto target = BodyCasts(*this).typeOf(node.inputs[0], range);
      const auto limit = target ? TypeLimits(*this).limitOf(text, *target, range) : std::nullopt;
      if (limit) {
        node.inputs.push_back(*limit);
      }
      return limit.has_value();
    }
    node.inputs.push_back(constant(std::strtod(text.c_str(), nullptr), text));
    op.nodes.back().attributes["default"] = true;
    break;
  }
  case ArgumentType::Bool:
    node.attributes[argument.name] = text == "True";
    break;
  case ArgumentType::String:
    node.attributes[argument.name] = text;
    break;
  case ArgumentType::Integer:
    node.attributes[argument.name] = static_cast<int64_t>(std::strtoll(text.c_str(), nullptr, 10));
    break;
  case ArgumentType::Pair:
  case ArgumentType::Padding:
  case ArgumentType::Order:
  case ArgumentType::Reduction:
  case ArgumentType::Dimension:
    break; // absent means the default
  case ArgumentType::Dims:
    if (text != "all") { // absent means all dimensions
      node.attributes[argument.name] =
          std::vector<int64_t>{std::strtoll(text.c_str(), nullptr, 10)};
    }
    break;
  case ArgumentType::TrailingShape:
    break;
  }
  return true;
}

bool BodyExpressions::readArgument(const Argument &argument, const Expr &value, Node &node) {
  const bool isWord = argument.type == ArgumentType::Bool || argument.type == ArgumentType::String;
  if (isWord && value.kind != ExprKind::Bool && value.kind != ExprKind::String) {
    const Expr *word = known.literalOf(value);
    if (word && (word->kind == ExprKind::Bool || word->kind == ExprKind::String)) {
      return readArgument(argument, *word, node);
    }
  }
  switch (argument.type) {
  case ArgumentType::Operand: {
    std::optional<int> operand = read(value);
    if (operand) {
      node.inputs.push_back(*operand);
    }
    return operand.has_value();
  }
  case ArgumentType::Bool:
    if (value.kind == ExprKind::Bool) {
      node.attributes[argument.name] = value.integer != 0;
      return true;
    }
    break;
  case ArgumentType::String:
    if (value.kind == ExprKind::String) {
      if (std::find(approximations().begin(), approximations().end(), value.text) ==
          approximations().end()) {
        fail("E0608", value.range,
             fmt::format("'{}' of '{}' expects 'none' or 'tanh', but got '{}'", argument.name,
                         node.op, value.text));
        return false;
      }
      node.attributes[argument.name] = value.text;
      return true;
    }
    break;
  case ArgumentType::Integer:
    if (std::optional<int64_t> number = known.integerOf(value); number && *number >= 0) {
      node.attributes[argument.name] = *number;
      return true;
    }
    if (argument.name == "correction" && value.kind == ExprKind::Bool) { // the older `unbiased`
      node.attributes[argument.name] = value.integer;
      return true;
    }
    break;
  case ArgumentType::Dims:
    return readDims(argument, value, node);
  case ArgumentType::TrailingShape:
    return readTrailingShape(value, node);
  case ArgumentType::Padding:
    if (value.kind == ExprKind::String) {
      node.attributes[argument.name] = value.text; // its meaning is checked with the shapes
      return true;
    }
    [[fallthrough]];
  case ArgumentType::Pair:
  case ArgumentType::Order: {
    std::vector<const Expr *> entries;
    bool isList = value.kind == ExprKind::Tuple || value.kind == ExprKind::List;
    for (size_t i = 0; i < (isList ? value.operands.size() : 1); ++i) {
      entries.push_back(isList ? value.operands[i].get() : &value);
    }
    return readNumbers(argument, entries, node);
  }
  case ArgumentType::Reduction:
  case ArgumentType::Dimension:
    return true; // read where it has a meaning (reducedLoss, BodyIndexing.cpp)
  }
  fail("E0608", value.range,
       fmt::format("'{}' of '{}' expects a literal {}", argument.name, node.op,
                   argument.type == ArgumentType::Bool     ? "True or False"
                   : argument.type == ArgumentType::String ? "string"
                                                           : "integer of at least 0"));
  return false;
}

bool BodyExpressions::readDims(const Argument &argument, const Expr &value, Node &node) {
  std::vector<int64_t> dims;
  bool isList = value.kind == ExprKind::Tuple || value.kind == ExprKind::List;
  size_t count = isList ? value.operands.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    const Expr &entry = isList ? *value.operands[i] : value;
    std::optional<int64_t> dim = known.integerOf(entry);
    if (!dim) {
      fail("E0608", entry.range,
           fmt::format("'{}' of '{}' expects a literal integer or a tuple of them", argument.name,
                       node.op));
      return false;
    }
    dims.push_back(*dim);
  }
  const Node &input = op.nodes[static_cast<size_t>(node.inputs[0])];
  auto normalised = normaliseDims(input.shape, std::move(dims));
  if (auto *problem = std::get_if<std::string>(&normalised)) {
    fail("E0604", value.range, *problem).withHelp("count from the end: dim=-1 is the last one");
    return false;
  }
  auto &list = std::get<std::vector<int64_t>>(normalised);
  if (!list.empty()) { // PyTorch reduces everything for dim=()
    node.attributes[argument.name] = std::move(list);
  }
  return true;
}

bool BodyExpressions::readNumbers(const Argument &argument, std::span<const Expr *const> entries,
                                  Node &node) {
  std::vector<int64_t> numbers;
  for (const Expr *entry : entries) {
    std::optional<int64_t> number = known.integerOf(*entry);
    if (!number) {
      fail("E0608", entry->range,
           fmt::format("'{}' of '{}' expects a literal integer or a tuple of them", argument.name,
                       node.op));
      return false;
    }
    numbers.push_back(*number);
  }
  if (numbers.size() == 1) {
    node.attributes[argument.name] = numbers[0];
  } else {
    node.attributes[argument.name] = std::move(numbers);
  }
  return true;
}

/// Sizes as texts: names, numbers, and what is computed of them; nothing after an error.
std::optional<std::vector<std::string>>
BodyExpressions::sizeTexts(std::span<const Expr *const> entries) {
  std::vector<std::string> texts;
  for (const Expr *entry : entries) {
    const bool isName = entry->kind == ExprKind::Name;
    const bool isComputed = !isName && entry->kind != ExprKind::Integer;
    const std::optional<int> node = isComputed ? read(*entry)
                                    : isName   ? lookup(entry->text)
                                               : std::optional<int>();
    if (isComputed && !node) {
      return std::nullopt;
    }
    const bool isOfSizes = node && isSize(op.nodes[static_cast<size_t>(*node)]);
    const std::optional<int64_t> number = known.integerOf(*entry);
    texts.push_back(number      ? std::to_string(*number)
                    : isOfSizes ? sizeText(op.nodes[static_cast<size_t>(*node)])
                                : entry->text);
  }
  return texts;
}

bool BodyExpressions::readTrailingShape(const Expr &value, Node &node) {
  bool isList = value.kind == ExprKind::Tuple || value.kind == ExprKind::List;
  std::vector<const Expr *> given;
  for (size_t i = 0; i < (isList ? value.operands.size() : 1); ++i) {
    given.push_back(isList ? value.operands[i].get() : &value);
  }
  const auto entries = sizeTexts(given);
  if (!entries) {
    return false;
  }
  auto shape = parseComputedShape(*entries);
  const SymbolicShape &whole = op.nodes[static_cast<size_t>(node.inputs[0])].shape;
  const auto *named = std::get_if<SymbolicShape>(&shape);
  bool fits = named && !named->empty() && named->size() <= whole.size() &&
              std::equal(named->rbegin(), named->rend(), whole.rbegin());
  if (!fits) {
    fail("E0604", value.range,
         fmt::format("the normalised shape of '{}' expects the last dimensions of {}", node.op,
                     text(whole)))
        .withHelp("write them as a tuple, such as (D,)");
    return false;
  }
  std::vector<int64_t> dims;
  for (auto i = static_cast<int64_t>(named->size()); i > 0; --i) {
    dims.push_back(-i);
  }
  node.attributes["dim"] = std::move(dims);
  return true;
}

} // namespace nereid::definition
