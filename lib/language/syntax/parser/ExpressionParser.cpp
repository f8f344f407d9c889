// SPDX-License-Identifier: Apache-2.0
#include "lib/language/syntax/parser/ExpressionParser.h"

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

const char *nameOfKind(const Expr &expression) {
  switch (expression.kind) {
  case ExprKind::Call:
    return "a call";
  case ExprKind::Integer:
  case ExprKind::Float:
  case ExprKind::String:
  case ExprKind::FString:
  case ExprKind::Bool:
  case ExprKind::None:
  case ExprKind::Ellipsis:
    return "a literal";
  case ExprKind::Compare:
  case ExprKind::ChainedCompare:
    return "a comparison";
  default:
    return "an expression";
  }
}

} // namespace

ExprPtr ExpressionParser::parseStarOrExpression() {
  size_t start = tokens.position();
  if (!tokens.acceptOperator("*")) {
    return parseExpression();
  }
  ExprPtr operand = parseBinary(1);
  return operand ? build.node(ExprKind::Starred, start, {}, list(std::move(operand))) : nullptr;
}

ExprPtr ExpressionParser::parseExpressionList() {
  size_t start = tokens.position();
  ExprPtr first = parseStarOrExpression();
  if (!first || !tokens.isOperator(",")) {
    return first;
  }
  std::vector<ExprPtr> parts = list(std::move(first));
  while (tokens.acceptOperator(",")) {
    bool isLast = tokens.is(TokenKind::Newline) || tokens.is(TokenKind::End) ||
                  tokens.isOperator("=") || tokens.isOperator(")") || tokens.isOperator("]") ||
                  tokens.isOperator("}") || tokens.isOperator(";") || tokens.isOperator(":");
    if (isLast) {
      break;
    }
    ExprPtr part = parseStarOrExpression();
    if (!part) {
      return nullptr;
    }
    parts.push_back(std::move(part));
  }
  return build.node(ExprKind::Tuple, start, {}, std::move(parts));
}

/// Loop variables: like an expression list, but `in` ends it.
ExprPtr ExpressionParser::parseTargetList() {
  size_t start = tokens.position();
  std::vector<ExprPtr> parts;
  bool isTuple = false;
  do {
    if (isTuple && tokens.isKeyword("in")) {
      break;
    }
    size_t partStart = tokens.position();
    bool isStarred = tokens.acceptOperator("*");
    ExprPtr part = parsePostfix();
    if (part && isStarred) {
      part = build.node(ExprKind::Starred, partStart, {}, list(std::move(part)));
    }
    if (!part) {
      return nullptr;
    }
    parts.push_back(std::move(part));
    isTuple |= tokens.isOperator(",");
  } while (tokens.acceptOperator(","));
  return isTuple ? build.node(ExprKind::Tuple, start, {}, std::move(parts))
                 : std::move(parts.front());
}

ExprPtr ExpressionParser::parseExpression() {
  Level level(*this);
  if (level.isTooDeep()) {
    return build.failTooDeep(tokens.position());
  }
  return tokens.isKeyword("lambda") ? parseLambda() : parseConditional();
}

ExprPtr ExpressionParser::parseConditional() {
  size_t start = tokens.position();
  ExprPtr value = parseOr();
  if (!value || !tokens.acceptKeyword("if")) {
    return value;
  }
  ExprPtr condition = parseOr();
  if (!condition) {
    return nullptr;
  }
  if (!tokens.acceptKeyword("else")) {
    return errors.failExpecting("'else' of the conditional expression");
  }
  ExprPtr otherwise = parseExpression();
  if (!otherwise) {
    return nullptr;
  }
  return build.node(ExprKind::Conditional, start, {},
                    list(std::move(condition), std::move(value), std::move(otherwise)));
}

