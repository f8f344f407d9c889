// SPDX-License-Identifier: Apache-2.0
// Evaluates the Python around kernels as data: lists of configs, small functions that make them,
// lambdas of heuristics. Nothing is imported or launched; what cannot be known is Unknown and
// spreads. No errors: the caller says what it needed and could not find.
#pragma once

#include "lib/language/signature/ConstValue.h"
#include "lib/language/syntax/Ast.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace nereid::language {

struct HostValue {
  enum class Kind {
    Unknown,
    Constant, ///< constant: None, bool, integer, float, string, type
    Given,    ///< a run-time argument: not None, otherwise unknown
    List,     ///< items; tuples, sets of values in order
    Dict,     ///< items: key0, value0, key1, …
    Config,   ///< triton.Config: items as of Dict, and its own keywords in `options`
    Function, ///< function, or a lambda
    Name,     ///< text: a dotted name that is not of this file, "triton.Config"
  };
  Kind kind = Kind::Unknown;
  ConstValue constant;
  /// Shared, so that a list changes wherever it is held, as in Python.
  std::shared_ptr<std::vector<HostValue>> items;
  std::map<std::string, ConstValue> options;
  const FunctionDef *function = nullptr;
  const Expr *lambda = nullptr;
  const Expr *written = nullptr; ///< of a Config: the call that makes it
  std::string text;

  bool isUnknown() const { return kind == Kind::Unknown; }
  static HostValue of(ConstValue value);
  static HostValue listOf(std::vector<HostValue> items);
  static HostValue dictOf(std::vector<HostValue> keysAndValues);
};

using HostLocals = std::map<std::string, HostValue>;

class HostPython {
public:
  explicit HostPython(const SourceModule &module) : module(module) {}

  HostValue evaluate(const Expr &expr, HostLocals &locals);
  /// Calls a function or lambda of the file.
  HostValue call(const HostValue &callee, const std::vector<HostValue> &arguments,
                 const std::map<std::string, HostValue> &keywords = {});
  /// True, false, or -1 when it is not known.
  static int truth(const HostValue &value);
  /// The function that the file leaves the name with; of an `if` the branch that its condition
  /// chooses, and the first one that has the name while the condition is open. Null without one.
  const FunctionDef *functionNamed(const std::string &name);
  /// The `if`s of the top level whose conditions are open although both branches give a name a
  /// meaning that was asked for.
  const std::vector<const Stmt *> &openConditions() const { return open; }

private:
  enum class Flow { Next, Return, Break, Continue, Lost };
  HostValue global(const std::string &name);
  bool bindGlobal(const std::vector<StmtPtr> &list, const std::string &name, HostValue &value);
  const FunctionDef *functionIn(const std::vector<StmtPtr> &list, const std::string &name);
  void noteOpen(const Stmt &stmt);
  bool bindOfIf(const Stmt &stmt, const std::string &name, HostValue &value);
  HostValue name(const Expr &expr, HostLocals &locals);
  HostValue binary(const std::string &op, const HostValue &a, const HostValue &b);
  HostValue compare(const std::string &op, const HostValue &a, const HostValue &b);
  HostValue subscript(const HostValue &base, const HostValue &index);
  HostValue callExpression(const Expr &expr, HostLocals &locals);
  HostValue method(const HostValue &self, const std::string &name,
                   const std::vector<HostValue> &arguments);
  HostValue builtin(const std::string &name, const std::vector<HostValue> &arguments,
                    const std::map<std::string, HostValue> &keywords);
  bool comprehend(const Expr &expr, size_t clause, HostLocals &locals,
                  std::vector<HostValue> &items);
  bool assign(const Expr &target, const HostValue &value, HostLocals &locals);
  Flow run(const std::vector<StmtPtr> &list, HostLocals &locals, HostValue &returned);
  Flow runLoop(const Stmt &stmt, HostLocals &locals, HostValue &returned);
  bool takeStep() { return ++steps < 200000; }

  const SourceModule &module;
  std::map<std::string, HostValue> globals;
  std::vector<const Stmt *> open;
  int64_t steps = 0;
  int depth = 0;
};

/// R0204 at the condition.
Diagnostic openConditionRemark(const SourceModule &module, const Stmt &stmt);

/// Not None whatever its value is, at run time or now.
bool isGiven(const HostValue &value);

} // namespace nereid::language
