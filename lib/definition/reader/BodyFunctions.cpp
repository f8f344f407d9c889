// SPDX-License-Identifier: Apache-2.0
// Calls that become more than one operation: the functions of operations.def that are texts, read
// here with their arguments in the place of names, what a keyword adds around a call (reduction=,
// alpha=, rounding_mode=), and torch.einsum. And those that return two tensors, values and where
// they are, each an operation of its own: `values, indices = torch.topk(x, 8)`,
// `torch.sort(x).indices`.
#include "lib/definition/reader/BodyExpressions.h"

#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/ReductionPairs.h"
#include "lib/definition/operations/indices/Along.h"
#include "lib/definition/reader/einsum/EinsumGraph.h"
#include "lib/definition/reader/moves/BodyMoves.h"
#include "lib/definition/reader/windows/BodyWindows.h"
#include "lib/definition/reader/written/Written.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

/// What a call says of an argument, as conditions of forms write it; "" of what is not known.
std::string wordOf(const Expr *literal) {
  switch (literal ? literal->kind : ExprKind::None) {
  case ExprKind::None:
    return "None";
  case ExprKind::Bool:
    return literal->integer != 0 ? "True" : "False";
  case ExprKind::String:
    return literal->text;
  default: {
    const std::optional<int64_t> number = literalInteger(*literal);
    return number ? std::to_string(*number) : "";
  }
  }
}

bool isNumberOf(const Node &node, const std::string &text) {
  return node.op == "constant" && constantValue(node) == std::strtod(text.c_str(), nullptr);
}

} // namespace

/// All conditions of "full=True log_input=False".
bool BodyExpressions::isMetBy(const std::string &when, const std::map<std::string, int> &operands,
                              const std::map<std::string, const Expr *> &others) const {
  std::istringstream conditions(when);
  for (std::string condition; conditions >> condition;) {
    const size_t equals = condition.find('=');
    const std::string argument = condition.substr(0, equals), asked = condition.substr(equals + 1);
    if (auto operand = operands.find(argument); operand != operands.end()) {
      if (asked == "None" || !isNumberOf(op.nodes[static_cast<size_t>(operand->second)], asked)) {
        return false;
      }
    } else {
      auto other = others.find(argument);
      if (wordOf(other == others.end() ? nullptr : other->second) != asked) {
        return false;
      }
    }
  }
  return true;
}

/// What a call says of an argument: nothing when it is left out or None.
const Expr *BodyExpressions::resolved(const Expr *given) const {
  if (given && given->kind == ExprKind::Name && literals.count(given->text) != 0) {
    given = known.literalNamed(*given);
  }
  return given && given->kind != ExprKind::None ? given : nullptr;
}

