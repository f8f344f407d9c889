// SPDX-License-Identifier: Apache-2.0
// What the top level of a file gives a name: jit functions, constants, imports. Nothing is
// evaluated before a kernel uses it, so the rest of a file may hold any Python.
#include "lib/language/emit/Emitter.h"

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

/// Of `if` at the top level the branch that its condition chooses, when that is known; otherwise
/// the first one that binds the name.
void Emitter::addBindingsOfIf(const SourceModule &module, const Stmt &stmt, const std::string &name,
                              std::vector<Binding> &bindings) {
  std::vector<Binding> whenTrue, whenFalse;
  addBindings(module, stmt.body, name, false, whenTrue);
  addBindings(module, stmt.orelse, name, false, whenFalse);
  std::vector<Binding> *chosen = whenTrue.empty() ? &whenFalse : &whenTrue;
  bool isBinding = !whenTrue.empty() || !whenFalse.empty();
  if (isBinding && conditionsInProgress.insert(&stmt).second) {
    size_t before = reported.size();
    Value condition = evaluateAtTop(module, *stmt.value);
    std::optional<bool> truth = condition.isTile() ? std::nullopt : constantTruth(condition);
    rollBack(before);
    conditionsInProgress.erase(&stmt);
    chosen = truth ? (*truth ? &whenTrue : &whenFalse) : chosen;
  }
  bindings.insert(bindings.end(), chosen->begin(), chosen->end());
}

/// The statements that give the name a value, the one that holds at the end of the file first. Of a
/// `try` the first one counts unless it cannot be evaluated, then those after it.
void Emitter::addBindings(const SourceModule &module, const std::vector<StmtPtr> &list,
                          const std::string &name, bool isTry, std::vector<Binding> &bindings) {
  for (size_t i = 0; i < list.size(); ++i) {
    const Stmt &stmt = *list[isTry ? i : list.size() - 1 - i];
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
        addBindings(module, stmt.body, name, true, bindings);
      }
      isBinding = stmt.text == "class" && stmt.names[0].name == name;
      break;
    default:
      break;
    }
    if (isBinding) {
      // A name wrapped in a call of itself keeps its meaning when the call cannot be run.
      bool isWrapped = stmt.kind == StmtKind::Assign && usesName(*stmt.value, name);
      bindings.push_back({&stmt, isTry || isWrapped});
    }
  }
}

static bool hasImports(const SourceModule &module) {
  for (const StmtPtr &stmt : module.body) {
    if (stmt->kind == StmtKind::Import || stmt->kind == StmtKind::ImportFrom) {
      return true;
    }
  }
  return false;
}

Value Emitter::evaluateAtTop(const SourceModule &module, const Expr &expr) {
  Frame outside;
  outside.module = &module;
  outside.caller = frame;
  outside.callRange = here;
  outside.callLocation = mlir::LocationAttr(location());
  Frame *inside = frame;
  frame = &outside;
  Value value = evaluate(expr);
  frame = inside;
  return value;
}

/// A library's decorator may put another function in the place of the one below it, such as a
/// vendor's. Only a language function or a jit function is taken; whatever else a decorator makes
/// (a cache, a launcher) is ignored, and so is one that cannot be run.
Value Emitter::decorated(const SourceModule &module, Value function) {
  const std::vector<ExprPtr> &decorators = function.function->decorators;
  for (auto it = decorators.rbegin(); it != decorators.rend(); ++it) {
    const Expr &callee = (*it)->kind == ExprKind::Call ? *(*it)->operands[0] : **it;
    static const std::set<std::string> known = {"jit", "autotune", "heuristics", "constexpr",
                                                "constexpr_function"};
    if (known.count(callee.text)) {
      continue;
    }
    size_t before = reported.size();
    Value decorator = evaluateAtTop(module, **it);
    Value result = Value::poison();
    if (decorator.kind == Value::Kind::Function && !decorator.function->isJit()) {
      Frame outside;
      outside.module = &module;
      outside.caller = frame;
      outside.callRange = here;
      outside.callLocation = mlir::LocationAttr(location());
      Frame *inside = frame;
      frame = &outside;
      result = callFunction(*decorator.function, *decorator.module, {{"", function, nullptr}}, {},
                            decorator.captured);
      frame = inside;
    }
    rollBack(before);
    bool isJit = result.kind == Value::Kind::Function && result.function->isJit();
    if (isJit || result.kind == Value::Kind::Builtin) {
      function = std::move(result);
      if (function.kind == Value::Kind::Builtin) {
        break;
      }
    }
  }
  return function;
}

