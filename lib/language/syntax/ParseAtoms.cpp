// SPDX-License-Identifier: Apache-2.0
// The leaves of expressions: names, numbers, constants, and the displays in brackets.
#include "lib/language/syntax/Literals.h"
#include "lib/language/syntax/ParserCore.h"

namespace nereid::language {

ExprPtr Parser::parseAtom() {
  size_t start = pos;
  switch (current().kind) {
  case TokenKind::Name:
    advance();
    return makeLeaf(ExprKind::Name, start, std::string(spelling(stream.tokens[start])));
  case TokenKind::Integer:
  case TokenKind::Float:
    return parseNumber();
  case TokenKind::String:
    return parseStrings();
  default:
    break;
  }
  if (acceptKeyword("True") || acceptKeyword("False")) {
    ExprPtr leaf = makeLeaf(ExprKind::Bool, start);
    leaf->integer = spelling(stream.tokens[start]) == "True";
    return leaf;
  }
  if (acceptKeyword("None")) {
    return makeLeaf(ExprKind::None, start);
  }
  if (acceptOperator("...")) {
    return makeLeaf(ExprKind::Ellipsis, start);
  }
  if (isOperator("(")) {
    return parseParenthesized();
  }
  if (isOperator("[")) {
    return parseListDisplay();
  }
  if (isOperator("{")) {
    return parseDictDisplay();
  }
  if (isKeyword("await") || isKeyword("yield")) {
    return failUnsupported("'" + std::string(spelling(current())) + "'", start, "");
  }
  return failExpecting("an expression");
}

ExprPtr Parser::parseNumber() {
  size_t start = pos;
  std::string_view shown = spelling(current());
  bool isInteger = is(TokenKind::Integer);
  // The value first: a malformed literal may be longer than is good to copy.
  if (isInteger) {
    Result<uint64_t> value = readInteger(shown);
    if (!value) {
      return report(rangeOf(current()), std::move(value.error()));
    }
    advance();
    ExprPtr leaf = makeLeaf(ExprKind::Integer, start, std::string(shown));
    leaf->integer = static_cast<int64_t>(*value);
    return leaf;
  }
  Result<double> value = readFloat(shown);
  if (!value) {
    return report(rangeOf(current()), std::move(value.error()));
  }
  advance();
  ExprPtr leaf = makeLeaf(ExprKind::Float, start, std::string(shown));
  leaf->real = *value;
  return leaf;
}

ExprPtr Parser::parseParenthesized() {
  size_t start = pos;
  advance();
  if (acceptOperator(")")) {
    return makeNode(ExprKind::Tuple, start, {}, {});
  }
  ExprPtr inner = parseExpressionList();
  if (!inner) {
    return nullptr;
  }
  if (isKeyword("for")) {
    return failUnsupported("a generator expression", start, "write a list: [… for … in …]");
  }
  if (isOperator(":=")) {
    return failExpecting("')'");
  }
  if (!expectClosing(")", start, "after the expression")) {
    return nullptr;
  }
  if (inner->kind == ExprKind::Tuple) {
    inner->range = rangeFrom(start);
  }
  return inner;
}

ExprPtr Parser::parseListDisplay() {
  size_t start = pos;
  advance();
  auto node = std::make_unique<Expr>();
  node->kind = ExprKind::List;
  while (!isAtClosing("]")) {
    ExprPtr element = parseStarOrExpression();
    if (!element) {
      return nullptr;
    }
    node->operands.push_back(std::move(element));
    if (node->operands.size() == 1 && isKeyword("for")) {
      node->kind = ExprKind::ListComp;
      if (!parseComprehension(*node)) {
        return nullptr;
      }
      break;
    }
    if (!acceptOperator(",")) {
      break;
    }
  }
  if (!expectClosing("]", start, "after the elements")) {
    return nullptr;
  }
  return sealed(std::move(node), start);
}

bool Parser::parseComprehension(Expr &list) {
  while (acceptKeyword("for")) {
    ComprehensionClause clause;
    clause.target = parseTargetList();
    if (!clause.target || !checkTarget(*clause.target, "assign to")) {
      return false;
    }
    if (!acceptKeyword("in")) {
      failExpecting("'in' after the loop variable");
      return false;
    }
    clause.iterable = parseOr();
    if (!clause.iterable) {
      return false;
    }
    while (acceptKeyword("if")) {
      ExprPtr condition = parseOr();
      if (!condition) {
        return false;
      }
      clause.conditions.push_back(std::move(condition));
    }
    list.clauses.push_back(std::move(clause));
  }
  return true;
}

ExprPtr Parser::parseDictDisplay() {
  size_t start = pos;
  advance();
  std::vector<ExprPtr> entries;
  while (!isAtClosing("}")) {
    if (isOperator("**")) {
      return failUnsupported("'**' in a dictionary", pos, "write its entries");
    }
    ExprPtr key = parseExpression();
    if (!key) {
      return nullptr;
    }
    bool isSet = isOperator(",") || isOperator("}") || isKeyword("for");
    if (isSet) {
      return failUnsupported("a set", start, "write a list or a tuple");
    }
    if (!expectOperator(":", "after the key")) {
      return nullptr;
    }
    ExprPtr value = parseExpression();
    if (!value) {
      return nullptr;
    }
    if (isKeyword("for")) {
      return failUnsupported("a dictionary comprehension", start, "write its entries");
    }
    entries.push_back(std::move(key));
    entries.push_back(std::move(value));
    if (!acceptOperator(",")) {
      break;
    }
  }
  if (!expectClosing("}", start, "after the entries")) {
    return nullptr;
  }
  return makeNode(ExprKind::Dict, start, {}, std::move(entries));
}

} // namespace nereid::language
