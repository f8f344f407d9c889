// SPDX-License-Identifier: Apache-2.0
// Calls: arguments are bound to parameters, builtins run, helpers are elaborated in place with a
// frame of their own.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

class Expressions;
class HostLibraries;
class Objects;
class Statements;

class Calls {
public:
  Calls(Emitter &emitter, Expressions &expressions, Statements &statements, Objects &objects,
        HostLibraries &hostLibraries)
      : emitter(emitter), expressions(expressions), statements(statements), objects(objects),
        hostLibraries(hostLibraries) {}

  Value call(const Expr &expr);
  /// A call whose result the statement throws away; another expression is only evaluated.
  void callUnused(const Expr &expr);
  Value callBuiltin(const BuiltinEntry &entry, std::vector<Argument> positional,
                    std::vector<Argument> keywords);
  /// `self` is of a method: it is given back as the method leaves it.
  Value callFunction(const FunctionDef &function, const SourceModule &module,
                     std::vector<Argument> positional, std::vector<Argument> keywords,
                     std::shared_ptr<const Captured> captured = nullptr, Value *self = nullptr);

private:
  bool collectArguments(const Expr &expr, std::vector<Argument> &positional,
                        std::vector<Argument> &keywords);
  bool checkUnused(const Expr &expr, const Value &callee);
  Value callMethod(const Expr &expr, const Value &callee, std::vector<Argument> positional,
                   std::vector<Argument> keywords);
  bool bindParameters(const FunctionDef &function, const std::vector<Argument> &positional,
                      const std::vector<Argument> &keywords, Frame &inside);
  bool checkNoinline(const FunctionDef &function, const Frame &inside);

  Emitter &emitter;
  Expressions &expressions;
  Statements &statements;
  Objects &objects;
  HostLibraries &hostLibraries;
  const Expr *unusedCall = nullptr; ///< the call that the statement being run consists of
  int depth = 0;
};

} // namespace nereid::language::emit
