// SPDX-License-Identifier: Apache-2.0
#include "lib/language/host/TileLengths.h"

#include <algorithm>
#include <functional>
#include <set>

namespace nereid::language {

namespace {

using OnExpr = std::function<void(const Expr &)>;

void walk(const ExprPtr &expression, const OnExpr &visit) {
  if (!expression) {
    return;
  }
  visit(*expression);
  for (const ExprPtr &operand : expression->operands) {
    walk(operand, visit);
  }
  for (const Keyword &keyword : expression->keywords) {
    walk(keyword.value, visit);
  }
}

void walk(const std::vector<StmtPtr> &body, const std::function<void(const Stmt &)> &visit) {
  for (const StmtPtr &statement : body) {
    visit(*statement);
    walk(statement->body, visit);
    walk(statement->orelse, visit);
  }
}

/// What a call names tiles by: its own first arguments, or the keyword `block_shape` of any.
void addNames(const Expr &call, std::set<std::string> &names) {
  const OnExpr take = [&](const Expr &inner) {
    if (inner.kind == ExprKind::Name) {
      names.insert(inner.text);
    }
  };
  const std::string &called = call.operands[0]->text;
  const size_t own = called == "arange" ? 2 : called == "zeros" || called == "full" ? 1 : 0;
  for (size_t i = 1; i <= own && i < call.operands.size(); ++i) {
    walk(call.operands[i], take);
  }
  for (const Keyword &keyword : call.keywords) {
    if (keyword.name == "block_shape" || (own == 1 && keyword.name == "shape")) {
      walk(keyword.value, take);
    }
  }
}

} // namespace

std::vector<std::string> tileLengths(const FunctionDef &kernel) {
  std::set<std::string> named;
  const OnExpr visit = [&](const Expr &expression) {
    if (expression.kind == ExprKind::Call) {
      addNames(expression, named);
    }
  };
  walk(kernel.body, [&](const Stmt &statement) {
    walk(statement.value, visit);
    walk(statement.message, visit);
    for (const ExprPtr &target : statement.targets) {
      walk(target, visit);
    }
  });
  std::vector<std::string> lengths;
  for (const Param &param : kernel.params) {
    if (param.isConstexpr() && named.contains(param.name)) {
      lengths.push_back(param.name);
    }
  }
  return lengths;
}

bool hasLoop(const FunctionDef &kernel) {
  bool found = false;
  walk(kernel.body, [&](const Stmt &statement) {
    found = found || statement.kind == StmtKind::For || statement.kind == StmtKind::While;
  });
  return found;
}

} // namespace nereid::language
