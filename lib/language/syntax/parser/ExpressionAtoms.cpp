// SPDX-License-Identifier: Apache-2.0
// The leaves of expressions: names, numbers, constants, and the displays in brackets.
#include "lib/language/syntax/Literals.h"
#include "lib/language/syntax/parser/ExpressionParser.h"

namespace nereid::language {

ExprPtr ExpressionParser::parseAtom() {
  size_t start = tokens.position();
  switch (tokens.current().kind) {
  case TokenKind::Name:
    tokens.advance();
    return build.leaf(ExprKind::Name, start, std::string(tokens.spelling(tokens.at(start))));
  case TokenKind::Integer:
  case TokenKind::Float:
    return parseNumber();
  case TokenKind::String:
    return strings.parseStrings();
  default:
    break;
  }
  if (tokens.acceptKeyword("True") || tokens.acceptKeyword("False")) {
    ExprPtr leaf = build.leaf(ExprKind::Bool, start);
    leaf->integer = tokens.spelling(tokens.at(start)) == "True";
    return leaf;
  }
  if (tokens.acceptKeyword("None")) {
    return build.leaf(ExprKind::None, start);
  }
  if (tokens.acceptOperator("...")) {
    return build.leaf(ExprKind::Ellipsis, start);
  }
  if (tokens.isOperator("(")) {
    return parseParenthesized();
  }
  if (tokens.isOperator("[")) {
    return parseListDisplay();
  }
  if (tokens.isOperator("{")) {
    return parseDictDisplay();
  }
  if (tokens.isKeyword("await") || tokens.isKeyword("yield")) {
    return errors.failUnsupported("'" + std::string(tokens.spelling(tokens.current())) + "'", start,
                                  "");
  }
  return errors.failExpecting("an expression");
}

ExprPtr ExpressionParser::parseNumber() {
  size_t start = tokens.position();
  std::string_view shown = tokens.spelling(tokens.current());
  bool isInteger = tokens.is(TokenKind::Integer);
  // The value first: a malformed literal may be longer than is good to copy.
  if (isInteger) {
    Result<uint64_t> value = readInteger(shown);
    if (!value) {
      return errors.report(tokens.rangeOf(tokens.current()), std::move(value.error()));
    }
    tokens.advance();
    ExprPtr leaf = build.leaf(ExprKind::Integer, start, std::string(shown));
    leaf->integer = static_cast<int64_t>(*value);
    return leaf;
  }
  Result<double> value = readFloat(shown);
  if (!value) {
    return errors.report(tokens.rangeOf(tokens.current()), std::move(value.error()));
  }
  tokens.advance();
  ExprPtr leaf = build.leaf(ExprKind::Float, start, std::string(shown));
  leaf->real = *value;
  return leaf;
}

ExprPtr ExpressionParser::parseParenthesized() {
  size_t start = tokens.position();
  tokens.advance();
  if (tokens.acceptOperator(")")) {
    return build.node(ExprKind::Tuple, start, {}, {});
  }
  ExprPtr inner = parseExpressionList();
  if (!inner) {
    return nullptr;
  }
  if (tokens.isKeyword("for")) {
    return errors.failUnsupported("a generator expression", start, "write a list: [… for … in …]");
  }
  if (tokens.isOperator(":=")) {
    return errors.failExpecting("')'");
  }
  if (!errors.expectClosing(")", start, "after the expression")) {
    return nullptr;
  }
  if (inner->kind == ExprKind::Tuple) {
    inner->range = tokens.rangeFrom(start);
  }
  return inner;
}

ExprPtr ExpressionParser::parseListDisplay() {
  size_t start = tokens.position();
  tokens.advance();
  auto node = std::make_unique<Expr>();
  node->kind = ExprKind::List;
  while (!tokens.isAtClosing("]")) {
    ExprPtr element = parseStarOrExpression();
    if (!element) {
      return nullptr;
    }
    node->operands.push_back(std::move(element));
    if (node->operands.size() == 1 && tokens.isKeyword("for")) {
      node->kind = ExprKind::ListComp;
      if (!parseComprehension(*node)) {
        return nullptr;
      }
      break;
    }
    if (!tokens.acceptOperator(",")) {
      break;
    }
  }
  if (!errors.expectClosing("]", start, "after the elements")) {
    return nullptr;
  }
  return build.sealed(std::move(node), start);
}

bool ExpressionParser::parseComprehension(Expr &list) {
  while (tokens.acceptKeyword("for")) {
    ComprehensionClause clause;
    clause.target = parseTargetList();
    if (!clause.target || !checkTarget(*clause.target, "assign to")) {
      return false;
    }
    if (!tokens.acceptKeyword("in")) {
      errors.failExpecting("'in' after the loop variable");
      return false;
    }
    clause.iterable = parseOr();
    if (!clause.iterable) {
      return false;
    }
    while (tokens.acceptKeyword("if")) {
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

ExprPtr ExpressionParser::parseDictDisplay() {
  size_t start = tokens.position();
  tokens.advance();
  std::vector<ExprPtr> entries;
  while (!tokens.isAtClosing("}")) {
    if (tokens.isOperator("**")) {
      return errors.failUnsupported("'**' in a dictionary", tokens.position(), "write its entries");
    }
    ExprPtr key = parseExpression();
    if (!key) {
      return nullptr;
    }
    bool isSet = tokens.isOperator(",") || tokens.isOperator("}") || tokens.isKeyword("for");
    if (isSet) {
      return errors.failUnsupported("a set", start, "write a list or a tuple");
    }
    if (!errors.expectOperator(":", "after the key")) {
      return nullptr;
    }
    ExprPtr value = parseExpression();
    if (!value) {
      return nullptr;
    }
    if (tokens.isKeyword("for")) {
      return errors.failUnsupported("a dictionary comprehension", start, "write its entries");
    }
    entries.push_back(std::move(key));
    entries.push_back(std::move(value));
    if (!tokens.acceptOperator(",")) {
      break;
    }
  }
  if (!errors.expectClosing("}", start, "after the entries")) {
    return nullptr;
  }
  return build.node(ExprKind::Dict, start, {}, std::move(entries));
}

} // namespace nereid::language