ExprPtr ExpressionParser::parseLambda() {
  size_t start = tokens.position();
  tokens.advance();
  std::vector<std::string> params;
  while (!tokens.isOperator(":")) {
    std::string stars;
    while (tokens.isOperator("*") || tokens.isOperator("**")) {
      stars += tokens.spelling(tokens.current());
      tokens.advance();
    }
    if (!tokens.is(TokenKind::Name)) {
      return errors.failExpecting("a parameter name or ':'");
    }
    params.push_back(stars + std::string(tokens.spelling(tokens.current())));
    tokens.advance();
    if (tokens.acceptOperator("=") && !parseExpression()) {
      return nullptr; // lambdas are read for heuristics and grids, which call them with all values
    }
    if (!tokens.acceptOperator(",")) {
      break;
    }
  }
  if (!errors.expectOperator(":", "after the parameters of 'lambda'")) {
    return nullptr;
  }
  ExprPtr body = parseExpression();
  if (!body) {
    return nullptr;
  }
  ExprPtr node = build.node(ExprKind::Lambda, start, {}, list(std::move(body)));
  if (node) {
    node->params = std::move(params);
  }
  return node;
}

ExprPtr ExpressionParser::parseLogical(std::string_view word, ExprKind kind,
                                       ExprPtr (ExpressionParser::*operand)()) {
  size_t start = tokens.position();
  ExprPtr first = (this->*operand)();
  if (!first || !tokens.isKeyword(word)) {
    return first;
  }
  std::vector<ExprPtr> operands = list(std::move(first));
  while (tokens.acceptKeyword(word)) {
    ExprPtr next = (this->*operand)();
    if (!next) {
      return nullptr;
    }
    operands.push_back(std::move(next));
  }
  return build.node(kind, start, {}, std::move(operands));
}

ExprPtr ExpressionParser::parseOr() {
  return parseLogical("or", ExprKind::Or, &ExpressionParser::parseAnd);
}
ExprPtr ExpressionParser::parseAnd() {
  return parseLogical("and", ExprKind::And, &ExpressionParser::parseNot);
}

ExprPtr ExpressionParser::parseNot() {
  size_t start = tokens.position();
  if (!tokens.acceptKeyword("not")) {
    return parseComparison();
  }
  Level level(*this);
  if (level.isTooDeep()) {
    return build.failTooDeep(start);
  }
  ExprPtr operand = parseNot();
  return operand ? build.node(ExprKind::Unary, start, "not", list(std::move(operand))) : nullptr;
}

/// Takes a comparison operator, of one word or two; empty when there is none.
std::string ExpressionParser::acceptComparison() {
  constexpr std::string_view symbols[] = {"<", "<=", ">", ">=", "==", "!="};
  std::string_view shown = tokens.spelling(tokens.current());
  if (tokens.is(TokenKind::Operator) &&
      std::find(std::begin(symbols), std::end(symbols), shown) != std::end(symbols)) {
    tokens.advance();
    return std::string(shown);
  }
  if (tokens.acceptKeyword("in")) {
    return "in";
  }
  if (tokens.acceptKeyword("is")) {
    return tokens.acceptKeyword("not") ? "is not" : "is";
  }
  bool isNotIn = tokens.isKeyword("not") && tokens.peek(1).kind == TokenKind::Keyword &&
                 tokens.spelling(tokens.peek(1)) == "in";
  if (isNotIn) {
    tokens.moveTo(tokens.position() + (2));
    return "not in";
  }
  return {};
}

ExprPtr ExpressionParser::parseComparison() {
  size_t start = tokens.position();
  ExprPtr first = parseBinary(1);
  if (!first) {
    return nullptr;
  }
  std::vector<ExprPtr> operands = list(std::move(first));
  std::vector<std::string> operators;
  for (std::string op = acceptComparison(); !op.empty(); op = acceptComparison()) {
    ExprPtr next = parseBinary(1);
    if (!next) {
      return nullptr;
    }
    operands.push_back(std::move(next));
    operators.push_back(op);
  }
  if (operands.size() == 1) {
    return std::move(operands.front());
  }
  if (operands.size() == 2) {
    return build.node(ExprKind::Compare, start, operators.front(), std::move(operands));
  }
  ExprPtr chain = build.node(ExprKind::ChainedCompare, start, {}, std::move(operands));
  if (chain) {
    chain->params = std::move(operators);
  }
  return chain;
}

