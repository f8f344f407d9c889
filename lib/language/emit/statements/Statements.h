// SPDX-License-Identifier: Apache-2.0
// Statements in order. A `return` ends the list; one under a run-time condition makes the
// statements that follow it (`Rest`) part of that condition's branches, see Conditionals.h.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

class Assignments;
class Calls;
class Conditionals;
class Expressions;
class Imports;
class Loops;

/// What follows a statement list inside its function, for a return under a run-time condition.
struct Rest {
  const std::vector<StmtPtr> *list = nullptr;
  size_t next = 0;
  const Rest *outer = nullptr;
};

enum class Flow { Next, Return };

/// Whether a statement of the list, or inside one, returns.
bool mayReturn(const std::vector<StmtPtr> &list);

class Statements {
public:
  Statements(Emitter &emitter, Expressions &expressions, Calls &calls, Assignments &assignments,
             Conditionals &conditionals, Loops &loops, Imports &imports)
      : emitter(emitter), expressions(expressions), calls(calls), assignments(assignments),
        conditionals(conditionals), loops(loops), imports(imports) {}

  Flow runBlock(const std::vector<StmtPtr> &list, size_t from, const Rest *outer);
  Flow runRest(const Rest *rest);

private:
  Flow runStatement(const Stmt &stmt, const Rest &rest);
  Flow runReturn(const Stmt &stmt);
  Flow runTry(const Stmt &stmt, const Rest &rest);
  void runAnnotated(const Stmt &stmt);
  void runAssert(const Stmt &stmt);
  void runRaise(const Stmt &stmt);
  void runFunctionDef(const Stmt &stmt);
  void runImport(const Stmt &stmt);

  Emitter &emitter;
  Expressions &expressions;
  Calls &calls;
  Assignments &assignments;
  Conditionals &conditionals;
  Loops &loops;
  Imports &imports;
};

} // namespace nereid::language::emit