std::optional<int> BodyExpressions::functionCall(const Call &call, const Function &function) {
  auto given = matched(call, function.name, function.arguments);
  if (!given) {
    return std::nullopt;
  }
  std::map<std::string, int> operands;
  std::map<std::string, const Expr *> others;
  std::vector<language::SourceModule> defaults; // whose expressions `others` points into
  for (const Argument &argument : function.arguments) {
    auto found = given->find(argument.name);
    const Expr *value = found == given->end() ? nullptr : resolved(found->second);
    if (!value && !argument.hasDefault) {
      fail("E0608", call.whole->range,
           fmt::format("'{}' expects the argument '{}'", function.name, argument.name))
          .withHelp("its form is " + signatureText(function.name, function.arguments));
      return std::nullopt;
    }
    if (argument.type == ArgumentType::Operand && !value && argument.defaultText == "None") {
      continue;
    }
    if (argument.type == ArgumentType::Reduction) {
      others[argument.name] = value; // null: the mean
      continue;
    }
    if (argument.type == ArgumentType::Operand) {
      const std::string &text = argument.defaultText;
      const bool isWhole = text.find_first_not_of("0123456789") == std::string::npos;
      std::optional<int> node = value ? read(*value)
                                : isWhole
                                    ? integerConstant(std::strtoll(text.c_str(), nullptr, 10), text)
                                    : constant(std::strtod(text.c_str(), nullptr), text);
      if (!node) {
        return std::nullopt;
      }
      operands[argument.name] = *node;
      continue;
    }
    if (!value && argument.defaultText != "all") {
      Diagnostics unused;
      auto text = language::parseStatements(function.name, "x = " + argument.defaultText, unused);
      defaults.push_back(std::move(*text));
      value = defaults.back().body[0]->value.get();
    }
    // The text has names of its own, among which those of the call mean nothing.
    const Expr *literal = value ? known.literalOf(*value) : nullptr;
    const std::optional<int64_t> number = value ? known.integerOf(*value) : std::nullopt;
    if (number && !literalInteger(*value)) {
      literal = known.integerLiteral(*number, value->range);
    }
    literal = literal ? literal : value;
    if (argument.type == ArgumentType::Bool && literal->kind != ExprKind::Bool) {
      fail("E0608", literal->range,
           fmt::format("'{}' of '{}' expects a literal True or False", argument.name,
                       function.name));
      return std::nullopt;
    }
    if (argument.type == ArgumentType::Integer && !literalInteger(*literal)) {
      fail("E0608", literal->range,
           fmt::format("'{}' of '{}' expects a literal integer", argument.name, function.name));
      return std::nullopt;
    }
    others[argument.name] = literal;
  }
  static const std::set<std::string> products = {"linear", "addmm", "baddbmm", "addbmm"};
  if (products.contains(function.name)) {
    std::vector<int> factors;
    for (const Argument &argument : function.arguments) {
      factors.push_back(operands.at(argument.name));
    }
    if (!expectOneType(function.name, factors, call.whole->range)) {
      return std::nullopt;
    }
  }
  for (const Function::Form &form : function.forms) {
    if (!isMetBy(form.when, operands, others)) {
      continue;
    }
    const bool isWhole =
        form.text.starts_with("out =") || form.text.find("\nout =") != std::string::npos;
    auto reduction = others.find("reduction");
    const Expr *word = reduction == others.end() ? nullptr : reduction->second;
    const bool isLoss =
        reduction != others.end() && form.when.find("reduction=") == std::string::npos;
    const auto result = writtenOut(call, isWhole ? form.text : "out = " + form.text,
                                   std::move(operands), std::move(others));
    if (result && function.name == "norm") {
      op.nodes[static_cast<size_t>(*result)].attributes["corner"] = std::string("norm");
    }
    return result && isLoss ? reducedLoss(function.name, word, *result, call.whole->range) : result;
  }
  return std::nullopt; // the last form of the table has no condition
}

std::optional<int> BodyExpressions::writtenOut(const Call &call, const std::string &statements,
                                               std::map<std::string, int> operands,
                                               std::map<std::string, const Expr *> others) {
  Diagnostics unused;
  auto module = language::parseStatements(call.function, statements, unused);
  const std::optional<SourceRange> outer = callRange;
  // Who wrote the call reads of it, and not of the text.
  callRange = outer ? outer : std::optional(call.whole->range);
  std::swap(names, operands);
  std::swap(literals, others);
  const auto outerSequences = std::exchange(sequences, {});
  const auto outerAssigned = std::exchange(assigned, {});
  const language::Stmt &last = *module->body.back();
  Expr *value = known.keep(ExprKind::Name, call.whole->range);
  value->text = last.kind == language::StmtKind::Assign ? last.targets[0]->text : "out";
  const std::optional<int> result = readText(module->body) ? readName(*value) : std::nullopt;
  std::swap(names, operands);
  std::swap(literals, others);
  sequences = outerSequences;
  assigned = outerAssigned;
  callRange = outer;
  return result;
}

/// `alpha` of sums and differences: a factor of the second operand; of rsub, of the first.
bool BodyExpressions::scaleOperand(const Expr *alpha, Node &node, SourceRange range) {
  if (!alpha) {
    return true;
  }
  int &operand = node.inputs[node.op == "rsub" ? 0 : 1];
  std::optional<int> factor = read(*alpha);
  std::optional<int> scaled =
      factor ? apply("mul", {operand, *factor}, range) : std::optional<int>();
  operand = scaled.value_or(operand);
  return scaled.has_value();
}

/// Of integers, towards 0: a quotient below 0 that leaves a rest is one more than its floor.
std::optional<int> BodyExpressions::truncatedQuotient(int a, int b, SourceRange range) {
  const auto floor = apply("floor_divide", {a, b}, range);
  const auto rest = floor ? apply("remainder", {a, b}, range) : std::nullopt;
  const int zero = integerConstant(0, "0"), one = integerConstant(1, "1");
  const auto isBelow = rest ? apply("lt", {*floor, zero}, range) : std::nullopt;
  const auto hasRest = rest ? apply("ne", {*rest, zero}, range) : std::nullopt;
  const auto isLow =
      isBelow && hasRest ? apply("logical_and", {*isBelow, *hasRest}, range) : std::nullopt;
  const auto next = isLow ? apply("add", {*floor, one}, range) : std::nullopt;
  return next ? apply("where", {*isLow, *next, *floor}, range) : std::nullopt;
}

