// SPDX-License-Identifier: Apache-2.0
// Indices from tensors in bodies: x[rows, columns], the functions that read or write at indices,
// whose arguments are no list of operands as those of others are, and losses of class numbers,
// which are written out in them.
#pragma once

#include "lib/definition/reader/BodyExpressions.h"

namespace nereid::definition {

class BodyIndexing {
public:
  explicit BodyIndexing(BodyExpressions &body) : body(body), op(body.op) {}

  static bool isFunction(const std::string &name);
  static std::vector<std::string> functionNames();
  /// x[i] with a tensor among what is in the brackets.
  bool isIndexed(const language::Expr &expr) const;

  /// x[i, j], x[:, i], x[..., i]: tensors side by side, nothing but whole dimensions before them.
  std::optional<int> subscript(const language::Expr &expr);
  /// The tensor with `value` where the expression leads.
  std::optional<int> replaced(const language::Expr &expr, int value);
  std::optional<int> call(const BodyExpressions::Call &call);

private:
  std::optional<Node> indexNode(const language::Expr &expr);
  bool namesTensor(const language::Expr &expr) const;
  bool readOperands(const BodyExpressions::Call &call, Node &node);
  bool readAttribute(const Argument &argument, const language::Expr *value, Node &node,
                     SourceRange range);
  bool readDimension(const Argument &argument, const language::Expr &value, Node &node);
  void setOwnDimension(Node &node) const;
  const language::Expr *argument(const std::string &name) const;
  Diagnostic &fail(std::string code, SourceRange range, std::string message) {
    return body.fail(std::move(code), range, std::move(message));
  }

  BodyExpressions &body;
  Operator &op;
  std::map<std::string, const language::Expr *> given;
};

/// cross_entropy and nll_loss.
class BodyClassLosses {
public:
  explicit BodyClassLosses(BodyExpressions &body) : body(body) {}

  static bool isFunction(const std::string &name);
  std::optional<int> call(const BodyExpressions::Call &call);

private:
  struct Loss;
  std::optional<Loss> read(const BodyExpressions::Call &call);

  BodyExpressions &body;
};

} // namespace nereid::definition
