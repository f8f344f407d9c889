// SPDX-License-Identifier: Apache-2.0
// What the top level of a file gives a name: jit functions, constants, imports. Nothing is
// evaluated before a kernel uses it, so the rest of a file may hold any Python.
#pragma once

#include "lib/language/emit/modules/TopLevelBindings.h"

namespace nereid::language::emit {

class Calls;

class Globals {
public:
  Globals(Emitter &emitter, Expressions &expressions, Calls &calls, Imports &imports,
          TopLevelBindings &bindings)
      : emitter(emitter), expressions(expressions), calls(calls), imports(imports),
        bindings(bindings) {}

  /// Nothing when the file has no such name; poison after an error.
  std::optional<Value> find(const SourceModule &module, const std::string &name);

private:
  Value decorated(const SourceModule &module, Value function);
  std::optional<Value> ofLibrary(const std::string &name);
  Value boundValue(const SourceModule &module, const Stmt &stmt, const std::string &name);

  Emitter &emitter;
  Expressions &expressions;
  Calls &calls;
  Imports &imports;
  TopLevelBindings &bindings;
  std::map<std::pair<const SourceModule *, std::string>, Value> known;
  /// Which of its bindings is being evaluated.
  std::map<std::pair<const SourceModule *, std::string>, size_t> inProgress;
};

} // namespace nereid::language::emit