/// `rounding_mode` of quotients: "floor" or "trunc".
std::optional<int> BodyExpressions::roundedQuotient(const Expr &mode, Node node,
                                                    SourceRange range) {
  if (mode.kind == ExprKind::String && mode.text == "floor") {
    return apply("floor_divide", node.inputs, range);
  }
  const bool areIntegers = std::all_of(node.inputs.begin(), node.inputs.end(), [&](int input) {
    return isAlways(input, [](DType type) { return !isFloat(type); }) ||
           operandKind(op.nodes[static_cast<size_t>(input)]) == OperandKind::Whole;
  });
  if (mode.kind != ExprKind::String || mode.text != "trunc") {
    fail("E0608", mode.range,
         fmt::format("'rounding_mode' of 'div' expects \"floor\" or \"trunc\", but got {}",
                     mode.kind == ExprKind::String ? "\"" + mode.text + "\""
                                                   : "another expression"));
    return std::nullopt;
  }
  if (areIntegers) {
    return truncatedQuotient(node.inputs[0], node.inputs[1], range);
  }
  std::optional<int> quotient = append(std::move(node), range);
  return quotient ? apply("trunc", {*quotient}, range) : std::nullopt;
}

/// What becomes of the loss of each element: its mean or its sum.
std::optional<int> BodyExpressions::reducedLoss(const std::string &name, const Expr *reduction,
                                                int loss, SourceRange range) {
  const bool isWord = !reduction || reduction->kind == ExprKind::String;
  const std::string word = reduction ? reduction->text : "mean";
  if (!isWord || (word != "none" && word != "mean" && word != "sum")) {
    fail("E0608", reduction->range,
         fmt::format("'reduction' of '{}' expects \"none\", \"mean\" or \"sum\"{}", name,
                     isWord ? ", but got \"" + word + "\"" : ""));
    return std::nullopt;
  }
  if (word == "none") {
    return loss;
  }
  Node total;
  total.op = word;
  total.inputs = {loss};
  total.attributes["keepdim"] = false;
  return append(std::move(total), range);
}

/// Points at the character of the equation that is wrong.
std::optional<int> BodyExpressions::einsumCall(const Call &call) {
  const Expr &whole = *call.whole;
  const Expr *equation = call.positional.empty() ? nullptr : resolved(call.positional[0]);
  if (call.receiver || !whole.keywords.empty() || !equation || equation->kind != ExprKind::String) {
    fail("E0608", equation ? equation->range : whole.range,
         "'einsum' expects its equation as a literal string, then the operands")
        .withHelp("its form is torch.einsum(\"ij,jk->ik\", a, b)");
    return std::nullopt;
  }
  auto parsed = parseEinsum(equation->text);
  if (const auto *problem = std::get_if<EinsumProblem>(&parsed)) {
    // Behind the quote, if the text stands as it is meant.
    SourceRange place = equation->range;
    const bool isPlain =
        static_cast<size_t>(place.endColumn - place.column) == equation->text.size() + 2;
    if (isPlain) {
      place.column += 1 + static_cast<int>(problem->begin);
      place.endColumn = place.column + std::max(1, static_cast<int>(problem->end) -
                                                       static_cast<int>(problem->begin));
    }
    fail("E0608", place, problem->message).withHelp(problem->help);
    return std::nullopt;
  }
  const auto &read = std::get<EinsumEquation>(parsed);
  std::vector<const Expr *> given(call.positional.begin() + 1, call.positional.end());
  const bool isList =
      given.size() == 1 && (given[0]->kind == ExprKind::List || given[0]->kind == ExprKind::Tuple);
  if (isList) { // torch.einsum("i,j->ij", [a, b])
    const Expr &list = *given[0];
    given.clear();
    for (const language::ExprPtr &entry : list.operands) {
      given.push_back(entry.get());
    }
  }
  if (given.size() != read.operands.size()) {
    fail("E0608", whole.range,
         fmt::format("the equation of 'einsum' has {} operands, but the call {}",
                     read.operands.size(), given.size()))
        .withHelp("separate the operands' letters by ','");
    return std::nullopt;
  }
  std::vector<int> operands;
  for (const Expr *each : given) {
    const std::optional<int> operand = this->read(*each);
    if (!operand) {
      return std::nullopt;
    }
    if (isNumber(op.nodes[static_cast<size_t>(*operand)])) {
      fail("E0608", each->range, "'einsum' expects tensors, but got a number")
          .withHelp("multiply the result by it");
      return std::nullopt;
    }
    operands.push_back(*operand);
  }
  EinsumGraph graph(op.nodes, [&](Node node) { return append(std::move(node), whole.range); });
  if (auto problem = graph.prepare(read, operands)) {
    failWith(std::move(*problem), whole.range);
    return std::nullopt;
  }
  return graph.write();
}

