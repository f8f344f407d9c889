// SPDX-License-Identifier: Apache-2.0
// Functions that a body defines: `def f(a, b=2): …`. A call reads the function's lines with the
// arguments in the place of its parameters; names that it does not assign are the body's, as in
// Python.
#pragma once

#include "lib/definition/reader/BodyConstants.h"

#include <functional>
#include <memory>
#include <set>

namespace nereid::definition {

class BodyExpressions;

class DefinedFunctions {
public:
  explicit DefinedFunctions(BodyExpressions &reader) : reader(reader) {}

  void define(const language::FunctionDef &function, SourceRange range);
  bool has(const std::string &name) const { return functions.count(name) != 0; }
  /// The statement that is read is one of such a function.
  bool isRunning() const { return !running.empty(); }
  /// Values that the call returns, or nothing after an error was reported.
  std::optional<std::vector<int>> call(const language::Expr &call);
  /// Reads the statements of a function: what it returns.
  using Run = std::function<std::optional<std::vector<int>>(const language::FunctionDef &)>;
  void runBy(Run with) { run = std::move(with); }

  /// The nodes that those which are running were called with.
  const std::vector<int> &arguments() const { return passed; }

private:
  struct Binding {
    std::optional<int> node;
    const language::Expr *literal = nullptr;
    std::shared_ptr<std::vector<int>> list = nullptr;
  };
  using Bindings = std::map<std::string, Binding>;
  struct Defined {
    const language::FunctionDef *function = nullptr;
    Bindings defaults;
    std::set<std::string> locals; ///< names that it assigns, which are never the body's
  };

  void checkName(const language::FunctionDef &function, SourceRange range);
  std::optional<Binding> bound(const language::Expr &value);
  std::optional<Bindings> boundArguments(const language::Expr &call, const Defined &defined);

  BodyExpressions &reader;
  std::map<std::string, Defined> functions;
  std::vector<std::string> running; ///< of them, those that are being called
  std::vector<int> passed;          ///< nodes that the running ones were called with
  BodyConstants::Names outerNames;  ///< of the body, while one is
  BodyConstants::Literals outerLiterals;
  std::map<std::string, std::shared_ptr<std::vector<int>>> outerSequences;
  Run run;
};

} // namespace nereid::definition
