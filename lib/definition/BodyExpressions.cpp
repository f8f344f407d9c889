// SPDX-License-Identifier: Apache-2.0
// The expression kinds a body may hold. Calls are taken apart in BodyCalls.cpp.
#include "lib/definition/BodyExpressions.h"

#include "lib/definition/Infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

BodyExpressions::BodyExpressions(Operator &op, const BodyPlace &place, int indentation,
                                 Diagnostics &diags)
    : op(op), place(place), indentation(indentation), diags(diags) {
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    names[op.parameters[i].name] = static_cast<int>(i);
  }
  types = nodeDtypes(op, DType::F32);
  std::istringstream in(place.fileText);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(std::move(line));
  }
}

SourceRange BodyExpressions::moved(SourceRange range) const {
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
  ++errors;
  Diagnostic &error = diags.add(makeError(std::move(code), std::move(message)));
  error.at(place.path, place.fileText, moved(range));
  return error;
}

void BodyExpressions::report(Diagnostic diagnostic) {
  ++errors;
  SourceRange there = moved(diagnostic.range);
  diags.add(std::move(diagnostic)).at(place.path, place.fileText, there);
}

DType BodyExpressions::typeOf(int node) const { return types[static_cast<size_t>(node)]; }

int BodyExpressions::constant(double value, std::string source) {
  Node node;
  node.op = "constant";
  node.attributes["value"] = value;
  node.source = std::move(source);
  op.nodes.push_back(std::move(node));
  types.push_back(DType::F32);
  return static_cast<int>(op.nodes.size()) - 1;
}

std::optional<int> BodyExpressions::lookup(const std::string &name) const {
  auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional<int>(found->second);
}

void BodyExpressions::assign(const std::string &name, std::optional<int> node, SourceRange range) {
  assigned.insert(name);
  if (!node) {
    names.erase(name);
    return;
  }
  bool isParameter = std::any_of(op.parameters.begin(), op.parameters.end(),
                                 [&](const Parameter &p) { return p.name == name; });
  if (isParameter) {
    fail("E0608", range, fmt::format("'{}' is an input and cannot be assigned", name))
        .withHelp("give the result another name");
    return;
  }
  Node &target = op.nodes[static_cast<size_t>(*node)];
  if (target.name.empty()) {
    target.name = name;
  }
  names[name] = *node;
}