/// The value of one binding; poison, with the error reported, when it has none.
Value Emitter::boundValue(const SourceModule &module, const Stmt &stmt, const std::string &name) {
  if (stmt.kind == StmtKind::FunctionDef) {
    Value value;
    value.kind = Value::Kind::Function;
    value.function = stmt.function.get();
    value.module = &module;
    return stmt.function->isJit() && stmt.function->decorators.size() > 1 ? decorated(module, value)
                                                                          : value;
  }
  if (stmt.kind == StmtKind::Opaque) {
    Value value;
    value.kind = Value::Kind::Class;
    value.classDef = &stmt;
    value.module = &module;
    return value;
  }
  bool isImport = stmt.kind == StmtKind::Import || stmt.kind == StmtKind::ImportFrom;
  Value value = isImport ? importedValue(module, stmt, name) : evaluateAtTop(module, *stmt.value);
  return value.isTile()
             ? fail("E0219", "the value of '" + name + "' is not known when the kernel is compiled",
                    "make it a constant, e.g. " + name + " = tl.constexpr(16)")
             : value;
}

std::optional<Value> Emitter::global(const SourceModule &module, const std::string &name) {
  std::pair<const SourceModule *, std::string> key{&module, name};
  if (auto found = globals.find(key); found != globals.end()) {
    return found->second;
  }
  std::vector<Binding> bindings;
  addBindings(module, module.body, name, false, bindings);
  // Inside its own definition a name means what it was bound to before.
  auto progress = globalsInProgress.find(key);
  size_t first = progress == globalsInProgress.end() ? 0 : progress->second + 1;
  if (first >= bindings.size()) {
    if (first > 0) {
      const Stmt &last = *bindings.back().stmt;
      bool isImport = last.kind == StmtKind::Import || last.kind == StmtKind::ImportFrom;
      return isImport ? fail("E0232", "the import of '" + name + "' goes in a circle",
                             "define '" + name + "' in one of the files")
                      : fail("E0219", "the value of '" + name + "' depends on itself");
    }
    std::optional<Value> value = starImport(module, name);
    if (!value && !hasImports(module) && (name == "tl" || name == "triton")) {
      return Value::moduleNamed(name == "tl" ? "triton.language" : "triton");
    }
    return value;
  }
  Value value;
  std::vector<Diagnostic> firstErrors;
  size_t before = reported.size();
  for (size_t i = first; i < bindings.size(); ++i) {
    globalsInProgress[key] = i;
    value = boundValue(module, *bindings[i].stmt, name);
    bool isUsable = !value.isPoison() && value.kind != Value::Kind::Import;
    if (isUsable || !bindings[i].hasFallback || i + 1 == bindings.size()) {
      break;
    }
    if (firstErrors.empty()) {
      firstErrors.assign(reported.begin() + static_cast<std::ptrdiff_t>(before), reported.end());
    }
    rollBack(before);
  }
  if (first == 0) {
    globalsInProgress.erase(key);
  } else {
    globalsInProgress[key] = first - 1;
    return value;
  }
  if (value.isPoison() && !firstErrors.empty()) { // the first way is the one that was meant
    rollBack(before);
    for (Diagnostic &diagnostic : firstErrors) {
      errorTotal += diagnostic.severity == Severity::Error ? 1 : 0;
      reported.push_back(std::move(diagnostic));
    }
  }
  if (!value.isPoison()) { // an error may be rolled back; it must be found again then
    globals.emplace(key, value);
  }
  return value;
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
    bool isTry = stmt->kind == StmtKind::Opaque && stmt->text == "try";
    if (stmt->kind == StmtKind::If || isTry) {
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
