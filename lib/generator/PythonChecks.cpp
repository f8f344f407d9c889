// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/PythonChecks.h"

#include "lib/generator/PythonText.h"

#include <algorithm>

namespace nereid::generator {

using language::Expr;
using language::ExprKind;
using language::FunctionDef;
using language::SourceModule;
using language::Stmt;
using language::StmtKind;
using language::StmtPtr;

namespace {

constexpr int deepestCall = 8;
constexpr int mostCalls = 200;

bool hasOwnRaise(const std::vector<StmtPtr> &body) {
  return std::any_of(body.begin(), body.end(),
                     [](const StmtPtr &one) { return one->kind == StmtKind::Raise; });
}

class CheckReader {
public:
  explicit CheckReader(const SourceModule &module)
      : module(module), canonical(module, Spelling::Canonical),
        written(module, Spelling::AsWritten) {}

  std::vector<Interface::Part> run(const FunctionDef &function) {
    Scope scope;
    scope.meanings = canonical.topLevel();
    for (const language::Param &parameter : function.params) {
      scope.meanings.erase(parameter.name);
    }
    block(function.body, scope, "");
    return std::move(checks);
  }

private:
  /// Names as the canonical text and as the shown text have them.
  struct Scope {
    Meanings meanings, shown;
    int depth = 0;
  };
  enum class End { Falls, Returns };

  void require(const Expr &condition, bool isWanted, const Scope &scope, const std::string &context,
               SourceRange place) {
    bool isList = condition.kind == (isWanted ? ExprKind::And : ExprKind::Or);
    bool isNot = condition.kind == ExprKind::Unary && condition.text == "not";
    if (isList || isNot) {
      for (const language::ExprPtr &part : condition.operands) {
        require(*part, isWanted != isNot, scope, context, place);
      }
      return;
    }
    checks.push_back({context + written.condition(condition, isWanted, scope.shown),
                      context + canonical.condition(condition, isWanted, scope.meanings), place});
  }

  /// Checks inside of a function of this file that is called here.
  void call(const Expr &expr, const Scope &scope, const std::string &context, SourceRange place) {
    if (expr.kind != ExprKind::Call) {
      return;
    }
    const Expr &callee = *expr.operands[0];
    isLaunched = isLaunched || callee.kind == ExprKind::Subscript;
    bool isKnown = callee.kind == ExprKind::Name && !scope.meanings.contains(callee.text);
    const FunctionDef *function = isKnown ? finalFunction(module, callee.text) : nullptr;
    if (function == nullptr || scope.depth >= deepestCall || ++calls > mostCalls) {
      return;
    }
    auto meanings = canonical.arguments(*function, expr, scope.meanings);
    auto shown = written.arguments(*function, expr, scope.shown);
    if (!meanings || !shown) {
      return;
    }
    SourceRange former = callPlace;
    callPlace = callPlace.line == 0 ? place : callPlace;
    block(function->body, {std::move(*meanings), std::move(*shown), scope.depth + 1}, context);
    callPlace = former;
  }

  void assign(const Expr &target, const Expr *value, Scope &scope) {
    if (target.kind == ExprKind::Name) {
      scope.meanings[target.text] =
          value ? canonical.operand(*value, scope.meanings) : "changed " + target.text;
      scope.shown.erase(target.text);
      return;
    }
    if (target.kind != ExprKind::Tuple && target.kind != ExprKind::List) {
      return;
    }
    bool isPaired =
        value && value->kind == ExprKind::Tuple && value->operands.size() == target.operands.size();
    Scope before = scope;
    for (size_t i = 0; i < target.operands.size(); ++i) {
      const Expr &name = *target.operands[i];
      assign(name, nullptr, scope);
      if (name.kind == ExprKind::Name && value) {
        scope.meanings[name.text] =
            isPaired ? canonical.operand(*value->operands[i], before.meanings)
                     : canonical.operand(*value, before.meanings) + "[" + std::to_string(i) + "]";
      }
    }
  }

