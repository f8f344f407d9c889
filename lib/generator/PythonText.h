// SPDX-License-Identifier: Apache-2.0
// Expressions of a Python file as text, as they are written or in a form that is the same for
// expressions that mean the same: local names are replaced by what they stand for.
#pragma once

#include "lib/language/syntax/Ast.h"

#include <map>
#include <optional>
#include <string>

namespace nereid::generator {

using Meanings = std::map<std::string, std::string>; ///< of names

enum class Spelling { AsWritten, Canonical };

class PythonText {
public:
  PythonText(const language::SourceModule &module, Spelling spelling);

  /// Never longer than a few thousand characters: what is longer becomes "...".
  std::string text(const language::Expr &expr, const Meanings &names);
  /// The same as part of a larger expression, in parentheses where it needs them.
  std::string operand(const language::Expr &expr, const Meanings &names);
  /// What holds when the condition is true, or, with `isWanted` false, when it is not.
  std::string condition(const language::Expr &expr, bool isWanted, const Meanings &names);
  /// What the parameters of a call are, and what the file's imports and assignments at its top
  /// level make of names; nothing when the call does not fit the function.
  std::optional<Meanings> arguments(const language::FunctionDef &function,
                                    const language::Expr &call, const Meanings &names);
  /// Names at the top level of the file.
  const Meanings &topLevel() const { return fileNames; }

private:
  void readTopLevel();
  std::string plainText(const language::Expr &expr, const Meanings &names);
  std::string list(const language::Expr &expr, size_t first, const Meanings &names);
  std::string compareText(std::string op, std::string left, std::string right) const;
  std::string callText(const language::Expr &expr, const Meanings &names);
  std::string inlined(const language::Expr &call, const Meanings &names);

  const language::SourceModule &module;
  bool isCanonical;
  Meanings fileNames;
  int inlinedCalls = 0;
};

/// A top-level function that the name stands for when the file has been run; null when it is a
/// kernel, defined under conditions or replaced by something else.
const language::FunctionDef *finalFunction(const language::SourceModule &module,
                                           const std::string &name);

} // namespace nereid::generator
