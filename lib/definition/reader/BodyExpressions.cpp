// SPDX-License-Identifier: Apache-2.0
// The expression kinds a body may hold. Calls are taken apart in BodyCalls.cpp.
#include "lib/definition/reader/BodyExpressions.h"

#include "lib/definition/constraints/ConstraintReader.h"
#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Signs.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/definition/operations/sizes/SizeRules.h"
#include "lib/definition/reader/BodyCasts.h"
#include "lib/definition/reader/BodyInPlace.h"
#include "lib/definition/reader/creation/TypeLimits.h"
#include "lib/definition/reader/indices/BodyIndexing.h"
#include "lib/definition/reader/moves/BodyMoves.h"
#include "lib/definition/reader/sequences/BodySequences.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

static bool isBool(DType type) { return type == DType::Bool; }

BodyExpressions::BodyExpressions(Operator &op, const BodyPlace &place, int indentation,
                                 Diagnostics &diags)
    : op(op), place(place), indentation(indentation), diags(diags),
      known(op.nodes, names, literals), defined(*this) {
  known.findListsBy(
      [this](const Expr &list) { return BodySequences(*this).lengthOf(list); },
      [this](const Expr &subscript) { return BodySequences(*this).knownEntry(subscript); });
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    if (!op.parameters[i].isSize()) { // those are read as the sizes that they are
      names[op.parameters[i].name] = static_cast<int>(i);
    }
  }
  dtypes = op.dtypes.empty() ? std::vector<DType>{DType::F32} : op.dtypes;
  for (DType dtype : dtypes) {
    types.push_back(nodeDtypes(op, dtype));
  }
  std::istringstream in(place.fileText);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(std::move(line));
  }
}

SourceRange BodyExpressions::moved(SourceRange range) const {
  range = callRange.value_or(range);
  int shift = indentation;
  if (range.line == place.firstLine) {
    shift += place.firstColumn - 1;
  }
  return SourceRange{range.line, range.column + shift, range.endColumn + shift};
}

std::string BodyExpressions::sourceText(SourceRange range) const {
  SourceRange there = moved(range);
  if (there.line < 1 || there.line > static_cast<int>(lines.size())) {
    return "";
  }
  const std::string &line = lines[static_cast<size_t>(there.line - 1)];
  auto begin = static_cast<size_t>(std::max(0, there.column - 1));
  auto end = std::min(line.size(), static_cast<size_t>(std::max(0, there.endColumn - 1)));
  return begin < end ? line.substr(begin, end - begin) : "";
}

Diagnostic &BodyExpressions::fail(std::string code, SourceRange range, std::string message) {
  return failWith(makeError(std::move(code), std::move(message)), range);
}

Diagnostic &BodyExpressions::failWith(Diagnostic problem, SourceRange range) {
  ++errors;
  Diagnostic &error = diags.add(std::move(problem));
  error.at(place.path, place.fileText, moved(range));
  for (auto at = within.rbegin(); at != within.rend(); ++at) {
    error.note("in " + *at);
  }
  return error;
}

void BodyExpressions::report(Diagnostic diagnostic) {
  ++errors;
  SourceRange there = moved(diagnostic.range);
  diags.add(std::move(diagnostic)).at(place.path, place.fileText, there);
}

bool BodyExpressions::isAlways(int node, bool (*holds)(DType)) const {
  return std::all_of(types.begin(), types.end(), [&](const std::vector<DType> &list) {
    return holds(list[static_cast<size_t>(node)]);
  });
}

int BodyExpressions::addLeaf(Node node) {
  op.nodes.push_back(std::move(node));
  for (size_t i = 0; i < types.size(); ++i) {
    types[i].push_back(dtypes[i]);
  }
  return static_cast<int>(op.nodes.size()) - 1;
}

int BodyExpressions::constant(double value, std::string source) {
  Node node;
  node.op = "constant";
  node.attributes["value"] = value;
  node.source = std::move(source);
  return addLeaf(std::move(node));
}

