// SPDX-License-Identifier: Apache-2.0
// What went wrong, where, with both values and the fix: the one error form of the whole project.
// A Diagnostic is self-contained (it carries its source line), so it outlives the file it is about.
// Codes are declared once, in DiagnosticCodes.def; `nereid explain` and the docs print from there.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace nereid {

/// 1-based line and columns in a text; endColumn is one past the last character; line 0 = no place.
struct SourceRange {
  int line = 0;
  int column = 0;
  int endColumn = 0;
};

enum class Severity { Error, Warning, Remark };

struct Diagnostic {
  Severity severity = Severity::Error;
  std::string code;    ///< "E0214"; must stand in DiagnosticCodes.def
  std::string message; ///< lower case, no full stop, names quoted, both values
  std::string file;    ///< empty when no file is involved
  SourceRange range;
  std::string lineText; ///< the source line the caret points into, without its newline
  std::vector<std::string> notes;
  std::string help; ///< the fix, imperative

  Diagnostic &note(std::string text) {
    notes.push_back(std::move(text));
    return *this;
  }
  Diagnostic &withHelp(std::string text) {
    help = std::move(text);
    return *this;
  }
  /// Points at `range` of `text`, the whole content of `path`.
  Diagnostic &at(std::string_view path, std::string_view text, SourceRange where);
};

/// Builds an error without a place; chain `.at()`, `.note()`, `.withHelp()`.
Diagnostic makeError(std::string code, std::string message);

/// Collects diagnostics of one run; work goes on after an error so that several are reported.
class Diagnostics {
public:
  Diagnostic &add(Diagnostic diagnostic);
  bool hasErrors() const;
  const std::vector<Diagnostic> &all() const { return list; }
  /// The form of STYLE: place, message, [code], line with caret, notes, help.
  std::string render() const;
  /// A JSON array, one object per diagnostic.
  std::string renderJson() const;

private:
  std::vector<Diagnostic> list;
};

std::string render(const Diagnostic &diagnostic);

/// Title and one paragraph for `nereid explain CODE`; empty title when the code is unknown.
struct CodeText {
  std::string_view code, title, paragraph;
};
CodeText explainCode(std::string_view code);
/// Every declared code, in order.
const std::vector<CodeText> &allCodes();

/// A value or the diagnostic that says why there is none.
template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Diagnostic diagnostic) : state(std::move(diagnostic)) {}
  explicit operator bool() const { return std::holds_alternative<T>(state); }
  T &operator*() { return std::get<T>(state); }
  const T &operator*() const { return std::get<T>(state); }
  T *operator->() { return &std::get<T>(state); }
  const T *operator->() const { return &std::get<T>(state); }
  Diagnostic &error() { return std::get<Diagnostic>(state); }
  const Diagnostic &error() const { return std::get<Diagnostic>(state); }

private:
  std::variant<T, Diagnostic> state;
};

struct Done {};
/// Success without a value: `return Done{};`.
using Status = Result<Done>;

/// The up to three known names nearest to `name` by edit distance, nearest first.
std::vector<std::string> nearestNames(std::string_view name, const std::vector<std::string> &known);

} // namespace nereid