// ---- two tensors ----

/// max(x) and min(x) are one tensor, and so are those of two tensors.
bool BodyExpressions::isOfPair(const Call &call) const {
  if (findReductionPair(call.function)) {
    return true;
  }
  const OperationPair *pair = findPair(call.function);
  if (!pair || (pair->name != "max" && pair->name != "min")) {
    return pair != nullptr;
  }
  const size_t count = call.positional.size() + (call.receiver ? 1 : 0);
  const bool namesDim =
      std::any_of(call.whole->keywords.begin(), call.whole->keywords.end(),
                  [](const language::Keyword &keyword) { return keyword.name == "dim"; });
  return namesDim ||
         (count > 1 && literalInteger(*resolved(call.positional[call.receiver ? 0 : 1])));
}

/// Both reductions, over the same dimensions.
std::optional<std::pair<int, int>> BodyExpressions::reductionPairCall(const Call &call) {
  const ReductionPair &pair = *findReductionPair(call.function);
  const std::optional<int> first = operationCall(call, *findOperation(pair.first));
  if (!first) {
    return std::nullopt;
  }
  Node other = op.nodes[static_cast<size_t>(*first)];
  other.op = pair.second;
  other.name.clear();
  const auto &arguments = findOperation(pair.second)->arguments;
  std::erase_if(other.attributes, [&](const auto &attribute) { // a mean has no correction
    return std::none_of(arguments.begin(), arguments.end(),
                        [&](const Argument &argument) { return argument.name == attribute.first; });
  });
  const std::optional<int> second = append(std::move(other), call.whole->range);
  return second ? std::optional(std::pair(*first, *second)) : std::nullopt;
}

std::optional<std::pair<int, int>> BodyExpressions::pairCall(const Call &call) {
  if (findReductionPair(call.function)) {
    return reductionPairCall(call);
  }
  const OperationPair &pair = *findPair(call.function);
  std::optional<int> values = operationCall(call, *findOperation(pair.values));
  if (!values) {
    return std::nullopt;
  }
  Node second = op.nodes[static_cast<size_t>(*values)];
  if (pair.values != pair.name) { // for gradients: max gives its own to one element
    op.nodes[static_cast<size_t>(*values)].attributes["corner"] = std::string("selection");
  }
  second.op = pair.indices;
  second.name.clear();
  std::optional<int> indices = append(std::move(second), call.whole->range);
  return indices ? std::optional(std::pair(*values, *indices)) : std::nullopt;
}

bool BodyExpressions::returnsTwo(const Expr &expr) {
  if (expr.kind != ExprKind::Call) {
    return false;
  }
  const Expr &callee = *expr.operands[0];
  if ((callee.kind != ExprKind::Name && callee.kind != ExprKind::Attribute) ||
      (!findPair(callee.text) && !findReductionPair(callee.text) &&
       !BodyWindows::isFunction(callee.text))) {
    return false;
  }
  const std::optional<Call> call = takenApart(expr, false);
  const bool isPair = findPair(callee.text) || findReductionPair(callee.text);
  return call && (isPair ? isOfPair(*call) : BodyWindows(*this, *call).returnsTwo());
}

bool BodyExpressions::returnsPieces(const Expr &expr) {
  const Expr *callee = expr.kind == ExprKind::Call ? expr.operands[0].get() : nullptr;
  const bool isNamed =
      callee && (callee->kind == ExprKind::Name || callee->kind == ExprKind::Attribute);
  return isNamed && BodyWindows::isFunction(callee->text) &&
         definition::returnsPieces(callee->text);
}

std::optional<std::vector<int>> BodyExpressions::readSeveral(const Expr &expr) {
  const std::optional<Call> call = takenApart(expr, true);
  if (call && BodyWindows::isFunction(call->function)) {
    return BodyWindows(*this, *call).run();
  }
  const auto both = call ? pairCall(*call) : std::nullopt;
  return both ? std::optional(std::vector{both->first, both->second}) : std::nullopt;
}