ExprPtr ExpressionParser::parseBinary(int minLevel) {
  size_t start = tokens.position();
  ExprPtr left = parseUnary();
  while (left && tokens.is(TokenKind::Operator)) {
    std::string_view op = tokens.spelling(tokens.current());
    int level = binaryLevel(op);
    if (level < minLevel || level == 0) {
      break;
    }
    tokens.advance();
    ExprPtr right = parseBinary(level + 1);
    if (!right) {
      return nullptr;
    }
    left = build.node(ExprKind::Binary, start, std::string(op),
                      list(std::move(left), std::move(right)));
  }
  return left;
}

ExprPtr ExpressionParser::parseUnary() {
  size_t start = tokens.position();
  if (!tokens.isOperator("-") && !tokens.isOperator("+") && !tokens.isOperator("~")) {
    return parsePower();
  }
  Level level(*this);
  if (level.isTooDeep()) {
    return build.failTooDeep(start);
  }
  std::string op(tokens.spelling(tokens.current()));
  tokens.advance();
  ExprPtr operand = parseUnary();
  return operand ? build.node(ExprKind::Unary, start, std::move(op), list(std::move(operand)))
                 : nullptr;
}

ExprPtr ExpressionParser::parsePower() {
  size_t start = tokens.position();
  ExprPtr base = parsePostfix();
  if (!base || !tokens.isOperator("**")) {
    return base;
  }
  Level level(*this);
  if (level.isTooDeep()) {
    return build.failTooDeep(tokens.position());
  }
  tokens.advance();
  ExprPtr exponent = parseUnary();
  return exponent
             ? build.node(ExprKind::Binary, start, "**", list(std::move(base), std::move(exponent)))
             : nullptr;
}

ExprPtr ExpressionParser::parsePostfix() {
  size_t start = tokens.position();
  ExprPtr base = parseAtom();
  while (base) {
    if (tokens.isOperator("(")) {
      base = parseCall(std::move(base), start);
    } else if (tokens.isOperator("[")) {
      base = parseSubscript(std::move(base), start);
    } else if (tokens.acceptOperator(".")) {
      if (!tokens.is(TokenKind::Name)) {
        return errors.failExpecting("a name after '.'");
      }
      std::string name(tokens.spelling(tokens.current()));
      tokens.advance();
      base = build.node(ExprKind::Attribute, start, std::move(name), list(std::move(base)));
    } else {
      break;
    }
  }
  return base;
}

ExprPtr ExpressionParser::parseCall(ExprPtr callee, size_t start) {
  size_t open = tokens.position();
  tokens.advance();
  auto call = std::make_unique<Expr>();
  call->kind = ExprKind::Call;
  call->operands.push_back(std::move(callee));
  while (!tokens.isAtClosing(")")) {
    if (!parseArgument(*call)) {
      return nullptr;
    }
    if (!tokens.acceptOperator(",")) {
      break;
    }
  }
  if (!errors.expectClosing(")", open, "after the arguments")) {
    return nullptr;
  }
  return build.sealed(std::move(call), start);
}