std::optional<int> BodyExpressions::readName(const Expr &expr) {
  if (std::optional<int> node = lookup(expr.text)) {
    return node;
  }
  if (wasAssigned(expr.text)) {
    return std::nullopt; // its definition was refused already
  }
  std::vector<std::string> known;
  for (const auto &[name, node] : names) {
    known.push_back(name);
  }
  std::vector<std::string> symbols = symbolsOf(op);
  bool isSymbol = std::find(symbols.begin(), symbols.end(), expr.text) != symbols.end();
  Diagnostic &error =
      fail("E0608", expr.range,
           isSymbol ? fmt::format("'{}' is a size and cannot be used as a value", expr.text)
                    : fmt::format("'{}' is not defined", expr.text));
  if (isSymbol) {
    error.withHelp("use torch.mean or torch.var, which know the length they reduce");
  } else if (auto near = nearestNames(expr.text, known); !near.empty()) {
    error.withHelp(fmt::format("did you mean '{}'?", fmt::join(near, "', '")));
  } else {
    error.withHelp(fmt::format("defined here: {}", fmt::join(known, ", ")));
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
  if (expr.text == "~" && typeOf(*operand) == DType::Bool) {
    return apply("logical_not", {*operand}, expr.range);
  }
  fail("E0608", expr.range,
       fmt::format("'{}' expects a bool tensor in the form '~mask'", expr.text))
      .withHelp("use '~' on a comparison, or torch.logical_not");
  return std::nullopt;
}

std::optional<int> BodyExpressions::binary(const std::string &text, const Expr &left,
                                           const Expr &right, SourceRange range) {
  static const std::map<std::string, std::string> arithmetic = {
      {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"**", "pow"}, {"@", "matmul"}};
  static const std::map<std::string, std::string> logical = {
      {"&", "logical_and"}, {"|", "logical_or"}, {"^", "logical_xor"}};
  std::optional<int> a = read(left), b = read(right);
  if (!a || !b) {
    return std::nullopt;
  }
  if (auto found = arithmetic.find(text); found != arithmetic.end()) {
    return apply(found->second, {*a, *b}, range);
  }
  auto found = logical.find(text);
  if (found == logical.end()) {
    fail("E0608", range, fmt::format("the operator '{}' is not available in a body", text))
        .withHelp("available: + - * / ** @ and, between bool tensors, & | ^");
    return std::nullopt;
  }
  if (typeOf(*a) != DType::Bool || typeOf(*b) != DType::Bool) {
    fail("E0608", range, fmt::format("'{}' expects bool tensors on both sides", text))
        .withHelp("compare first, or use torch.logical_and, logical_or, logical_xor");
    return std::nullopt;
  }
  return apply(found->second, {*a, *b}, range);
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
  fail("E0608", expr.range, fmt::format("the attribute '{}' is not available here", expr.text))
      .withHelp("shapes are symbols of [inputs]; functions are called as torch.name(…), "
                "F.name(…) or x.name(…)");
  return std::nullopt;
}

std::optional<int> BodyExpressions::read(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Name:
    return readName(expr);
  case ExprKind::Integer:
    return constant(static_cast<double>(expr.integer), sourceText(expr.range));
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
    fail("E0608", expr.range, "a conditional expression is not available in a body")
        .withHelp("use torch.where(condition, a, b)");
    return std::nullopt;
  case ExprKind::And:
  case ExprKind::Or:
    fail("E0608", expr.range, "'and' and 'or' are not available on tensors")
        .withHelp("use '&' and '|' between comparisons in parentheses");
    return std::nullopt;
  case ExprKind::Subscript:
    fail("E0608", expr.range, "indexing is not available in a body")
        .withHelp("declare the input with the dimensions it is used with, such as [\"C\", 1]");
    return std::nullopt;
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

/// Numbers are computed here, so that the graph holds no operation on numbers alone.
std::optional<int> BodyExpressions::fold(const Node &node) {
  std::vector<double> values;
  for (int input : node.inputs) {
    const Node &operand = op.nodes[static_cast<size_t>(input)];
    if (operand.op != "constant") {
      return std::nullopt;
    }
    values.push_back(constantValue(operand));
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

std::optional<int> BodyExpressions::append(Node node, SourceRange range) {
  node.source = sourceText(range);
  if (std::optional<int> folded = fold(node)) {
    return folded;
  }
  bool anyTensor = std::any_of(node.inputs.begin(), node.inputs.end(), [&](int input) {
    const std::string &kind = op.nodes[static_cast<size_t>(input)].op;
    return kind != "constant" && kind != "scalar";
  });
  if (!anyTensor) {
    fail("E0608", range,
         fmt::format("'{}' expects at least one tensor, but got only numbers", node.op));
    return std::nullopt;
  }
  Result<SymbolicShape> shape = inferShape(node, op.nodes);
  if (!shape) {
    ++errors;
    diags.add(shape.error()).at(place.path, place.fileText, moved(range));
    return std::nullopt;
  }
  node.shape = *shape;
  DType type = inferDtype(node, op.nodes, types, DType::F32);
  const Operation *operation = findOperation(node.op);
  bool isArithmetic = operation->result == ResultType::Same && node.op != "where" &&
                      operation->kind == OperationKind::Pointwise;
  if (isArithmetic && type == DType::Bool) {
    fail("E0608", range, fmt::format("'{}' expects numbers, but got bool tensors only", node.op))
        .withHelp("combine masks with & | ^ ~, or select with torch.where");
    return std::nullopt;
  }
  op.nodes.push_back(std::move(node));
  types.push_back(type);
  return static_cast<int>(op.nodes.size()) - 1;
}

} // namespace nereid::definition