int BodyExpressions::integerConstant(int64_t value, std::string source) {
  Node node;
  node.op = "constant";
  node.attributes["value"] = static_cast<double>(value);
  node.attributes["integer"] = value;
  node.source = std::move(source);
  return addLeaf(std::move(node));
}

int BodyExpressions::size(std::string text, bool isWhole, SourceRange range) {
  Node node = sizeNode(std::move(text), isWhole);
  node.source = sourceText(range);
  return addLeaf(std::move(node));
}

std::optional<int> BodyExpressions::lookup(const std::string &name) const {
  if (const std::optional<int> entry = known.numberedNode(name)) {
    return entry;
  }
  auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional<int>(found->second);
}

bool BodyExpressions::isInput(const std::string &name) const {
  return !isInText() && !defined.isRunning() && !rebound.contains(name) &&
         std::any_of(op.parameters.begin(), op.parameters.end(),
                     [&](const Parameter &p) { return p.name == name; });
}

void BodyExpressions::assign(const std::string &name, std::optional<int> node, SourceRange range) {
  assigned.insert(name);
  literals.erase(name);
  sequences.erase(name);
  if (!node) {
    names.erase(name);
    return;
  }
  if (isInText()) { // its names are none of the body's
    names[name] = *node;
    return;
  }
  if (!defined.isRunning() && defined.has(name)) {
    fail("E0608", range, fmt::format("'{}' is a function and cannot be assigned", name))
        .withHelp("give the result another name");
    return;
  }
  if (isInput(name)) {
    if (BodyInPlace(*this).isWritten(name)) {
      fail("E0608", range,
           fmt::format("'{}' is an input that the body writes into, and cannot be assigned", name))
          .withHelp("give the result another name");
      return;
    }
    rebound.insert(name);
  }
  Node &target = op.nodes[static_cast<size_t>(*node)];
  if (target.name.empty() && !rebound.contains(name)) {
    target.name = name;
  }
  names[name] = *node;
}

/// A tuple such as dims = (1, 2), or (B, -1): of numbers and names of sizes.
bool BodyExpressions::isListOfNumbers(const Expr &expr) const {
  const bool isList = expr.kind == ExprKind::Tuple || expr.kind == ExprKind::List;
  return isList && !expr.operands.empty() &&
         std::all_of(expr.operands.begin(), expr.operands.end(), [&](const auto &entry) {
           const auto node =
               entry->kind == ExprKind::Name ? lookup(entry->text) : std::optional<int>();
           return known.integerOf(*entry) ||
                  (entry->kind == ExprKind::Name && !node && !sequences.contains(entry->text));
         });
}

std::optional<size_t> BodyExpressions::listLength(const std::string &name) const {
  const auto list = sequences.find(name);
  return list == sequences.end() ? std::nullopt : std::optional(list->second->size());
}

void BodyExpressions::assignSequence(const std::string &name, std::vector<int> nodes,
                                     SourceRange range) {
  const int before = errors;
  assign(name, constant(0, ""), range); // what may not be assigned is refused alike
  names.erase(name);
  if (errors == before) {
    sequences[name] = std::make_shared<Sequence>(std::move(nodes));
  }
}

