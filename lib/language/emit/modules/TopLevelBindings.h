// SPDX-License-Identifier: Apache-2.0
// Which statements at the top level of a file bind a name: in branches by their conditions, in
// `try` by what raises. Nothing is evaluated before a kernel uses a name.
#pragma once

#include "lib/language/emit/Emitter.h"

#include <map>
#include <set>

namespace nereid::language::emit {

class Expressions;
class Imports;

class TopLevelBindings {
public:
  TopLevelBindings(Emitter &emitter, Expressions &expressions, Imports &imports)
      : emitter(emitter), expressions(expressions), imports(imports) {}

  /// One statement that binds a name at the top level; with a fallback, the next one holds when
  /// this one cannot be evaluated.
  struct Binding {
    const Stmt *stmt;
    bool hasFallback;
  };
  /// The one that holds at the end of the file first.
  std::vector<Binding> of(const SourceModule &module, const std::string &name);
  /// R0204 for each condition that could not be evaluated although it decided what a name means.
  void remarkOpenConditions();

private:
  void addBindings(const SourceModule &module, const std::vector<StmtPtr> &list,
                   const std::string &name, std::vector<Binding> &bindings);
  void addBindingsOfIf(const SourceModule &module, const Stmt &stmt, const std::string &name,
                       std::vector<Binding> &bindings);
  void addBindingsOfTry(const SourceModule &module, const Stmt &stmt, const std::string &name,
                        std::vector<Binding> &bindings);
  static void addAlternatives(std::vector<Binding> first, const std::vector<Binding> &second,
                              std::vector<Binding> &bindings);
  std::optional<bool> conditionAtTop(const SourceModule &module, const Stmt &stmt);
  bool raisesAtTop(const SourceModule &module, const Stmt &stmt);

  Emitter &emitter;
  Expressions &expressions;
  Imports &imports;
  std::set<const Stmt *> conditionsInProgress;
  std::map<const Stmt *, std::optional<bool>> topConditions;
  std::map<const Stmt *, bool> topTries;
  std::vector<std::pair<const Stmt *, const SourceModule *>> openConditions;
};

/// The names a file defines at its top level, imports included.
std::vector<std::string> topLevelNames(const SourceModule &module);

} // namespace nereid::language::emit