  /// What the statements assign is unknown behind them.
  void forget(const std::vector<StmtPtr> &body, Scope &scope) {
    for (const StmtPtr &statement : body) {
      for (const language::ExprPtr &target : statement->targets) {
        assign(*target, nullptr, scope);
      }
      forget(statement->body, scope);
      forget(statement->orelse, scope);
    }
  }

  End branch(const Stmt &statement, Scope &scope, std::string &context) {
    if (hasOwnRaise(statement.body)) {
      require(*statement.value, false, scope, context, placeOf(statement));
      Scope inner = scope;
      End end = block(statement.orelse, inner, context);
      forget(statement.orelse, scope);
      return end;
    }
    std::string positive = canonical.condition(*statement.value, true, scope.meanings);
    std::string negative = canonical.condition(*statement.value, false, scope.meanings);
    Scope thenScope = scope, elseScope = scope;
    bool thenReturns =
        block(statement.body, thenScope, context + "if " + positive + ": ") == End::Returns;
    bool elseReturns =
        block(statement.orelse, elseScope, context + "if " + negative + ": ") == End::Returns;
    forget(statement.body, scope);
    forget(statement.orelse, scope);
    context += thenReturns ? "if " + negative + ": " : elseReturns ? "if " + positive + ": " : "";
    return thenReturns && elseReturns ? End::Returns : End::Falls;
  }

  SourceRange placeOf(const Stmt &statement) const {
    return callPlace.line == 0 ? statement.range : callPlace;
  }

  /// `context` says under which conditions the block is reached.
  End block(const std::vector<StmtPtr> &body, Scope scope, std::string context) {
    for (const StmtPtr &statement : body) {
      if (isLaunched) {
        return End::Falls;
      }
      switch (statement->kind) {
      case StmtKind::Assert:
        require(*statement->value, true, scope, context, placeOf(*statement));
        break;
      case StmtKind::Return:
      case StmtKind::ExprStmt:
      case StmtKind::Assign:
      case StmtKind::AnnAssign:
        if (statement->value) {
          call(*statement->value, scope, context, statement->range);
        }
        if (statement->kind == StmtKind::Return) {
          return End::Returns;
        }
        for (const language::ExprPtr &target : statement->targets) {
          assign(*target, statement->value.get(), scope);
        }
        break;
      case StmtKind::Raise:
        return End::Returns;
      case StmtKind::If:
        if (branch(*statement, scope, context) == End::Returns) {
          return End::Returns;
        }
        break;
      case StmtKind::FunctionDef:
        scope.meanings[statement->function->name] = "local " + statement->function->name;
        break;
      default:
        compound(*statement, scope, context);
        break;
      }
    }
    return End::Falls;
  }

  /// Loops, `with`, `try` and whatever else changes names.
  void compound(const Stmt &statement, Scope &scope, std::string &context) {
    for (const language::ExprPtr &target : statement.targets) {
      assign(*target, nullptr, scope);
    }
    bool isWith = statement.kind == StmtKind::Opaque && statement.text == "with";
    forget(statement.body, scope);
    forget(statement.orelse, scope);
    bool isLoop = statement.kind == StmtKind::For || statement.kind == StmtKind::While;
    std::string inner = context + (isLoop ? "in a loop: " : isWith ? "" : "if nothing fails: ");
    bool ends = block(statement.body, scope, inner) == End::Returns;
    context += ends ? "if reached: " : "";
  }

  const SourceModule &module;
  PythonText canonical, written;
  std::vector<Interface::Part> checks;
  SourceRange callPlace; ///< of the call in the function itself whose checks are read
  bool isLaunched = false;
  int calls = 0;
};

} // namespace

std::vector<Interface::Part> checksOf(const SourceModule &module, const FunctionDef &function) {
  return CheckReader(module).run(function);
}

} // namespace nereid::generator