bool BodyExpressions::assignTargets(const Expr &target, const std::vector<int> &values,
                                    bool isOwn) {
  const bool isList = target.kind == ExprKind::Tuple || target.kind == ExprKind::List;
  std::vector<const Expr *> given;
  for (size_t i = 0; i < (isList ? target.operands.size() : 1); ++i) {
    given.push_back(isList ? target.operands[i].get() : &target);
  }
  const auto star = std::find_if(given.begin(), given.end(),
                                 [](const Expr *each) { return each->kind == ExprKind::Starred; });
  const size_t least = given.size() - (star == given.end() ? 0 : 1);
  if (star == given.end() ? values.size() != least : values.size() < least) {
    fail("E0608", target.range,
         fmt::format("{} name{} assigned {} values", given.size(),
                     given.size() == 1 ? " is" : "s are", values.size()));
    return false;
  }
  const int before = errors;
  auto next = values.begin();
  for (const Expr *each : given) {
    const bool isRest = each->kind == ExprKind::Starred;
    const Expr &name = isRest ? *each->operands[0] : *each;
    if (name.kind != ExprKind::Name) {
      fail("E0608", name.range, "an assignment in a body expects names on its left");
      return false;
    }
    const auto end = isRest ? next + static_cast<std::ptrdiff_t>(values.size() - least) : next + 1;
    if (isRest) {
      assignSequence(name.text, {next, end}, name.range);
    } else if (isOwn) {
      literals.erase(name.text);
      sequences.erase(name.text);
      assigned.insert(name.text);
      names[name.text] = *next;
    } else if (name.text != "_") {
      assign(name.text, *next, name.range);
    }
    next = end;
  }
  return errors == before;
}

bool BodyExpressions::assignLiteral(const std::string &name, const Expr &value, SourceRange range) {
  const bool isList = value.kind == ExprKind::Tuple || value.kind == ExprKind::List;
  if (isList && !isListOfNumbers(value)) {
    return false;
  }
  const Expr *literal = known.literalOf(value);
  literal = literal ? literal : TypeLimits(*this).literal(value);
  if (!literal) {
    return false;
  }
  const int before = errors;
  assign(name, constant(0, ""), range); // what may not be assigned is refused alike
  names.erase(name);
  if (errors == before) {
    literals[name] = literal;
  }
  return true;
}

void BodyExpressions::assignInteger(const std::string &name, int64_t value, SourceRange range) {
  assign(name, integerConstant(value, std::to_string(value)), range);
}

/// The line of a body's first level that gives the name a value, "" when there is none.
static std::string assignmentOf(const std::string &body, const std::string &name) {
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) {
    const size_t end =
        line.starts_with(name) ? line.find_first_not_of(' ', name.size()) : std::string::npos;
    if (end != std::string::npos && line[end] == '=' && line.compare(end, 2, "==") != 0) {
      return line;
    }
  }
  return "";
}

std::optional<int> BodyExpressions::readName(const Expr &expr) {
  if (std::optional<int> node = lookup(expr.text)) {
    return node;
  }
  if (sequences.contains(expr.text)) {
    fail("E0608", expr.range,
         fmt::format("'{}' is a list, where a tensor or a number is expected", expr.text))
        .withHelp(fmt::format("join its entries, torch.cat({0}, dim=-1) or torch.stack({0}), or "
                              "take one: {0}[0]",
                              expr.text));
    return std::nullopt;
  }
  if (auto found = literals.find(expr.text); found != literals.end()) {
    if (const auto number = found->second ? literalInteger(*found->second) : std::nullopt) {
      return integerConstant(*number, std::to_string(*number));
    }
    fail("E0608", expr.range,
         fmt::format("'{}' is no tensor and no number, but a value that arguments and conditions "
                     "take",
                     expr.text));
    return std::nullopt;
  }
  if (defined.has(expr.text) && !callRange) {
    fail("E0608", expr.range, fmt::format("'{}' is a function", expr.text))
        .withHelp(fmt::format("call it: {}(…)", expr.text));
    return std::nullopt;
  }
  if (wasAssigned(expr.text)) {
    return std::nullopt; // its definition was refused already
  }
  const std::vector<std::string> symbols = symbolsOf(op);
  if (std::find(symbols.begin(), symbols.end(), expr.text) != symbols.end()) {
    return size(expr.text, true, expr.range);
  }
  std::vector<std::string> visible;
  for (const auto &[name, node] : names) {
    visible.push_back(name);
  }
  Diagnostic &error = fail("E0608", expr.range, fmt::format("'{}' is not defined", expr.text));
  if (const std::string later = assignmentOf(op.body, expr.text); !later.empty()) {
    error.withHelp(fmt::format("it is assigned by '{}', but a body is computed from top to bottom "
                               "and has no cycles",
                               later));
  } else if (auto near = nearestNames(expr.text, visible); !near.empty()) {
    error.withHelp(fmt::format("did you mean '{}'?", fmt::join(near, "', '")));
  } else {
    error.withHelp(fmt::format("defined here: {}", fmt::join(visible, ", ")));
  }
  return std::nullopt;
}

