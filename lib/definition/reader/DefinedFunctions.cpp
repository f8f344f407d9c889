// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/DefinedFunctions.h"

#include "lib/definition/reader/BodyExpressions.h"
#include "lib/definition/reader/creation/TypeLimits.h"
#include "lib/definition/reader/sequences/BodySequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;
using language::FunctionDef;
using language::Param;
using language::Stmt;
using language::StmtKind;

namespace {

void addAssigned(const Expr &target, std::set<std::string> &names) {
  if (target.kind == ExprKind::Name) {
    names.insert(target.text);
  }
  if (target.kind == ExprKind::Subscript) {
    return; // y[i] = v gives no name another meaning
  }
  for (const language::ExprPtr &part : target.operands) {
    addAssigned(*part, names);
  }
}

void addAssigned(const std::vector<language::StmtPtr> &statements, std::set<std::string> &names) {
  for (const language::StmtPtr &statement : statements) {
    for (const language::ExprPtr &target : statement->targets) {
      addAssigned(*target, names);
    }
    addAssigned(statement->body, names);
    addAssigned(statement->orelse, names);
  }
}

std::string form(const FunctionDef &function) {
  std::string text;
  for (const Param &parameter : function.params) {
    text += (text.empty() ? "" : ", ") + parameter.name + (parameter.defaultValue ? "=…" : "");
  }
  return fmt::format("its form is {}({})", function.name, text);
}

} // namespace

