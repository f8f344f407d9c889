// SPDX-License-Identifier: Apache-2.0
// Expressions from the loosest binding to the tightest: conditional, or, and, not, comparison,
// binary operators by precedence, unary, power, then calls, indices and attributes.
#include "lib/language/syntax/ParserCore.h"

#include <algorithm>

namespace nereid::language {
namespace {

/// Binding strength of a binary operator; 0 for other tokens.
int binaryLevel(std::string_view op) {
  if (op == "|") {
    return 1;
  }
  if (op == "^") {
    return 2;
  }
  if (op == "&") {
    return 3;
  }
  if (op == "<<" || op == ">>") {
    return 4;
  }
  if (op == "+" || op == "-") {
    return 5;
  }
  if (op == "*" || op == "/" || op == "//" || op == "%" || op == "@") {
    return 6;
  }
  return 0;
}

} // namespace

ExprPtr Parser::sealed(ExprPtr node, size_t start) {
  int height = 0;
  auto grow = [&](const ExprPtr &child) { height = std::max(height, child ? child->height : 0); };
  for (const ExprPtr &operand : node->operands) {
    grow(operand);
  }
  for (const Keyword &keyword : node->keywords) {
    grow(keyword.value);
  }
  for (const ComprehensionClause &clause : node->clauses) {
    grow(clause.target);
    grow(clause.iterable);
    std::for_each(clause.conditions.begin(), clause.conditions.end(), grow);
  }
  node->height = height + 1;
  if (node->height > maxHeight) {
    return failTooDeep(start);
  }
  node->range = rangeFrom(start);
  return node;
}

ExprPtr Parser::makeNode(ExprKind kind, size_t start, std::string content,
                         std::vector<ExprPtr> operands) {
  auto node = std::make_unique<Expr>();
  node->kind = kind;
  node->text = std::move(content);
  node->operands = std::move(operands);
  return sealed(std::move(node), start);
}

ExprPtr Parser::makeLeaf(ExprKind kind, size_t start, std::string content) const {
  auto node = std::make_unique<Expr>();
  node->kind = kind;
  node->text = std::move(content);
  node->range = rangeFrom(start);
  return node;
}

ExprPtr Parser::parseStarOrExpression() {
  size_t start = pos;
  if (!acceptOperator("*")) {
    return parseExpression();
  }
  ExprPtr operand = parseBinary(1);
  return operand ? makeNode(ExprKind::Starred, start, {}, list(std::move(operand))) : nullptr;
}

ExprPtr Parser::parseExpressionList() {
  size_t start = pos;
  ExprPtr first = parseStarOrExpression();
  if (!first || !isOperator(",")) {
    return first;
  }
  std::vector<ExprPtr> parts = list(std::move(first));
  while (acceptOperator(",")) {
    bool isLast = is(TokenKind::Newline) || is(TokenKind::End) || isOperator("=") ||
                  isOperator(")") || isOperator("]") || isOperator("}") || isOperator(";") ||
                  isOperator(":");
    if (isLast) {
      break;
    }
    ExprPtr part = parseStarOrExpression();
    if (!part) {
      return nullptr;
    }
    parts.push_back(std::move(part));
  }
  return makeNode(ExprKind::Tuple, start, {}, std::move(parts));
}

/// Loop variables: like an expression list, but `in` ends it.
ExprPtr Parser::parseTargetList() {
  size_t start = pos;
  std::vector<ExprPtr> parts;
  bool isTuple = false;
  do {
    if (isTuple && isKeyword("in")) {
      break;
    }
    size_t partStart = pos;
    bool isStarred = acceptOperator("*");
    ExprPtr part = parsePostfix();
    if (part && isStarred) {
      part = makeNode(ExprKind::Starred, partStart, {}, list(std::move(part)));
    }
    if (!part) {
      return nullptr;
    }
    parts.push_back(std::move(part));
    isTuple |= isOperator(",");
  } while (acceptOperator(","));
  return isTuple ? makeNode(ExprKind::Tuple, start, {}, std::move(parts))
                 : std::move(parts.front());
}

ExprPtr Parser::parseExpression() {
  Level level(*this);
  if (level.isTooDeep()) {
    return failTooDeep(pos);
  }
  return isKeyword("lambda") ? parseLambda() : parseConditional();
}

ExprPtr Parser::parseConditional() {
  size_t start = pos;
  ExprPtr value = parseOr();
  if (!value || !acceptKeyword("if")) {
    return value;
  }
  ExprPtr condition = parseOr();
  if (!condition) {
    return nullptr;
  }
  if (!acceptKeyword("else")) {
    return failExpecting("'else' of the conditional expression");
  }
  ExprPtr otherwise = parseExpression();
  if (!otherwise) {
    return nullptr;
  }
  return makeNode(ExprKind::Conditional, start, {},
                  list(std::move(condition), std::move(value), std::move(otherwise)));
}

ExprPtr Parser::parseLambda() {
  size_t start = pos;
  advance();
  std::vector<std::string> params;
  while (!isOperator(":")) {
    std::string stars;
    while (isOperator("*") || isOperator("**")) {
      stars += spelling(current());
      advance();
    }
    if (!is(TokenKind::Name)) {
      return failExpecting("a parameter name or ':'");
    }
    params.push_back(stars + std::string(spelling(current())));
    advance();
    if (acceptOperator("=") && !parseExpression()) {
      return nullptr; // lambdas are read for heuristics and grids, which call them with all values
    }
    if (!acceptOperator(",")) {
      break;
    }
  }
  if (!expectOperator(":", "after the parameters of 'lambda'")) {
    return nullptr;
  }
  ExprPtr body = parseExpression();
  if (!body) {
    return nullptr;
  }
  ExprPtr node = makeNode(ExprKind::Lambda, start, {}, list(std::move(body)));
  if (node) {
    node->params = std::move(params);
  }
  return node;
}

ExprPtr Parser::parseLogical(std::string_view word, ExprKind kind, ExprPtr (Parser::*operand)()) {
  size_t start = pos;
  ExprPtr first = (this->*operand)();
  if (!first || !isKeyword(word)) {
    return first;
  }
  std::vector<ExprPtr> operands = list(std::move(first));
  while (acceptKeyword(word)) {
    ExprPtr next = (this->*operand)();
    if (!next) {
      return nullptr;
    }
    operands.push_back(std::move(next));
  }
  return makeNode(kind, start, {}, std::move(operands));
}

ExprPtr Parser::parseOr() { return parseLogical("or", ExprKind::Or, &Parser::parseAnd); }
ExprPtr Parser::parseAnd() { return parseLogical("and", ExprKind::And, &Parser::parseNot); }

ExprPtr Parser::parseNot() {
  size_t start = pos;
  if (!acceptKeyword("not")) {
    return parseComparison();
  }
  Level level(*this);
  if (level.isTooDeep()) {
    return failTooDeep(start);
  }
  ExprPtr operand = parseNot();
  return operand ? makeNode(ExprKind::Unary, start, "not", list(std::move(operand))) : nullptr;
}

/// Takes a comparison operator, of one word or two; empty when there is none.
std::string Parser::acceptComparison() {
  constexpr std::string_view symbols[] = {"<", "<=", ">", ">=", "==", "!="};
  std::string_view shown = spelling(current());
  if (is(TokenKind::Operator) &&
      std::find(std::begin(symbols), std::end(symbols), shown) != std::end(symbols)) {
    advance();
    return std::string(shown);
  }
  if (acceptKeyword("in")) {
    return "in";
  }
  if (acceptKeyword("is")) {
    return acceptKeyword("not") ? "is not" : "is";
  }
  bool isNotIn =
      isKeyword("not") && peek(1).kind == TokenKind::Keyword && spelling(peek(1)) == "in";
  if (isNotIn) {
    pos += 2;
    return "not in";
  }
  return {};
}

ExprPtr Parser::parseComparison() {
  size_t start = pos;
  ExprPtr first = parseBinary(1);
  if (!first) {
    return nullptr;
  }
  std::vector<ExprPtr> operands = list(std::move(first));
  std::string firstOperator;
  for (std::string op = acceptComparison(); !op.empty(); op = acceptComparison()) {
    ExprPtr next = parseBinary(1);
    if (!next) {
      return nullptr;
    }
    operands.push_back(std::move(next));
    if (firstOperator.empty()) {
      firstOperator = op;
    }
  }
  if (operands.size() == 1) {
    return std::move(operands.front());
  }
  if (operands.size() == 2) {
    return makeNode(ExprKind::Compare, start, firstOperator, std::move(operands));
  }
  return makeNode(ExprKind::ChainedCompare, start, {}, std::move(operands));
}

ExprPtr Parser::parseBinary(int minLevel) {
  size_t start = pos;
  ExprPtr left = parseUnary();
  while (left && is(TokenKind::Operator)) {
    std::string_view op = spelling(current());
    int level = binaryLevel(op);
    if (level < minLevel || level == 0) {
      break;
    }
    advance();
    ExprPtr right = parseBinary(level + 1);
    if (!right) {
      return nullptr;
    }
    left =
        makeNode(ExprKind::Binary, start, std::string(op), list(std::move(left), std::move(right)));
  }
  return left;
}

ExprPtr Parser::parseUnary() {
  size_t start = pos;
  if (!isOperator("-") && !isOperator("+") && !isOperator("~")) {
    return parsePower();
  }
  Level level(*this);
  if (level.isTooDeep()) {
    return failTooDeep(start);
  }
  std::string op(spelling(current()));
  advance();
  ExprPtr operand = parseUnary();
  return operand ? makeNode(ExprKind::Unary, start, std::move(op), list(std::move(operand)))
                 : nullptr;
}

ExprPtr Parser::parsePower() {
  size_t start = pos;
  ExprPtr base = parsePostfix();
  if (!base || !isOperator("**")) {
    return base;
  }
  Level level(*this);
  if (level.isTooDeep()) {
    return failTooDeep(pos);
  }
  advance();
  ExprPtr exponent = parseUnary();
  return exponent
             ? makeNode(ExprKind::Binary, start, "**", list(std::move(base), std::move(exponent)))
             : nullptr;
}

ExprPtr Parser::parsePostfix() {
  size_t start = pos;
  ExprPtr base = parseAtom();
  while (base) {
    if (isOperator("(")) {
      base = parseCall(std::move(base), start);
    } else if (isOperator("[")) {
      base = parseSubscript(std::move(base), start);
    } else if (acceptOperator(".")) {
      if (!is(TokenKind::Name)) {
        return failExpecting("a name after '.'");
      }
      std::string name(spelling(current()));
      advance();
      base = makeNode(ExprKind::Attribute, start, std::move(name), list(std::move(base)));
    } else {
      break;
    }
  }
  return base;
}

ExprPtr Parser::parseCall(ExprPtr callee, size_t start) {
  size_t open = pos;
  advance();
  auto call = std::make_unique<Expr>();
  call->kind = ExprKind::Call;
  call->operands.push_back(std::move(callee));
  while (!isAtClosing(")")) {
    if (!parseArgument(*call)) {
      return nullptr;
    }
    if (!acceptOperator(",")) {
      break;
    }
  }
  if (!expectClosing(")", open, "after the arguments")) {
    return nullptr;
  }
  return sealed(std::move(call), start);
}

bool Parser::parseArgument(Expr &call) {
  size_t start = pos;
  bool isSpread = isOperator("**");
  bool isNamed = is(TokenKind::Name) && isOperatorAt(1, "=");
  if (isSpread || isNamed) {
    Keyword keyword;
    keyword.name = isNamed ? std::string(spelling(current())) : std::string();
    pos += isNamed ? 2 : 1;
    for (const Keyword &other : call.keywords) {
      if (isNamed && other.name == keyword.name) {
        report(rangeOf(stream.tokens[start]),
               makeError("E0105", "the argument '" + keyword.name + "' is given twice"));
        return false;
      }
    }
    keyword.value = parseExpression();
    keyword.range = rangeFrom(start);
    bool isWhole = keyword.value != nullptr;
    call.keywords.push_back(std::move(keyword));
    return isWhole;
  }
  ExprPtr argument = parseStarOrExpression();
  if (!argument) {
    return false;
  }
  if (isKeyword("for")) {
    failUnsupported("a generator expression", start, "write a list: [… for … in …]");
    return false;
  }
  if (!call.keywords.empty() && argument->kind != ExprKind::Starred) {
    report(argument->range,
           makeError("E0105", "a positional argument follows the argument named '" +
                                  call.keywords.back().name + "'")
               .withHelp("put it before the named ones, or name it"));
    return false;
  }
  call.operands.push_back(std::move(argument));
  return true;
}

ExprPtr Parser::parseSubscript(ExprPtr base, size_t start) {
  size_t open = pos;
  advance();
  size_t indexStart = pos;
  std::vector<ExprPtr> indices;
  bool isTuple = false;
  while (!isAtClosing("]")) {
    ExprPtr index = parseIndex();
    if (!index) {
      return nullptr;
    }
    indices.push_back(std::move(index));
    if (!acceptOperator(",")) {
      break;
    }
    isTuple = true;
  }
  if (indices.empty() && isOperator("]")) {
    return failExpecting("an index");
  }
  if (indices.empty()) {
    expectClosing("]", open, "after the index");
    return nullptr;
  }
  ExprPtr index = isTuple ? makeNode(ExprKind::Tuple, indexStart, {}, std::move(indices))
                          : std::move(indices.front());
  if (!index || !expectClosing("]", open, "after the index")) {
    return nullptr;
  }
  return makeNode(ExprKind::Subscript, start, {}, list(std::move(base), std::move(index)));
}

/// An index or a slice; the parts of a slice that are left out are null.
ExprPtr Parser::parseIndex() {
  size_t start = pos;
  std::vector<ExprPtr> parts(3);
  size_t part = 0;
  auto isEnd = [&] { return isOperator(":") || isOperator(",") || isOperator("]"); };
  while (true) {
    if (!isEnd() && !(parts[part] = parseStarOrExpression())) {
      return nullptr;
    }
    if (part == 2 || !acceptOperator(":")) {
      break;
    }
    ++part;
  }
  bool isSlice =
      stream.tokens[pos - 1].kind == TokenKind::Operator && spelling(stream.tokens[pos - 1]) == ":";
  if (part == 0 && !isSlice) {
    return parts[0] ? std::move(parts[0]) : failExpecting("an index");
  }
  return makeNode(ExprKind::Slice, start, {}, std::move(parts));
}

} // namespace nereid::language
