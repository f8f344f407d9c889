// SPDX-License-Identifier: Apache-2.0
// The Python wrapper's side of Interface.h.
#include "lib/generator/Interface.h"
#include "lib/generator/PythonChecks.h"
#include "lib/generator/PythonText.h"
#include "lib/language/Parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::generator {

using language::Expr;
using language::ExprKind;
using language::FunctionDef;
using language::SourceModule;

namespace {

class WrapperReader {
public:
  explicit WrapperReader(const SourceModule &module)
      : module(module), canonical(module, Spelling::Canonical),
        written(module, Spelling::AsWritten) {}

  Interface run(const FunctionDef &function) {
    Interface interface;
    interface.file = module.path;
    interface.source = module.text;
    interface.function = function.name;
    interface.place = function.nameRange;
    for (const language::Param &parameter : function.params) {
      interface.parameters.push_back(
          {parameter.name, type(parameter.annotation.get(), parameter.range),
           part(parameter.defaultValue.get(), parameter.range), parameter.range});
    }
    const Expr *returns = function.returns.get();
    interface.result = type(returns, function.nameRange);
    if (returns && returns->kind == ExprKind::Subscript) {
      const Expr &index = *returns->operands[1];
      interface.outputs =
          index.kind == ExprKind::Tuple ? static_cast<int>(index.operands.size()) : 1;
    }
    interface.checks = checksOf(module, function);
    return interface;
  }

private:
  Interface::Part part(const Expr *expr, SourceRange owner) {
    if (expr == nullptr) {
      return {"", "", owner};
    }
    return {written.text(*expr, {}), canonical.text(*expr, canonical.topLevel()), expr->range};
  }

  /// An annotation, which may be quoted.
  Interface::Part type(const Expr *annotation, SourceRange owner) {
    Interface::Part result = part(annotation, owner);
    if (annotation && annotation->kind == ExprKind::String) {
      Diagnostics ignored;
      if (auto inner = language::parseExpression("annotation", annotation->text, ignored)) {
        result.meaning = canonical.text(*inner, canonical.topLevel());
      }
    }
    constexpr std::string_view oldTuple = "typing.Tuple[";
    if (result.meaning.starts_with(oldTuple)) {
      result.meaning = "tuple[" + result.meaning.substr(oldTuple.size());
    }
    return result;
  }

  const SourceModule &module;
  PythonText canonical, written;
};

} // namespace

std::string Interface::names() const {
  std::vector<std::string> list;
  for (const Parameter &parameter : parameters) {
    list.push_back(parameter.name);
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

std::string Interface::text() const {
  return fmt::format("'{}({}) -> {} tensor{}'", function, names(), outputs,
                     outputs == 1 ? "" : "s");
}

Diagnostic missingFunction(const std::string &path, const std::string &name, const char *language,
                           const std::vector<std::string> &present) {
  std::string found = present.empty() ? "none" : fmt::format("'{}'", fmt::join(present, "', '"));
  Diagnostic error = makeError(
      "E0610", fmt::format("expects a {} function '{}', but got {}", language, name, found));
  error.file = path;
  return std::move(error.withHelp(
      fmt::format("name the operator's function '{}', or generate the file again", name)));
}

Result<Interface> readPythonInterface(const std::string &path, const std::string &text,
                                      const std::string &name) {
  Diagnostics diags;
  auto module = language::parseModule(path, text, diags);
  if (!module) {
    return diags.all().empty() ? missingFunction(path, name, "Python", {}) : diags.all().front();
  }
  if (const FunctionDef *function = finalFunction(*module, name)) {
    return WrapperReader(*module).run(*function);
  }
  std::vector<std::string> present;
  for (const language::StmtPtr &statement : module->body) {
    const FunctionDef *function = statement->function.get();
    if (function != nullptr && !function->isJit() && !function->name.starts_with("_")) {
      present.push_back(function->name);
    }
  }
  return missingFunction(path, name, "Python", present);
}

} // namespace nereid::generator