bool ExpressionParser::parseArgument(Expr &call) {
  size_t start = tokens.position();
  bool isSpread = tokens.isOperator("**");
  bool isNamed = tokens.is(TokenKind::Name) && tokens.isOperatorAt(1, "=");
  if (isSpread || isNamed) {
    Keyword keyword;
    keyword.name = isNamed ? std::string(tokens.spelling(tokens.current())) : std::string();
    tokens.moveTo(tokens.position() + (isNamed ? 2 : 1));
    for (const Keyword &other : call.keywords) {
      if (isNamed && other.name == keyword.name) {
        errors.report(tokens.rangeOf(tokens.at(start)),
                      makeError("E0105", "the argument '" + keyword.name + "' is given twice"));
        return false;
      }
    }
    keyword.value = parseExpression();
    keyword.range = tokens.rangeFrom(start);
    bool isWhole = keyword.value != nullptr;
    call.keywords.push_back(std::move(keyword));
    return isWhole;
  }
  ExprPtr argument = parseStarOrExpression();
  if (!argument) {
    return false;
  }
  if (tokens.isKeyword("for")) {
    errors.failUnsupported("a generator expression", start, "write a list: [… for … in …]");
    return false;
  }
  if (!call.keywords.empty() && argument->kind != ExprKind::Starred) {
    errors.report(argument->range,
                  makeError("E0105", "a positional argument follows the argument named '" +
                                         call.keywords.back().name + "'")
                      .withHelp("put it before the named ones, or name it"));
    return false;
  }
  call.operands.push_back(std::move(argument));
  return true;
}

ExprPtr ExpressionParser::parseSubscript(ExprPtr base, size_t start) {
  size_t open = tokens.position();
  tokens.advance();
  size_t indexStart = tokens.position();
  std::vector<ExprPtr> indices;
  bool isTuple = false;
  while (!tokens.isAtClosing("]")) {
    ExprPtr index = parseIndex();
    if (!index) {
      return nullptr;
    }
    indices.push_back(std::move(index));
    if (!tokens.acceptOperator(",")) {
      break;
    }
    isTuple = true;
  }
  if (indices.empty() && tokens.isOperator("]")) {
    return errors.failExpecting("an index");
  }
  if (indices.empty()) {
    errors.expectClosing("]", open, "after the index");
    return nullptr;
  }
  ExprPtr index = isTuple ? build.node(ExprKind::Tuple, indexStart, {}, std::move(indices))
                          : std::move(indices.front());
  if (!index || !errors.expectClosing("]", open, "after the index")) {
    return nullptr;
  }
  return build.node(ExprKind::Subscript, start, {}, list(std::move(base), std::move(index)));
}

/// An index or a slice; the parts of a slice that are left out are null.
ExprPtr ExpressionParser::parseIndex() {
  size_t start = tokens.position();
  std::vector<ExprPtr> parts(3);
  size_t part = 0;
  auto isEnd = [&] {
    return tokens.isOperator(":") || tokens.isOperator(",") || tokens.isOperator("]");
  };
  while (true) {
    if (!isEnd() && !(parts[part] = parseStarOrExpression())) {
      return nullptr;
    }
    if (part == 2 || !tokens.acceptOperator(":")) {
      break;
    }
    ++part;
  }
  bool isSlice = tokens.at(tokens.position() - 1).kind == TokenKind::Operator &&
                 tokens.spelling(tokens.at(tokens.position() - 1)) == ":";
  if (part == 0 && !isSlice) {
    return parts[0] ? std::move(parts[0]) : errors.failExpecting("an index");
  }
  return build.node(ExprKind::Slice, start, {}, std::move(parts));
}

bool ExpressionParser::checkTarget(const Expr &target, std::string_view verb) {
  switch (target.kind) {
  case ExprKind::Name:
  case ExprKind::Attribute:
  case ExprKind::Subscript:
    return true;
  case ExprKind::Starred:
    return checkTarget(*target.operands[0], verb);
  case ExprKind::Tuple:
  case ExprKind::List:
    return std::all_of(target.operands.begin(), target.operands.end(),
                       [&](const ExprPtr &part) { return checkTarget(*part, verb); });
  default:
    break;
  }
  Diagnostic error = makeError("E0105", "cannot " + std::string(verb) + " " + nameOfKind(target));
  error.withHelp("put a name, 'object.name' or 'object[index]' here");
  errors.report(target.range, std::move(error));
  return false;
}

} // namespace nereid::language
