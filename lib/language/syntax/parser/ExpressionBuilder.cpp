// SPDX-License-Identifier: Apache-2.0
#include "lib/language/syntax/parser/ExpressionBuilder.h"

#include <algorithm>

namespace nereid::language {

std::nullptr_t ExpressionBuilder::failTooDeep(size_t token) {
  return errors.report(tokens.rangeOf(tokens.at(token)),
                       makeError("E0107", "the expression is nested too deeply, more than " +
                                              std::to_string(maxExpressionDepth) + " levels or " +
                                              std::to_string(maxExpressionHeight) +
                                              " chained operations")
                           .withHelp("split it with intermediate names"));
}

ExprPtr ExpressionBuilder::sealed(ExprPtr node, size_t start) {
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
  if (node->height > maxExpressionHeight) {
    return failTooDeep(start);
  }
  node->range = tokens.rangeFrom(start);
  return node;
}

ExprPtr ExpressionBuilder::node(ExprKind kind, size_t start, std::string content,
                                std::vector<ExprPtr> operands) {
  auto made = std::make_unique<Expr>();
  made->kind = kind;
  made->text = std::move(content);
  made->operands = std::move(operands);
  return sealed(std::move(made), start);
}

ExprPtr ExpressionBuilder::leaf(ExprKind kind, size_t start, std::string content) const {
  auto made = std::make_unique<Expr>();
  made->kind = kind;
  made->text = std::move(content);
  made->range = tokens.rangeFrom(start);
  return made;
}

} // namespace nereid::language
