// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/modules/Globals.h"

#include "lib/language/StandardLibrary.h"
#include "lib/language/emit/expressions/Calls.h"
#include "lib/language/emit/expressions/Expressions.h"
#include "lib/language/emit/modules/HostLibraries.h"
#include "lib/language/emit/modules/Imports.h"

#include <set>

namespace nereid::language::emit {

static bool hasImports(const SourceModule &module) {
  for (const StmtPtr &stmt : module.body) {
    if (stmt->kind == StmtKind::Import || stmt->kind == StmtKind::ImportFrom) {
      return true;
    }
  }
  return false;
}

/// A library's decorator may put another function in the place of the one below it, such as a
/// vendor's. Only a language function or a jit function is taken; whatever else a decorator makes
/// (a cache, a launcher) is ignored, and so is one that cannot be run.
Value Globals::decorated(const SourceModule &module, Value function) {
  const std::vector<ExprPtr> &decorators = function.function->decorators;
  for (auto it = decorators.rbegin(); it != decorators.rend(); ++it) {
    const Expr &callee = (*it)->kind == ExprKind::Call ? *(*it)->operands[0] : **it;
    static const std::set<std::string> known = {
        "jit", "autotune", "heuristics", "constexpr", "constexpr_function", "must_use_result"};
    if (known.count(callee.text)) {
      continue;
    }
    size_t before = emitter.report.mark();
    Value decorator = expressions.evaluateAtTop(module, **it);
    Value result = Value::poison();
    if (decorator.kind == Value::Kind::Function && !decorator.function->isJit()) {
      Frame outside = calledFromHere(emitter.position, module);
      Inside inside(emitter.position, outside);
      result = calls.callFunction(*decorator.function, *decorator.module, {{"", function, nullptr}},
                                  {}, decorator.captured);
    }
    emitter.report.rollBack(before);
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
Value Globals::boundValue(const SourceModule &module, const Stmt &stmt, const std::string &name) {
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
  if (stmt.kind == StmtKind::Import || stmt.kind == StmtKind::ImportFrom) {
    return imports.importedValue(module, stmt, name);
  }
  size_t before = emitter.report.mark();
  Value value = expressions.evaluateAtTop(module, *stmt.value);
  if (value.isPoison()) { // dictionaries, lists that grow: what only host Python has
    HostPython python(module);
    HostLocals none;
    HostValue host = python.evaluate(*stmt.value, none);
    if (std::optional<ConstValue> constant = constantOf(host)) {
      emitter.report.rollBack(before);
      return valueOf(*constant);
    }
  }
  return value.isTile()
             ? emitter.report.fail(
                   "E0219", "the value of '" + name + "' is not known when the kernel is compiled",
                   "make it a constant, e.g. " + name + " = tl.constexpr(16)")
             : value;
}

/// The files of the language's own library import nothing: a name that one of them does not bind,
/// and that is no function of Python's, is that of another one's function.
std::optional<Value> Globals::ofLibrary(const std::string &name) {
  if (findBuiltin(name, 'P')) {
    return std::nullopt;
  }
  LibraryFunction found = findLibraryFunction(name);
  return found.module ? find(*found.module, name) : std::nullopt;
}

std::optional<Value> Globals::find(const SourceModule &module, const std::string &name) {
  std::pair<const SourceModule *, std::string> key{&module, name};
  if (auto found = known.find(key); found != known.end()) {
    return found->second;
  }
  const std::vector<TopLevelBindings::Binding> binding = bindings.of(module, name);
  // Inside its own definition a name means what it was bound to before.
  auto progress = inProgress.find(key);
  size_t first = progress == inProgress.end() ? 0 : progress->second + 1;
  if (first >= binding.size()) {
    if (first > 0) {
      const Stmt &last = *binding.back().stmt;
      bool isImport = last.kind == StmtKind::Import || last.kind == StmtKind::ImportFrom;
      return isImport
                 ? emitter.report.fail("E0232", "the import of '" + name + "' goes in a circle",
                                       "define '" + name + "' in one of the files")
                 : emitter.report.fail("E0219", "the value of '" + name + "' depends on itself");
    }
    std::optional<Value> value = imports.starImport(module, name);
    if (!value && !hasImports(module) && (name == "tl" || name == "triton")) {
      return Value::moduleNamed(name == "tl" ? "triton.language" : "triton");
    }
    return !value && module.isLibrary ? ofLibrary(name) : value;
  }
  Value value;
  std::vector<Diagnostic> firstErrors;
  size_t before = emitter.report.mark();
  for (size_t i = first; i < binding.size(); ++i) {
    inProgress[key] = i;
    value = boundValue(module, *binding[i].stmt, name);
    bool isUsable = !value.isPoison() && value.kind != Value::Kind::Import;
    if (isUsable || !binding[i].hasFallback || i + 1 == binding.size()) {
      break;
    }
    if (firstErrors.empty()) {
      firstErrors = emitter.report.since(before);
    }
    emitter.report.rollBack(before);
  }
  if (first == 0) {
    inProgress.erase(key);
  } else {
    inProgress[key] = first - 1;
    return value;
  }
  if (value.isPoison() && !firstErrors.empty()) { // the first way is the one that was meant
    emitter.report.rollBack(before);
    for (Diagnostic &diagnostic : firstErrors) {
      emitter.report.add(std::move(diagnostic));
    }
  }
  if (!value.isPoison()) { // an error may be rolled back; it must be found again then
    known.emplace(key, value);
  }
  return value;
}

} // namespace nereid::language::emit