std::optional<int> BodyExpressions::readUnary(const Expr &expr) {
  std::optional<int> operand = read(*expr.operands[0]);
  if (!operand || expr.text == "+") {
    return operand;
  }
  if (expr.text == "-") {
    return apply("neg", {*operand}, expr.range);
  }
  if (expr.text == "~") {
    return apply(isAlways(*operand, isBool) ? "logical_not" : "bitwise_not", {*operand},
                 expr.range);
  }
  fail("E0608", expr.range, fmt::format("'{}' is not available in a body", expr.text))
      .withHelp("use '~' on a comparison, or torch.logical_not");
  return std::nullopt;
}

std::optional<int> BodyExpressions::binary(const std::string &text, const Expr &left,
                                           const Expr &right, SourceRange range) {
  static const std::map<std::string, std::string> ofTensors = {
      {"@", "matmul"}, {"<<", "bitwise_left_shift"}, {">>", "bitwise_right_shift"}};
  static const std::map<std::string, std::string> bitwise = {
      {"&", "_and"}, {"|", "_or"}, {"^", "_xor"}};
  std::optional<int> a = read(left), b = read(right);
  if (!a || !b) {
    return std::nullopt;
  }
  if (const auto operation = operationOfSign(text)) {
    return apply(*operation, {*a, *b}, range);
  }
  if (auto found = ofTensors.find(text); found != ofTensors.end()) {
    return apply(found->second, {*a, *b}, range);
  }
  auto found = bitwise.find(text);
  if (found == bitwise.end()) {
    fail("E0608", range, fmt::format("the operator '{}' is not available in a body", text))
        .withHelp("available: + - * / // % ** @, between integers << >> and, between those or bool "
                  "tensors, & | ^");
    return std::nullopt;
  }
  bool isLogical = isAlways(*a, isBool) && isAlways(*b, isBool);
  return apply((isLogical ? "logical" : "bitwise") + found->second, {*a, *b}, range);
}

std::optional<int> BodyExpressions::readCompare(const Expr &expr) {
  static const std::map<std::string, std::string> known = {
      {"<", "lt"}, {"<=", "le"}, {">", "gt"}, {">=", "ge"}, {"==", "eq"}, {"!=", "ne"}};
  auto found = known.find(expr.text);
  if (found == known.end()) {
    fail("E0608", expr.range, fmt::format("'{}' is not available in a body", expr.text))
        .withHelp("available: < <= > >= == !=");
    return std::nullopt;
  }
  std::optional<int> a = read(*expr.operands[0]), b = read(*expr.operands[1]);
  return a && b ? apply(found->second, {*a, *b}, expr.range) : std::nullopt;
}

/// x.numel(): the product of its sizes.
std::optional<int> BodyExpressions::elementCount(const Expr &tensor, SourceRange range) {
  const std::optional<int> input = read(tensor);
  if (!input) {
    return std::nullopt;
  }
  const SymbolicShape shape = op.nodes[static_cast<size_t>(*input)].shape;
  if (!shape.empty() && shape[0].isRest()) {
    fail("E0604", range,
         fmt::format("'numel' expects a known rank, but got the shape {}", text(shape)))
        .withHelp("give every dimension a name or a size");
    return std::nullopt;
  }
  SizePolynomial count = 1;
  for (const Dim &dim : shape) {
    count = count * SizePolynomial::of(dim);
  }
  const std::optional<int64_t> number = count.constant();
  return number ? integerConstant(*number, std::to_string(*number))
                : size(count.text(), true, range);
}

