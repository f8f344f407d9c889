// SPDX-License-Identifier: Apache-2.0
// The Python wrapper's side of Interface.h.
#include "lib/generator/Interface.h"
#include "lib/generator/PythonChecks.h"
#include "lib/generator/PythonText.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace nereid::generator {

using language::Expr;
using language::ExprKind;
using language::FunctionDef;
using language::SourceModule;

namespace {

/// The marks "*" and "/" between parameters, which the syntax tree leaves out, with their numbers
/// in the list. `name` is the function's in `text`.
std::vector<std::pair<size_t, std::string>> separators(const std::string &text, SourceRange name) {
  size_t at = 0;
  for (int line = 1; line < name.line; ++line) {
    at = text.find('\n', at) + 1;
  }
  std::vector<std::pair<size_t, std::string>> marks;
  std::string item;
  size_t number = 0;
  int depth = 0;
  for (size_t i = text.find('(', at); i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    const bool isEnd = depth == 0;
    if (isEnd || (c == ',' && depth == 1)) {
      if (item == "*" || item == "/") {
        marks.emplace_back(number, item);
      }
      ++number;
      item.clear();
    } else if (!std::isspace(static_cast<unsigned char>(c)) && !(depth == 1 && c == '(')) {
      item += c;
    }
    if (isEnd) {
      break;
    }
  }
  return marks;
}

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
      const char *stars = parameter.isVarArgs ? "*" : parameter.isKeywordArgs ? "**" : "";
      interface.parameters.push_back(
          {stars + parameter.name, type(parameter.annotation.get(), parameter.range),
           part(parameter.defaultValue.get(), parameter.range), parameter.range});
    }
    for (const auto &[index, mark] : separators(module.text, function.nameRange)) {
      interface.parameters.insert(interface.parameters.begin() + static_cast<long>(index),
                                  {mark, {}, {}, function.nameRange});
    }
    takeGiven(interface);
    const Expr *returns = function.returns.get();
    interface.result = type(returns, function.nameRange);
    if (returns && returns->kind == ExprKind::Subscript) {
      const Expr &index = *returns->operands[1];
      interface.outputs =
          index.kind == ExprKind::Tuple ? static_cast<int>(index.operands.size()) : 1;
    }
    interface.checks = checksOf(module, function);
    addLaunches(function.body, interface);
    return interface;
  }

private:
  static void takeGiven(Interface &interface) {
    auto &all = interface.parameters;
    const auto mark =
        std::find_if(all.begin(), all.end(), [](const auto &each) { return each.name == "*"; });
    const bool areGiven = mark != all.end() && std::all_of(mark + 1, all.end(), [](const auto &p) {
                            return p.value.meaning == "None";
                          });
    if (areGiven) {
      interface.given.assign(mark + 1, all.end());
      all.erase(mark, all.end());
    }
  }

  /// `kernel[grid](…)` as a statement of its own.
  void addLaunches(const std::vector<language::StmtPtr> &body, Interface &interface) {
    for (const language::StmtPtr &statement : body) {
      addLaunches(statement->body, interface);
      addLaunches(statement->orelse, interface);
      const Expr *call = statement->value.get();
      if (statement->kind != language::StmtKind::ExprStmt || call->kind != ExprKind::Call ||
          call->operands.front()->kind != ExprKind::Subscript) {
        continue;
      }
      std::vector<Interface::Part> arguments;
      for (size_t i = 1; i < call->operands.size(); ++i) {
        const Expr &argument = *call->operands[i];
        arguments.push_back({written.text(argument, {}),
                             argument.kind == ExprKind::Name ? argument.text : "", argument.range});
      }
      interface.launches.push_back(std::move(arguments));
    }
  }

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

/// Why the function, which stands in the file, could not be read.
std::optional<Diagnostic> syntaxError(const SourceModule &module, const std::string &name) {
  const size_t head = module.text.find("def " + name + "(");
  if (head == std::string::npos) {
    return std::nullopt;
  }
  const auto line =
      1 + std::count(module.text.begin(), module.text.begin() + static_cast<long>(head), '\n');
  const bool isUnread =
      std::any_of(module.body.begin(), module.body.end(), [&](const language::StmtPtr &statement) {
        return statement->kind == language::StmtKind::Opaque && statement->range.line == line;
      });
  Diagnostics strict;
  if (isUnread) {
    (void)language::parseStatements(module.path, module.text, strict);
  }
  auto found = std::find_if(strict.all().begin(), strict.all().end(),
                            [&](const Diagnostic &error) { return error.range.line >= line; });
  return found == strict.all().end() ? std::nullopt : std::optional(*found);
}

} // namespace

std::string Interface::names() const {
  std::vector<std::string> list;
  for (const Parameter &parameter : parameters) {
    list.push_back(parameter.name);
  }
  for (const Parameter &parameter : given) {
    list.push_back(&parameter == given.data() ? "*, " + parameter.name : parameter.name);
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
  if (auto error = syntaxError(*module, name)) {
    return *error;
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