/// Generated files call what they import and compute sizes by their names.
void DefinedFunctions::checkName(const FunctionDef &function, SourceRange range) {
  static constexpr std::array<std::string_view, 12> words = {"torch", "F",     "nn",     "math",
                                                             "float", "int",   "bool",   "range",
                                                             "len",   "tuple", "einsum", "self"};
  const std::string &name = function.name;
  const std::vector<std::string> sizes = symbolsOf(reader.op);
  auto isIn = [&](const auto &list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::string is;
  if (isIn(operationNames()) || isIn(functionNames()) || isIn(BodyExpressions::swapNames()) ||
      isIn(words)) {
    is = "a name that bodies have already";
  } else if (has(name)) {
    is = "defined twice";
  } else if (reader.names.count(name) != 0 || reader.literals.count(name) != 0) {
    is = "the name of a value";
  } else if (isIn(sizes) || isIn(reader.op.outputNames) || name == reader.op.name) {
    is = "the name of a size, an output or the operator";
  } else if (name.starts_with("_")) {
    is = "a name that generated files may have";
  }
  if (!is.empty()) {
    reader.fail("E0608", range, fmt::format("the function '{}' is {}", name, is))
        .withHelp("give the function another name, which does not begin with '_'");
  }
}

void DefinedFunctions::define(const FunctionDef &function, SourceRange range) {
  checkName(function, range);
  Defined made;
  made.function = &function;
  for (const Param &parameter : function.params) {
    if (parameter.isVarArgs || parameter.isKeywordArgs) {
      reader.fail("E0608", parameter.range, "a function of a body expects parameters one by one")
          .withHelp(fmt::format("write def {}(a, b):", function.name));
      continue;
    }
    made.locals.insert(parameter.name);
    if (parameter.defaultValue) {
      if (auto value = bound(*parameter.defaultValue)) {
        made.defaults[parameter.name] = *value;
      }
    }
  }
  if (!function.decorators.empty()) {
    reader.fail("E0608", function.decorators[0]->range, "a function of a body has no decorators");
  }
  addAssigned(function.body, made.locals);
  functions[function.name] = std::move(made);
}

std::optional<DefinedFunctions::Binding> DefinedFunctions::bound(const Expr &value) {
  const bool isList = value.kind == ExprKind::Tuple || value.kind == ExprKind::List;
  const bool mayBeLiteral = !isList || reader.isListOfNumbers(value);
  const Expr *literal = mayBeLiteral ? reader.known.literalOf(value) : nullptr;
  literal = literal ? literal : TypeLimits(reader).literal(value);
  if (literal) {
    return Binding{std::nullopt, literal};
  }
  if (BodySequences lists(reader); lists.isSequence(value)) {
    const auto named =
        value.kind == ExprKind::Name ? reader.sequences.find(value.text) : reader.sequences.end();
    const auto nodes = named == reader.sequences.end() ? lists.read(value) : std::nullopt;
    return nodes ? std::optional(
                       Binding{std::nullopt, nullptr, std::make_shared<std::vector<int>>(*nodes)})
           : named == reader.sequences.end()
               ? std::nullopt
               : std::optional(Binding{std::nullopt, nullptr, named->second});
  }
  const std::optional<int> node = reader.read(value);
  return node ? std::optional(Binding{node, nullptr}) : std::nullopt;
}

std::optional<DefinedFunctions::Bindings> DefinedFunctions::boundArguments(const Expr &call,
                                                                           const Defined &defined) {
  const FunctionDef &function = *defined.function;
  Bindings arguments;
  std::map<std::string, const Expr *> given;
  std::vector<const Expr *> positionals;
  bool hasStar = false;
  for (size_t i = 1; i < call.operands.size(); ++i) {
    positionals.push_back(call.operands[i].get());
    hasStar |= call.operands[i]->kind == ExprKind::Starred;
  }
  if (hasStar && !BodySequences(reader).openAll(positionals)) {
    return std::nullopt;
  }
  const size_t positional = positionals.size();
  if (positional > function.params.size()) {
    reader
        .fail("E0608", call.range,
              fmt::format("'{}' expects at most {} arguments, but got {}", function.name,
                          function.params.size(), positional))
        .withHelp(form(function));
    return std::nullopt;
  }
  for (size_t i = 0; i < positional; ++i) {
    given[function.params[i].name] = positionals[i];
  }
  for (const language::Keyword &keyword : call.keywords) {
    const bool isKnown =
        std::any_of(function.params.begin(), function.params.end(),
                    [&](const Param &parameter) { return parameter.name == keyword.name; });
    if (!isKnown || !given.emplace(keyword.name, keyword.value.get()).second) {
      reader
          .fail("E0608", keyword.range,
                isKnown ? fmt::format("argument '{}' of '{}' is given twice", keyword.name,
                                      function.name)
                        : fmt::format("'{}' has no argument '{}'", function.name, keyword.name))
          .withHelp(form(function));
      return std::nullopt;
    }
  }
  for (const Param &parameter : function.params) {
    const auto found = given.find(parameter.name);
    if (found != given.end()) {
      const std::optional<Binding> value = bound(*found->second);
      if (!value) {
        return std::nullopt;
      }
      arguments[parameter.name] = *value;
      continue;
    }
    const auto otherwise = defined.defaults.find(parameter.name);
    if (otherwise == defined.defaults.end()) {
      reader
          .fail("E0608", call.range,
                fmt::format("'{}' expects the argument '{}'", function.name, parameter.name))
          .withHelp(form(function));
      return std::nullopt;
    }
    arguments[parameter.name] = otherwise->second;
  }
  return arguments;
}

std::optional<std::vector<int>> DefinedFunctions::call(const Expr &call) {
  const std::string name = call.operands[0]->text;
  const Defined &defined = functions.at(name);
  if (std::find(running.begin(), running.end(), name) != running.end()) {
    reader
        .fail("E0608", call.range,
              fmt::format("'{}' calls itself: {} -> {}", name, fmt::join(running, " -> "), name))
        .withHelp("functions of a body are written out where they are called: use a loop over a "
                  "constant range");
    return std::nullopt;
  }
  auto arguments = boundArguments(call, defined);
  if (!arguments) {
    return std::nullopt;
  }
  if (running.empty()) {
    outerNames = reader.names;
    outerLiterals = reader.literals;
    outerSequences = reader.sequences;
  }
  std::map<std::string, int> inner = outerNames;
  std::map<std::string, const Expr *> innerLiterals = outerLiterals;
  std::set<std::string> innerAssigned = reader.assigned;
  auto innerSequences = outerSequences;
  for (const std::string &local : defined.locals) {
    inner.erase(local);
    innerLiterals.erase(local);
    innerSequences.erase(local);
    innerAssigned.erase(local);
  }
  const size_t passedBefore = passed.size();
  for (const auto &[parameter, value] : *arguments) {
    if (value.node) {
      inner[parameter] = *value.node;
      passed.push_back(*value.node);
    } else if (value.list) {
      innerSequences[parameter] = value.list;
      passed.insert(passed.end(), value.list->begin(), value.list->end());
    } else {
      innerLiterals[parameter] = value.literal;
    }
  }
  std::swap(reader.names, inner);
  std::swap(reader.literals, innerLiterals);
  std::swap(reader.assigned, innerAssigned);
  std::swap(reader.sequences, innerSequences);
  running.push_back(name);
  reader.enter(fmt::format("'{}', called in line {}", name, reader.moved(call.range).line));
  std::optional<std::vector<int>> values = run(*defined.function);
  reader.leave();
  running.pop_back();
  passed.resize(passedBefore);
  std::swap(reader.names, inner);
  std::swap(reader.literals, innerLiterals);
  std::swap(reader.assigned, innerAssigned);
  std::swap(reader.sequences, innerSequences);
  return values;
}

} // namespace nereid::definition