/// `.values`, `.indices`, `[0]` and `[1]` of such a call; nothing, and no error, of anything else.
std::optional<int> BodyExpressions::partOfSeveral(const Expr &expr) {
  const Expr &base = *expr.operands[0];
  std::optional<int64_t> part;
  if (expr.kind == ExprKind::Subscript) {
    part = literalInteger(*expr.operands[1]);
  } else if (expr.text == "values" || expr.text == "indices") {
    part = expr.text == "values" ? 0 : 1;
  } else if ((expr.text == "min" || expr.text == "max") && base.kind == ExprKind::Call &&
             base.operands[0]->text == "aminmax") {
    part = expr.text == "min" ? 0 : 1;
  }
  const bool arePieces = part && expr.kind == ExprKind::Subscript && returnsPieces(base);
  if (!part || (!arePieces && (*part < 0 || *part > 1 || !returnsTwo(base)))) {
    return std::nullopt;
  }
  const std::optional<std::vector<int>> all = readSeveral(base);
  if (!all) {
    return std::nullopt;
  }
  const auto count = static_cast<int64_t>(all->size());
  if (*part < -count || *part >= count) {
    fail("E0604", expr.range,
         fmt::format("an index of {} pieces expects to lie among them, but got {}", count, *part));
    return std::nullopt;
  }
  return (*all)[static_cast<size_t>(*part < 0 ? *part + count : *part)];
}

/// Where one value is expected.
std::optional<int> BodyExpressions::onlyOfPair(const Call &call) {
  if (!isOfPair(call)) { // max and min of everything, or of two tensors
    const size_t count =
        call.positional.size() + (call.receiver ? 1 : 0) + call.whole->keywords.size();
    const bool isMax = call.function == "max";
    const char *name = count > 1 ? (isMax ? "maximum" : "minimum") : (isMax ? "amax" : "amin");
    return operationCall(call, *findOperation(name));
  }
  const ReductionPair *both = findReductionPair(call.function);
  fail("E0608", call.whole->range,
       fmt::format("'{}' returns two tensors, but one is expected", call.function))
      .withHelp(both ? fmt::format("write '{1}, {2} = {0}(…)', or '{0}(…)[0]'", call.function,
                                   both->first, both->second)
                     : fmt::format("write 'values, indices = {0}(…)', or '{0}(…).values'",
                                   call.function));
  return std::nullopt;
}

std::optional<int> BodyExpressions::onlyOfWritten(const Call &call) {
  BodyWindows written(*this, call);
  if (written.returnsTwo()) {
    fail("E0608", call.whole->range,
         fmt::format("'{}' returns two tensors, but one is expected", call.function))
        .withHelp(fmt::format("write 'values, indices = {0}(…)', or '{0}(…)[0]'", call.function));
    return std::nullopt;
  }
  if (written.returnsPieces()) {
    fail("E0608", call.whole->range,
         fmt::format("'{}' returns several tensors, but one is expected", call.function))
        .withHelp(fmt::format("write 'a, b = {0}(…)', or '{0}(…)[0]'", call.function));
    return std::nullopt;
  }
  const auto result = written.run();
  return result ? std::optional(result->front()) : std::nullopt;
}

/// The largest of nothing, and where it is, has no value: such sizes are refused, as in PyTorch.
bool BodyExpressions::expectElement(const Node &node, SourceRange range) {
  const int before = errorCount();
  const int input = node.inputs[0];
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(input)].shape;
  std::vector<int64_t> dims = dimsOf(node);
  if (const std::optional<int64_t> line = isAlong(node) ? dimAlong(node) : std::nullopt) {
    dims = {*line};
  }
  if (dims.empty()) { // all of them
    dims.resize(shape.size());
    std::iota(dims.begin(), dims.end(), -static_cast<int64_t>(shape.size()));
  }
  for (int64_t dim : dims) {
    const int64_t at = static_cast<int64_t>(shape.size()) + dim;
    if (dim >= 0 || at < 0 || shape[static_cast<size_t>(at)].isRest()) {
      continue; // shape inference says what is wrong
    }
    const SizePolynomial size = SizePolynomial::of(shape[static_cast<size_t>(at)]);
    if (size.constant() == 0) {
      fail("E0604", range,
           fmt::format("'{}' expects an element along dim={}, but the size there is 0", node.op,
                       dim))
          .withHelp("the largest and the smallest of nothing have no value");
    } else {
      BodyMoves(*this).expectNotNegative(size - 1, "", range);
    }
  }
  return errorCount() == before;
}