/// `x.shape[-1]` and `x.size(-1)`: a number made of sizes.
std::optional<int> BodyExpressions::sizeOf(const Expr &tensor, const Expr &place,
                                           SourceRange range) {
  const std::optional<int> input = read(tensor);
  const std::optional<int64_t> dim = input ? known.integerOf(place) : std::nullopt;
  if (!dim) {
    if (input) {
      fail("E0608", place.range, "a size expects a literal dimension, such as x.shape[-1]");
    }
    return std::nullopt;
  }
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(*input)].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const bool isOpen = !shape.empty() && shape[0].isRest();
  const int64_t at = *dim < 0 ? *dim + rank : *dim;
  if (at < (isOpen ? 1 : 0) || at >= rank || (isOpen && *dim >= 0)) {
    fail("E0604", place.range,
         fmt::format("a size expects a dimension of {}, but got {}", text(shape), *dim))
        .withHelp(isOpen ? "where the rank is open, dimensions count from the end: x.shape[-1]"
                         : "dimensions count from 0, or from -1 at the end");
    return std::nullopt;
  }
  const Dim &found = shape[static_cast<size_t>(at)];
  return found.symbol.empty() ? integerConstant(found.constant, std::to_string(found.constant))
                              : size(found.symbol, true, range);
}

std::optional<int> BodyExpressions::readAttribute(const Expr &expr) {
  const Expr &base = *expr.operands[0];
  bool isModule = base.kind == ExprKind::Name && (base.text == "math" || base.text == "torch");
  if (isModule && !lookup(base.text)) {
    static const std::map<std::string, double> numbers = {
        {"inf", std::numeric_limits<double>::infinity()},
        {"nan", std::numeric_limits<double>::quiet_NaN()},
        {"pi", 3.14159265358979323846},
        {"e", 2.71828182845904523536}};
    if (auto found = numbers.find(expr.text); found != numbers.end()) {
      return constant(found->second, sourceText(expr.range));
    }
  }
  if (TypeLimits::isLimit(expr)) {
    return TypeLimits(*this).limit(expr);
  }
  const int before = errors;
  if (std::optional<int> part = partOfSeveral(expr); part || errors > before) {
    return part;
  }
  if (const auto rank = expr.text == "ndim" ? known.integerOf(expr) : std::nullopt) {
    return integerConstant(*rank, std::to_string(*rank));
  }
  if (expr.text == "T" || expr.text == "mT") {
    const std::optional<int> matrix = read(base);
    return matrix ? swappedMatrix(*matrix, expr.text, expr.range) : std::nullopt;
  }
  fail("E0608", expr.range, fmt::format("the attribute '{}' is not available here", expr.text))
      .withHelp("sizes are symbols of [inputs], such as D; functions are called as torch.name(…), "
                "F.name(…) or x.name(…)");
  return std::nullopt;
}

