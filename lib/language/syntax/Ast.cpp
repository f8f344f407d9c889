// SPDX-License-Identifier: Apache-2.0
// Questions asked of a syntax tree: is this function a kernel, which kernels does a file hold.
// A kernel inside a top-level `if`, `try` or `with` counts as top-level, as it does when Python
// runs the file.
#include "lib/language/syntax/Ast.h"

namespace nereid::language {
namespace {

bool namesJit(const Expr &decorator) {
  const Expr *callee = &decorator;
  if (callee->kind == ExprKind::Call) {
    callee = callee->operands[0].get();
  }
  if (callee->kind == ExprKind::Name) {
    return callee->text == "jit";
  }
  return callee->kind == ExprKind::Attribute && callee->text == "jit" &&
         callee->operands[0]->kind == ExprKind::Name && callee->operands[0]->text == "triton";
}

/// Calls visit(function) for each; stops when it returns true.
template <class Visit> bool walk(const std::vector<StmtPtr> &statements, Visit &visit) {
  for (const StmtPtr &statement : statements) {
    if (statement->kind == StmtKind::FunctionDef) {
      if (visit(*statement->function)) {
        return true;
      }
    } else if (statement->kind == StmtKind::If ||
               (statement->kind == StmtKind::Opaque && statement->text != "class")) {
      if (walk(statement->body, visit) || walk(statement->orelse, visit)) {
        return true;
      }
    }
  }
  return false;
}

} // namespace

bool isConstexprAnnotation(const Expr &annotation) {
  if (annotation.kind == ExprKind::String) {
    return annotation.text.find("constexpr") != std::string::npos;
  }
  const Expr &named = annotation.kind == ExprKind::Subscript ? *annotation.operands[0] : annotation;
  bool canName = named.kind == ExprKind::Name || named.kind == ExprKind::Attribute;
  return canName && named.text == "constexpr";
}

bool Param::isConstexpr() const { return annotation && isConstexprAnnotation(*annotation); }

bool FunctionDef::isJit() const {
  for (const ExprPtr &decorator : decorators) {
    if (namesJit(*decorator)) {
      return true;
    }
  }
  return false;
}

const Expr *FunctionDef::decorator(std::string_view name) const {
  for (const ExprPtr &decorator : decorators) {
    bool isCall = decorator->kind == ExprKind::Call;
    const Expr &callee = isCall ? *decorator->operands[0] : *decorator;
    bool isName = callee.kind == ExprKind::Name || callee.kind == ExprKind::Attribute;
    if (isName && callee.text == name) {
      return decorator.get();
    }
  }
  return nullptr;
}

const FunctionDef *SourceModule::find(std::string_view name) const {
  const FunctionDef *found = nullptr;
  auto visit = [&](const FunctionDef &function) {
    found = function.name == name ? &function : found;
    return false;
  };
  walk(body, visit); // a later definition replaces an earlier one
  return found;
}

std::vector<std::string> SourceModule::jitFunctions() const {
  std::vector<std::string> names;
  auto visit = [&](const FunctionDef &function) {
    bool isKnown = false;
    for (const std::string &name : names) {
      isKnown |= name == function.name;
    }
    if (function.isJit() && !isKnown) {
      names.push_back(function.name);
    }
    return false;
  };
  walk(body, visit);
  return names;
}

} // namespace nereid::language
