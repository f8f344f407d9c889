// SPDX-License-Identifier: Apache-2.0
// Makes the nodes of expressions, with their places, and keeps trees from growing so high that
// whoever walks them runs out of stack.
#pragma once

#include "lib/language/syntax/Ast.h"
#include "lib/language/syntax/parser/SyntaxErrors.h"

namespace nereid::language {

inline constexpr int maxExpressionDepth = 200;   ///< of recursion while one is parsed
inline constexpr int maxExpressionHeight = 1000; ///< of a tree; long operator chains grow without

class ExpressionBuilder {
public:
  ExpressionBuilder(const TokenCursor &tokens, SyntaxErrors &errors)
      : tokens(tokens), errors(errors) {}

  ExprPtr leaf(ExprKind kind, size_t start, std::string content = {}) const;
  /// Takes the operands over and sets range and height; null when the tree gets too high.
  ExprPtr node(ExprKind kind, size_t start, std::string content, std::vector<ExprPtr> operands);
  /// Sets range and height of a node with its operands.
  ExprPtr sealed(ExprPtr node, size_t start);
  std::nullptr_t failTooDeep(size_t token);

private:
  const TokenCursor &tokens;
  SyntaxErrors &errors;
};

template <class... Operands> std::vector<ExprPtr> list(Operands... operands) {
  std::vector<ExprPtr> out;
  (out.push_back(std::move(operands)), ...);
  return out;
}

} // namespace nereid::language