std::optional<int> BodyExpressions::read(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Name:
    return readName(expr);
  case ExprKind::Integer:
    if (expr.integer < 0) {
      fail("E0608", expr.range, fmt::format("the integer {} has more than 63 bits", expr.text))
          .withHelp("write it as a float");
      return std::nullopt;
    }
    return integerConstant(expr.integer, sourceText(expr.range));
  case ExprKind::Float:
    return constant(expr.real, sourceText(expr.range));
  case ExprKind::Unary:
    return readUnary(expr);
  case ExprKind::Binary:
    return binary(expr.text, *expr.operands[0], *expr.operands[1], expr.range);
  case ExprKind::Compare:
    return readCompare(expr);
  case ExprKind::Attribute:
    return readAttribute(expr);
  case ExprKind::Call:
    return readCall(expr);
  case ExprKind::Conditional:
    if (const std::optional<BodyConstant> condition = known.constantOf(*expr.operands[0])) {
      return read(*expr.operands[isTrue(*condition) ? 1 : 2]);
    }
    fail("E0608", expr.range,
         "the condition of a conditional expression is not known when the definition is read")
        .withHelp("use torch.where(condition, a, b)");
    return std::nullopt;
  case ExprKind::And:
  case ExprKind::Or:
    fail("E0608", expr.range, "'and' and 'or' are not available on tensors")
        .withHelp("use '&' and '|' between comparisons in parentheses");
    return std::nullopt;
  case ExprKind::Subscript: {
    if (expr.operands[0]->kind == ExprKind::Attribute && expr.operands[0]->text == "shape") {
      return sizeOf(*expr.operands[0]->operands[0], *expr.operands[1], expr.range);
    }
    if (BodySequences(*this).isEntry(expr)) {
      return BodySequences(*this).entry(expr);
    }
    if (BodyIndexing(*this).isIndexed(expr)) {
      return BodyIndexing(*this).subscript(expr);
    }
    const int before = errors;
    if (std::optional<int> part = partOfSeveral(expr); part || errors > before) {
      return part;
    }
    return BodyMoves(*this).readSubscript(expr);
  }
  default:
    fail("E0608", expr.range, "this expression is not available in a body")
        .withHelp("available: numbers, names, arithmetic, comparisons and PyTorch functions");
    return std::nullopt;
  }
}

std::optional<int> BodyExpressions::apply(const std::string &name, std::vector<int> inputs,
                                          SourceRange range) {
  Node node;
  node.op = name;
  node.inputs = std::move(inputs);
  return append(std::move(node), range);
}

/// Integers stay integers, as in Python, while they have no more than 64 bits.
static std::optional<int64_t> foldIntegers(const std::string &op, const std::vector<int64_t> &in) {
  if (op == "floor_divide" || op == "remainder") {
    return floorDivided(in[0], in[1], op == "remainder");
  }
  int64_t result = 0;
  bool overflows = true;
  if (op == "neg") {
    overflows = __builtin_sub_overflow(int64_t{0}, in[0], &result);
  } else if (op == "add") {
    overflows = __builtin_add_overflow(in[0], in[1], &result);
  } else if (op == "sub") {
    overflows = __builtin_sub_overflow(in[0], in[1], &result);
  } else if (op == "mul") {
    overflows = __builtin_mul_overflow(in[0], in[1], &result);
  } else if (op == "pow" && in[1] >= 0 && in[1] < 64) {
    overflows = false;
    result = 1;
    for (int64_t i = 0; i < in[1] && !overflows; ++i) {
      overflows = __builtin_mul_overflow(result, in[0], &result);
    }
  }
  return overflows ? std::nullopt : std::optional<int64_t>(result);
}

/// Numbers are computed here, so that the graph holds no operation on numbers alone.
std::optional<int> BodyExpressions::fold(const Node &node) {
  std::vector<double> values;
  std::vector<int64_t> integers;
  for (int input : node.inputs) {
    const Node &operand = op.nodes[static_cast<size_t>(input)];
    if (operand.op != "constant") {
      return std::nullopt;
    }
    values.push_back(constantValue(operand));
    if (operandKind(operand) == OperandKind::Whole) {
      integers.push_back(integerAttribute(operand, "integer", 0));
    }
  }
  if (integers.size() == values.size()) {
    if (auto whole = foldIntegers(node.op, integers)) {
      return integerConstant(*whole, node.source);
    }
  }
  double result = 0;
  if (node.op == "neg") {
    result = -values[0];
  } else if (node.op == "add") {
    result = values[0] + values[1];
  } else if (node.op == "sub") {
    result = values[0] - values[1];
  } else if (node.op == "mul") {
    result = values[0] * values[1];
  } else if (node.op == "div") {
    result = values[0] / values[1];
  } else if (node.op == "pow") {
    result = std::pow(values[0], values[1]);
  } else {
    return std::nullopt;
  }
  return constant(result, node.source);
}

