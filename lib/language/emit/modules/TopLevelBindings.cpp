// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/modules/TopLevelBindings.h"

#include "lib/language/emit/expressions/Expressions.h"
#include "lib/language/emit/modules/Imports.h"
#include "lib/language/host/HostPython.h"

#include <algorithm>

namespace nereid::language::emit {

static bool isTarget(const Stmt &stmt, const std::string &name) {
  for (const ExprPtr &target : stmt.targets) {
    if (target && target->kind == ExprKind::Name && target->text == name) {
      return true;
    }
  }
  return false;
}

static bool isImportOf(const Stmt &stmt, const std::string &name) {
  for (const ImportName &import : stmt.names) {
    std::string bound = import.alias.empty() ? import.name : import.alias;
    if (stmt.kind == StmtKind::Import && import.alias.empty()) {
      bound = bound.substr(0, bound.find('.'));
    }
    if (bound == name) {
      return true;
    }
  }
  return false;
}

static bool usesName(const Expr &expr, const std::string &name) {
  if (expr.kind == ExprKind::Name && expr.text == name) {
    return true;
  }
  for (const ExprPtr &operand : expr.operands) {
    if (operand && usesName(*operand, name)) {
      return true;
    }
  }
  for (const Keyword &keyword : expr.keywords) {
    if (keyword.value && usesName(*keyword.value, name)) {
      return true;
    }
  }
  return false;
}

/// What a condition at the top level decides; nothing while it is open: it asks about a device,
/// about a library that is not read, or about itself.
std::optional<bool> TopLevelBindings::conditionAtTop(const SourceModule &module, const Stmt &stmt) {
  if (auto known = topConditions.find(&stmt); known != topConditions.end()) {
    return known->second;
  }
  if (!conditionsInProgress.insert(&stmt).second) {
    return std::nullopt;
  }
  size_t before = emitter.report.mark();
  Value condition = expressions.evaluateAtTop(module, *stmt.value);
  std::optional<bool> truth = condition.isTile() ? std::nullopt : constantTruth(condition);
  emitter.report.rollBack(before);
  conditionsInProgress.erase(&stmt);
  topConditions.emplace(&stmt, truth);
  return truth;
}

static bool isPlainFunction(const Stmt &stmt) {
  return stmt.kind == StmtKind::FunctionDef && !stmt.function->isJit();
}

/// Of `if` at the top level the branch that its condition chooses. While that is open, the branches
/// are tried in turn, one that only has a function of Python for the name last.
void TopLevelBindings::addBindingsOfIf(const SourceModule &module, const Stmt &stmt,
                                       const std::string &name, std::vector<Binding> &bindings) {
  std::vector<Binding> whenTrue, whenFalse;
  addBindings(module, stmt.body, name, whenTrue);
  addBindings(module, stmt.orelse, name, whenFalse);
  if (whenTrue.empty() && whenFalse.empty()) {
    return;
  }
  if (std::optional<bool> truth = conditionAtTop(module, stmt)) {
    const std::vector<Binding> &chosen = *truth ? whenTrue : whenFalse;
    bindings.insert(bindings.end(), chosen.begin(), chosen.end());
    return;
  }
  if (!whenTrue.empty() && !whenFalse.empty()) {
    std::pair<const Stmt *, const SourceModule *> open{&stmt, &module};
    if (std::find(openConditions.begin(), openConditions.end(), open) == openConditions.end()) {
      openConditions.push_back(open);
    }
    if (isPlainFunction(*whenTrue[0].stmt) && !isPlainFunction(*whenFalse[0].stmt)) {
      std::swap(whenTrue, whenFalse);
    }
  }
  addAlternatives(whenTrue, whenFalse, bindings);
}

/// The first list, and the second one where nothing of the first can be evaluated.
void TopLevelBindings::addAlternatives(std::vector<Binding> first,
                                       const std::vector<Binding> &second,
                                       std::vector<Binding> &bindings) {
  for (Binding &binding : first) {
    binding.hasFallback |= !second.empty();
  }
  bindings.insert(bindings.end(), first.begin(), first.end());
  bindings.insert(bindings.end(), second.begin(), second.end());
}

/// Whether the body of a `try` at the top level raises: it imports what there is not, or names it.
bool TopLevelBindings::raisesAtTop(const SourceModule &module, const Stmt &stmt) {
  if (auto known = topTries.find(&stmt); known != topTries.end()) {
    return known->second;
  }
  topTries.emplace(&stmt, false); // a module that imports itself is being imported, as in Python
  bool raises = false;
  size_t before = emitter.report.mark();
  for (const StmtPtr &inner : stmt.body) {
    bool isImport = inner->kind == StmtKind::Import || inner->kind == StmtKind::ImportFrom;
    for (const ImportName &import : inner->names) {
      if (raises || !isImport || import.name == "*") {
        continue;
      }
      std::string bound = import.alias.empty() ? import.name : import.alias;
      bound = inner->kind == StmtKind::Import && import.alias.empty()
                  ? bound.substr(0, bound.find('.'))
                  : bound;
      raises = isMissing(imports.importedValue(module, *inner, bound));
    }
    bool isName = inner->value &&
                  (inner->kind == StmtKind::Assign || inner->kind == StmtKind::ExprStmt) &&
                  inner->value->kind == ExprKind::Attribute;
    raises = raises || (isName && isMissing(expressions.evaluateAtTop(module, *inner->value)));
  }
  emitter.report.rollBack(before);
  topTries[&stmt] = raises;
  return raises;
}

/// The handler's names when the body raises, otherwise the body's; the others where those cannot be
/// evaluated.
void TopLevelBindings::addBindingsOfTry(const SourceModule &module, const Stmt &stmt,
                                        const std::string &name, std::vector<Binding> &bindings) {
  std::vector<Binding> body, handler;
  addBindings(module, stmt.body, name, body);
  if (!stmt.orelse.empty()) { // the first one is for what a kernel's file expects to happen
    addBindings(module, stmt.orelse[0]->body, name, handler);
  }
  if (body.empty() && handler.empty()) {
    return;
  }
  bool raises = !stmt.orelse.empty() && raisesAtTop(module, stmt);
  addAlternatives(raises ? handler : body, raises ? body : handler, bindings);
}

/// The statements that give the name a value, the one that holds at the end of the file first.
void TopLevelBindings::addBindings(const SourceModule &module, const std::vector<StmtPtr> &list,
                                   const std::string &name, std::vector<Binding> &bindings) {
  for (size_t i = list.size(); i-- > 0;) {
    const Stmt &stmt = *list[i];
    bool isBinding = false;
    switch (stmt.kind) {
    case StmtKind::FunctionDef:
      isBinding = stmt.function && stmt.function->name == name;
      break;
    case StmtKind::Assign:
      isBinding = isTarget(stmt, name);
      break;
    case StmtKind::AnnAssign:
      isBinding = stmt.value && isTarget(stmt, name);
      break;
    case StmtKind::Import:
    case StmtKind::ImportFrom:
      isBinding = isImportOf(stmt, name);
      break;
    case StmtKind::If:
      addBindingsOfIf(module, stmt, name, bindings);
      break;
    case StmtKind::Opaque:
      if (stmt.text == "try") {
        addBindingsOfTry(module, stmt, name, bindings);
      } else if (stmt.text == "with") {
        addBindings(module, stmt.body, name, bindings);
      }
      isBinding = stmt.text == "class" && stmt.names[0].name == name;
      break;
    default:
      break;
    }
    if (isBinding) {
      // A name wrapped in a call of itself keeps its meaning when the call cannot be run.
      bool isWrapped = stmt.kind == StmtKind::Assign && usesName(*stmt.value, name);
      bindings.push_back({&stmt, isWrapped});
    }
  }
}

/// The statements that bind the name in any branch, whatever its condition says.
static void addOfAnyBranch(const std::vector<StmtPtr> &list, const std::string &name,
                           std::vector<const Stmt *> &found) {
  for (size_t i = list.size(); i-- > 0;) {
    const Stmt &stmt = *list[i];
    bool isFunction = stmt.kind == StmtKind::FunctionDef && stmt.function->name == name;
    if (isFunction || (stmt.value && isTarget(stmt, name)) || isImportOf(stmt, name)) {
      found.push_back(&stmt);
    } else if (stmt.kind == StmtKind::If) {
      addOfAnyBranch(stmt.body, name, found);
      addOfAnyBranch(stmt.orelse, name, found);
    }
  }
}

std::vector<TopLevelBindings::Binding> TopLevelBindings::of(const SourceModule &module,
                                                            const std::string &name) {
  std::vector<Binding> bindings;
  addBindings(module, module.body, name, bindings);
  if (bindings.empty()) {
    // A file for GPUs may define its kernels and what they use only for those.
    std::vector<const Stmt *> elsewhere;
    addOfAnyBranch(module.body, name, elsewhere);
    for (const Stmt *stmt : elsewhere) {
      bindings.push_back({stmt, true});
    }
  }
  return bindings;
}

void TopLevelBindings::remarkOpenConditions() {
  for (const auto &[stmt, module] : openConditions) {
    emitter.report.add(openConditionRemark(*module, *stmt));
  }
}

static void addNames(const std::vector<StmtPtr> &list, std::vector<std::string> &names) {
  for (const StmtPtr &stmt : list) {
    if (stmt->kind == StmtKind::FunctionDef && stmt->function) {
      names.push_back(stmt->function->name);
    }
    for (const ExprPtr &target : stmt->targets) {
      if (target && target->kind == ExprKind::Name) {
        names.push_back(target->text);
      }
    }
    for (const ImportName &import : stmt->names) {
      names.push_back(import.alias.empty() ? import.name : import.alias);
    }
    if (stmt->kind == StmtKind::If || (stmt->kind == StmtKind::Opaque && stmt->text != "class")) {
      addNames(stmt->body, names);
      addNames(stmt->orelse, names);
    }
  }
}

std::vector<std::string> topLevelNames(const SourceModule &module) {
  std::vector<std::string> names;
  addNames(module.body, names);
  return names;
}

} // namespace nereid::language::emit
