// SPDX-License-Identifier: Apache-2.0
// The diagnostics of one kernel while it is elaborated. Each mistake is told once, however often it
// is met; what was tried and does not hold is taken back; elaboration without end is ended.
#pragma once

#include "lib/language/ModuleLoader.h"
#include "lib/language/emit/report/Position.h"
#include "lib/support/Diagnostics.h"

namespace nereid::language::emit {

class Reporter {
public:
  /// The loader, which may be null, knows where imports were looked for.
  Reporter(const Position &position, ModuleLoader *loader) : position(position), loader(loader) {}

  /// Adds an error at the expression being elaborated; refine the result before the next call.
  Diagnostic &error(std::string code, std::string message);
  Value fail(std::string code, std::string message, std::string help = "");
  /// E0230, or E0239 of an installed library: a value of kind Import is needed.
  Value failNotFound(const Value &import);
  void remark(std::string code, std::string message);
  /// The same, once for a place, however often it is elaborated.
  void remarkOnce(std::string code, std::string message);
  /// Adds what was found wrong with a file that the expression being elaborated imports.
  void reportAll(const Diagnostics &problems);
  /// Adds one that was found, and placed, elsewhere.
  void add(Diagnostic diagnostic);

  /// Counts elaboration steps; false once a kernel unrolls beyond reason (E0312 is reported).
  bool takeStep();
  /// E0312 when elaboration would run out of stack.
  bool isTooDeep();

  size_t errorCount() const { return errorTotal; }
  /// A mark for what is reported from now on.
  size_t mark() const { return reported.size(); }
  std::vector<Diagnostic> since(size_t mark) const;
  void rollBack(size_t mark);
  /// The first error since the mark; null when there is none.
  Diagnostic *firstError(size_t mark);
  /// Hands over everything that was reported.
  void tell(Diagnostics &diags);

private:
  const Position &position;
  ModuleLoader *loader;
  std::vector<Diagnostic> reported;
  size_t errorTotal = 0;
  int64_t steps = 0;
};

} // namespace nereid::language::emit