/// Sizes, numbers and number inputs alone make another number.
std::optional<int> BodyExpressions::joinSizes(const std::string &name,
                                              const std::vector<int> &inputs, SourceRange range) {
  const auto sign = name == "neg" ? std::optional<std::string>("-") : signOfOperation(name);
  bool isMade = false, hasInput = false, isWhole = name != "div";
  std::vector<std::string> texts;
  for (int input : inputs) {
    const Node &operand = op.nodes[static_cast<size_t>(input)];
    if (!isNumber(operand)) {
      return std::nullopt;
    }
    isMade |= operand.op != "constant";
    hasInput |= operand.op == "scalar" || hasNumberInputs(operand);
    isWhole &= operandKind(operand) == OperandKind::Whole;
    texts.push_back(operand.op == "scalar" ? op.parameters[static_cast<size_t>(input)].name
                                           : sizeText(operand));
    const bool isAtom = texts.back().find_first_of("+-*/% ") == std::string::npos;
    texts.back() = isAtom ? texts.back() : "(" + texts.back() + ")";
  }
  const bool needsIntegers = name == "floor_divide" || name == "remainder";
  if (!sign || !isMade || (needsIntegers && !isWhole)) {
    return std::nullopt;
  }
  if (name == "pow") { // negative powers of integers are fractions
    const Node &exponent = op.nodes[static_cast<size_t>(inputs[1])];
    isWhole &= exponent.op == "constant" && integerAttribute(exponent, "integer", -1) >= 0;
  }
  const std::string text =
      texts.size() == 1 ? *sign + texts[0] : texts[0] + " " + *sign + " " + texts[1];
  const int made = size(text, isWhole, range);
  if (hasInput) {
    noteNumberInputs(op.nodes[static_cast<size_t>(made)]);
  }
  return made;
}

/// Powers that PyTorch takes as roots: of -inf they are NaN, of -0 they keep the sign.
static void takeRoots(Node &node, const std::vector<Node> &nodes) {
  if (node.op != "pow" || nodes[static_cast<size_t>(node.inputs[1])].op != "constant") {
    return;
  }
  const double exponent = constantValue(nodes[static_cast<size_t>(node.inputs[1])]);
  if (exponent == 0.5 || exponent == -0.5) {
    node.op = exponent > 0 ? "sqrt" : "rsqrt";
    node.inputs.pop_back();
  }
}

/// Of numbers, where Python has no result.
static bool dividesByZero(const Node &node, const std::vector<Node> &nodes) {
  const bool divides = node.op == "div" || node.op == "floor_divide" || node.op == "remainder";
  const auto isNumberNow = [&](int input) {
    return nodes[static_cast<size_t>(input)].op == "constant";
  };
  return divides && std::all_of(node.inputs.begin(), node.inputs.end(), isNumberNow) &&
         constantValue(nodes[static_cast<size_t>(node.inputs[1])]) == 0;
}

void BodyExpressions::expectConstraint(const std::string &text, SourceRange range) {
  const bool isKnown = std::any_of(op.constraints.begin(), op.constraints.end(),
                                   [&](const Constraint &each) { return each.text == text; });
  if (!isKnown) {
    const SourceRange there = moved(range);
    readConstraint(op, text, {place.path, place.fileText, there.line, there.column}, diags);
  }
}

void BodyExpressions::expectDivisible(const SizePolynomial &numerator,
                                      const SizePolynomial &denominator, SourceRange range) {
  if (!denominator.constant()) {
    expectConstraint((denominator - 1).comparison(), range);
  }
  expectConstraint(divisibility(numerator, denominator), range);
  const SizeRules rules(op);
  for (Node &node : op.nodes) {
    node.shape = rules.named(node.shape);
  }
}

