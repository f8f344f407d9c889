// SPDX-License-Identifier: Apache-2.0
#include "lib/language/syntax/WrappedKernels.h"

#include <map>

namespace nereid::language {
namespace {

ExprPtr copied(const ExprPtr &expr) {
  if (!expr) {
    return nullptr;
  }
  auto out = std::make_unique<Expr>();
  out->kind = expr->kind;
  out->range = expr->range;
  out->text = expr->text;
  out->integer = expr->integer;
  out->real = expr->real;
  out->params = expr->params;
  out->height = expr->height;
  for (const ExprPtr &operand : expr->operands) {
    out->operands.push_back(copied(operand));
  }
  for (const Keyword &keyword : expr->keywords) {
    out->keywords.push_back({keyword.name, copied(keyword.value), keyword.range});
  }
  for (const ComprehensionClause &clause : expr->clauses) {
    out->clauses.push_back({copied(clause.target), copied(clause.iterable), {}});
    for (const ExprPtr &condition : clause.conditions) {
      out->clauses.back().conditions.push_back(copied(condition));
    }
  }
  return out;
}

std::unique_ptr<FunctionDef> copied(const FunctionDef &function);

std::vector<StmtPtr> copied(const std::vector<StmtPtr> &list) {
  std::vector<StmtPtr> out;
  for (const StmtPtr &stmt : list) {
    auto copy = std::make_unique<Stmt>();
    copy->kind = stmt->kind;
    copy->range = stmt->range;
    copy->text = stmt->text;
    for (const ExprPtr &target : stmt->targets) {
      copy->targets.push_back(copied(target));
    }
    copy->value = copied(stmt->value);
    copy->annotation = copied(stmt->annotation);
    copy->message = copied(stmt->message);
    copy->body = copied(stmt->body);
    copy->orelse = copied(stmt->orelse);
    copy->names = stmt->names;
    copy->function = stmt->function ? copied(*stmt->function) : nullptr;
    out.push_back(std::move(copy));
  }
  return out;
}

std::unique_ptr<FunctionDef> copied(const FunctionDef &function) {
  auto out = std::make_unique<FunctionDef>();
  out->name = function.name;
  out->nameRange = function.nameRange;
  out->returns = copied(function.returns);
  out->body = copied(function.body);
  for (const ExprPtr &decorator : function.decorators) {
    out->decorators.push_back(copied(decorator));
  }
  for (const Param &param : function.params) {
    out->params.push_back({param.name, copied(param.annotation), copied(param.defaultValue),
                           param.range, param.isVarArgs, param.isKeywordArgs});
  }
  return out;
}

bool isDecorator(const Expr &expr) {
  const Expr &callee = expr.kind == ExprKind::Call ? *expr.operands[0] : expr;
  bool isName = callee.kind == ExprKind::Name ||
                (callee.kind == ExprKind::Attribute && callee.operands[0]->kind == ExprKind::Name &&
                 callee.operands[0]->text == "triton");
  return isName &&
         (callee.text == "jit" || callee.text == "autotune" || callee.text == "heuristics");
}

/// The function's name below the calls of `expr`, with the decorators they stand for, outermost
/// first; empty when it is anything else.
std::string unwrap(const Expr &expr, std::vector<ExprPtr> &decorators) {
  if (expr.kind == ExprKind::Name) {
    return decorators.empty() ? "" : expr.text;
  }
  if (expr.kind != ExprKind::Call || expr.operands.size() != 2) {
    return "";
  }
  const Expr &callee = *expr.operands[0];
  bool hasOptions = !expr.keywords.empty();
  if (!isDecorator(callee) || (hasOptions && callee.kind == ExprKind::Call)) {
    return "";
  }
  ExprPtr decorator = copied(expr.operands[0]);
  if (hasOptions) { // triton.jit(function, noinline=True)
    auto call = std::make_unique<Expr>();
    call->kind = ExprKind::Call;
    call->range = expr.range;
    call->height = expr.height;
    call->operands.push_back(std::move(decorator));
    for (const Keyword &keyword : expr.keywords) {
      call->keywords.push_back({keyword.name, copied(keyword.value), keyword.range});
    }
    decorator = std::move(call);
  }
  decorators.push_back(std::move(decorator));
  return unwrap(*expr.operands[1], decorators);
}

using Functions = std::map<std::string, const FunctionDef *>;

void defineIn(std::vector<StmtPtr> &list, Functions &functions) {
  for (StmtPtr &stmt : list) {
    if (stmt->kind == StmtKind::FunctionDef) {
      functions[stmt->function->name] = stmt->function.get();
      continue;
    }
    if (stmt->kind == StmtKind::If || (stmt->kind == StmtKind::Opaque && stmt->text != "class")) {
      defineIn(stmt->body, functions);
      defineIn(stmt->orelse, functions);
      continue;
    }
    bool isBinding = stmt->kind == StmtKind::Assign && stmt->targets.size() == 1 &&
                     stmt->targets[0]->kind == ExprKind::Name;
    std::vector<ExprPtr> decorators;
    std::string inner = isBinding ? unwrap(*stmt->value, decorators) : "";
    auto found = functions.find(inner);
    if (found == functions.end()) {
      continue;
    }
    std::unique_ptr<FunctionDef> function = copied(*found->second);
    function->name = stmt->targets[0]->text;
    for (ExprPtr &decorator : function->decorators) {
      decorators.push_back(std::move(decorator));
    }
    function->decorators = std::move(decorators);
    if (!function->isJit()) {
      continue;
    }
    auto definition = std::make_unique<Stmt>();
    definition->kind = StmtKind::FunctionDef;
    definition->range = stmt->range;
    definition->function = std::move(function);
    stmt = std::move(definition);
    functions[stmt->function->name] = stmt->function.get();
  }
}

} // namespace

void defineWrappedKernels(SourceModule &module) {
  Functions functions;
  defineIn(module.body, functions);
}

} // namespace nereid::language
