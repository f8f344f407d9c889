// SPDX-License-Identifier: Apache-2.0
// Statements of a body, read in the order in which Python would execute them: loops over constant
// ranges are written out, conditions that are known decide which lines are read, and calls of the
// body's own functions read their lines.
#pragma once

#include "lib/definition/reader/BodyExpressions.h"

#include <functional>

namespace nereid::definition {

class BodyStatements {
public:
  explicit BodyStatements(BodyExpressions &reader);
  void read(const std::vector<language::StmtPtr> &statements);

private:
  enum class Flow : uint8_t { Next, Break, Continue, Return, Failed };

  Flow block(const std::vector<language::StmtPtr> &statements);
  Flow statement(const language::Stmt &statement);
  Flow assignment(const language::Stmt &statement);
  Flow unpacking(const language::Stmt &statement);
  Flow condition(const language::Stmt &statement);
  Flow loop(const language::Stmt &statement);
  /// `begin` gives the targets what they stand for in a turn.
  Flow turns(const language::Stmt &statement, size_t count,
             const std::function<void(size_t)> &begin);
  Flow listed(const language::Stmt &statement, const std::vector<int> &values);
  Flow returned(const language::Stmt &statement);
  bool isOfDefined(const language::Expr &value) const;
  std::optional<std::vector<int>> valuesOf(const language::Expr &value);
  /// A function of PyTorch's that is written out in others.
  bool text(const std::vector<language::StmtPtr> &statements);
  std::optional<std::vector<int>> call(const language::FunctionDef &function);
  bool hasRoom(const language::Stmt &statement);

  BodyExpressions &reader;
  int loops = 0, functions = 0; ///< in which the statement stands
  int steps = 0;                ///< statements of these that were read
  std::vector<int> results;     ///< of the last `return`
};

} // namespace nereid::definition