void BodyExpressions::expectDivisor(const std::string &quotient, SourceRange range) {
  Diagnostics unused;
  const language::ExprPtr expr = language::parseExpression("size", quotient, unused);
  const bool isQuotient = expr && expr->kind == ExprKind::Binary && expr->text == "//";
  const auto divisor = isQuotient ? sizePolynomial(*expr->operands[1]) : std::nullopt;
  if (divisor && !divisor->constant()) {
    expectConstraint((*divisor - 1).comparison(), range);
  }
}

/// Where shapes fit if quotients in them leave no rest ("H * (Q // H)" beside "Q"), that becomes a
/// constraint.
Result<SymbolicShape> BodyExpressions::shapeOf(const Node &node, SourceRange range) {
  SizeRules rules(op);
  Result<SymbolicShape> shape = inferShape(node, op.nodes);
  if (shape) {
    return rules.named(*shape);
  }
  const size_t known = rules.all().size();
  for (int input : node.inputs) {
    for (const Dim &dim : op.nodes[static_cast<size_t>(input)].shape) {
      for (const std::string &each : SizePolynomial::of(dim).quotients()) {
        rules.assume(each);
      }
    }
  }
  if (known == rules.all().size()) {
    return shape;
  }
  std::vector<Node> nodes = op.nodes;
  for (int input : node.inputs) {
    Node &operand = nodes[static_cast<size_t>(input)];
    operand.shape = rules.named(operand.shape);
  }
  const Result<SymbolicShape> assumed = inferShape(node, nodes);
  for (size_t i = known; assumed && i < rules.all().size(); ++i) {
    const SizeRule &rule = rules.all()[i];
    expectDivisible(SizePolynomial::symbol(rule.name), rule.divisor, range);
  }
  return assumed ? Result<SymbolicShape>(rules.named(*assumed)) : shape;
}

bool BodyExpressions::convertUnranked(Node &node, SourceRange range) {
  const Operation *operation = findOperation(node.op);
  return !operation || !promotesOperands(*operation) ||
         BodyCasts(*this).convertUnranked(node, *operation, range);
}

std::optional<int> BodyExpressions::append(Node node, SourceRange range) {
  node.source = sourceText(range);
  if (dividesByZero(node, op.nodes)) {
    fail("E0608", range, "a number is divided by 0")
        .withHelp("an infinity is written float('inf') or math.inf");
    return std::nullopt;
  }
  if (std::optional<int> folded = fold(node)) {
    return folded;
  }
  if (std::optional<int> joined = joinSizes(node.op, node.inputs, range)) {
    return joined;
  }
  takeRoots(node, op.nodes);
  const bool anyTensor = std::any_of(node.inputs.begin(), node.inputs.end(), [&](int input) {
    return !isNumber(op.nodes[static_cast<size_t>(input)]);
  });
  if (!anyTensor && !isCreation(node)) {
    fail("E0608", range,
         fmt::format("'{}' expects at least one tensor, but got only numbers", node.op));
    return std::nullopt;
  }
  if (!convertUnranked(node, range)) {
    return std::nullopt;
  }
  const Result<SymbolicShape> shape = shapeOf(node, range);
  if (!shape) {
    failWith(shape.error(), range);
    return std::nullopt;
  }
  node.shape = *shape;
  for (size_t i = 0; i < types.size(); ++i) {
    if (Status fits = checkTypes(node, op.nodes, types[i], dtypes[i]); !fits) {
      failWith(fits.error(), range);
      return std::nullopt;
    }
  }
  for (size_t i = 0; i < types.size(); ++i) {
    types[i].push_back(inferDtype(node, op.nodes, types[i], dtypes[i]));
  }
  op.nodes.push_back(std::move(node));
  return static_cast<int>(op.nodes.size()) - 1;
}

} // namespace nereid::definition