bool BodyExpressions::expectOneType(const std::string &name, std::span<const int> tensors,
                                    SourceRange range) {
  for (const std::vector<DType> &each : types) {
    std::optional<DType> first;
    for (int tensor : tensors) {
      if (isNumber(op.nodes[static_cast<size_t>(tensor)])) {
        continue;
      }
      const DType type = each[static_cast<size_t>(tensor)];
      first = first.value_or(type);
      if (type != *first) {
        fail("E0605", range,
             fmt::format("'{}' expects operands of one type, but got {} and {}", name,
                         torchName(*first), torchName(type)))
            .withHelp(fmt::format("convert one of them, as in 'b.to(torch.{})'",
                                  torchName(promote(*first, type))));
        return false;
      }
    }
  }
  return true;
}

bool BodyExpressions::checkRanks(const std::string &name, const Node &node, SourceRange range) {
  static const std::map<std::string, std::pair<size_t, size_t>> ranks = {
      {"mm", {2, 2}}, {"bmm", {3, 3}}, {"mv", {2, 1}}, {"dot", {1, 1}}};
  const auto found = ranks.find(name);
  if (found == ranks.end()) {
    return true;
  }
  auto fits = [&](int operand, size_t rank) {
    const SymbolicShape &shape = op.nodes[static_cast<size_t>(operand)].shape;
    const bool isOpen = !shape.empty() && shape[0].isRest();
    return isOpen ? shape.size() - 1 <= rank : shape.size() == rank;
  };
  const auto [first, second] = found->second;
  if (fits(node.inputs[0], first) && fits(node.inputs[1], second)) {
    return true;
  }
  fail("E0604", range,
       fmt::format("'{}' expects operands of {} and {} dimensions, but got {} and {}", name, first,
                   second, text(op.nodes[static_cast<size_t>(node.inputs[0])].shape),
                   text(op.nodes[static_cast<size_t>(node.inputs[1])].shape)))
      .withHelp("torch.matmul takes vectors, matrices and batches of them");
  return false;
}

/// Lines whose length is a name: a constraint has to say that it is long enough.
bool BodyExpressions::checkLength(const Node &node, SourceRange range) {
  const int64_t least = isAlong(node) ? leastLength(node) : 0;
  static const std::set<std::string> extremes = {"amax", "amin", "argmax", "argmin"};
  if (least == 1 || extremes.contains(node.op)) {
    return expectElement(node, range);
  }
  const std::optional<int64_t> dim = dimAlong(node);
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(node.inputs[0])].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  if (least < 2 || !dim || *dim < -rank) {
    return true;
  }
  const Dim &line = shape[static_cast<size_t>(rank + *dim)];
  if (line.symbol.empty() || line.isRest()) {
    return true; // shape inference looks
  }
  auto isLine = [&](const ConstraintTerm &term) {
    if (term.kind == ConstraintTerm::Kind::Symbol) {
      return term.name == line.symbol;
    }
    if (term.kind != ConstraintTerm::Kind::Size) {
      return false;
    }
    const SymbolicShape &own = op.parameters[static_cast<size_t>(term.parameter)].shape;
    const int64_t at = term.index < 0 ? term.index + static_cast<int64_t>(own.size()) : term.index;
    return at >= 0 && at < static_cast<int64_t>(own.size()) &&
           own[static_cast<size_t>(at)].symbol == line.symbol;
  };
  auto says = [&](const ConstraintTerm &size, const std::string &relation,
                  const ConstraintTerm &number) {
    const auto bound = number.number + (relation == ">" ? 1 : 0);
    return isLine(size) && number.kind == ConstraintTerm::Kind::Number &&
           (relation == ">" || relation == ">=" || relation == "==") &&
           bound >= static_cast<long double>(least);
  };
  const bool isSaid =
      std::any_of(op.constraints.begin(), op.constraints.end(), [&](const Constraint &constraint) {
        return says(constraint.left, constraint.relation, constraint.right) ||
               says(constraint.right, mirrored(constraint.relation), constraint.left);
      });
  if (!isSaid) {
    const OperationPair *pair = findPairOfIndices(node.op);
    fail("E0604", range,
         fmt::format("'{}' expects lines of at least k={} elements, but '{}' may be any size",
                     pair ? pair->name : node.op, least, line.symbol))
        .withHelp(
            fmt::format("add constraints = [\"{} >= {}\"] to [operator]", line.symbol, least));
  }
  return isSaid;
}

} // namespace nereid::definition
