// SPDX-License-Identifier: Apache-2.0
// Errors and places: where the expression being elaborated stands, through which calls it was
// reached, and which source text sizes came from.
#include "lib/language/emit/Emitter.h"

#include <algorithm>

namespace nereid::language::emit {

/// Errors beyond this many in one kernel are follow-ups nobody reads.
static constexpr size_t maxErrors = 30;
/// Statements and calls one kernel may elaborate to: far above any real kernel, far below a hang.
static constexpr int64_t maxSteps = 1000000;
/// Expressions and statements inside each other, through calls: bounds the compiler's own stack.
static constexpr int maxNesting = 800;

/// The file's name; of a package's __init__.py with the folder's, which tells it from others.
static std::string baseName(const std::string &path) {
  size_t slash = path.find_last_of('/');
  std::string name = path.substr(slash + 1);
  if (name != "__init__.py" || slash == std::string::npos || slash == 0) {
    return name;
  }
  return path.substr(path.find_last_of('/', slash - 1) + 1);
}

const Frame *Emitter::visibleFrame(SourceRange &range) const {
  const Frame *at = frame;
  range = here;
  while (at->module->isLibrary && at->caller) {
    range = at->callRange;
    at = at->caller;
  }
  return at;
}

std::string Emitter::placeText() const {
  SourceRange range;
  const Frame *place = visibleFrame(range);
  return baseName(place->module->path) + ":" + std::to_string(range.line);
}

/// Through which function of the library an error came about.
static std::string libraryNote(const Frame *inner, const Frame *visible, SourceRange inside) {
  std::string name;
  for (const Frame *at = inner; at != visible; at = at->caller) {
    name = at->function ? at->function->name : name;
  }
  return "inside 'tl." + name + "', at " + inner->module->path + ":" + std::to_string(inside.line);
}

Diagnostic &Emitter::error(std::string code, std::string message) {
  Diagnostic diagnostic = makeError(std::move(code), std::move(message));
  SourceRange range;
  const Frame *visible = visibleFrame(range);
  diagnostic.at(visible->module->path, visible->module->text, range);
  if (visible != frame) {
    diagnostic.note(libraryNote(frame, visible, here));
  }
  constexpr int mostCallers = 8;
  int callers = 0;
  for (const Frame *at = visible; at->caller; at = at->caller) {
    if (++callers > mostCallers) {
      diagnostic.note("and further calls");
      break;
    }
    std::string how = at->function ? "'" + at->function->name + "' was called from " : "needed at ";
    diagnostic.note(how + baseName(at->caller->module->path) + ":" +
                    std::to_string(at->callRange.line));
  }
  ++errorTotal;
  bool isRepeated = std::any_of(reported.begin(), reported.end(), [&](const Diagnostic &other) {
    return other.code == diagnostic.code && other.message == diagnostic.message &&
           other.range.line == range.line && other.range.column == range.column &&
           other.file == diagnostic.file;
  });
  // Unrolled loops and helpers called twice meet the same mistake again; callers may still refine
  // the reference, so a place that is thrown away is kept for them.
  static thread_local Diagnostic unwanted;
  if (isRepeated || errorTotal > maxErrors) {
    unwanted = std::move(diagnostic);
    return unwanted;
  }
  reported.push_back(std::move(diagnostic));
  return reported.back();
}

Value Emitter::fail(std::string code, std::string message, std::string help) {
  error(std::move(code), std::move(message)).withHelp(std::move(help));
  return Value::poison();
}

void Emitter::remark(std::string code, std::string message) {
  Diagnostic diagnostic = makeError(std::move(code), std::move(message));
  diagnostic.severity = Severity::Remark;
  SourceRange range;
  const Frame *visible = visibleFrame(range);
  diagnostic.at(visible->module->path, visible->module->text, range);
  reported.push_back(std::move(diagnostic));
}

void Emitter::remarkOnce(std::string code, std::string message) {
  SourceRange range;
  const Frame *visible = visibleFrame(range);
  bool isRepeated = std::any_of(reported.begin(), reported.end(), [&](const Diagnostic &other) {
    return other.code == code && other.range.line == range.line &&
           other.range.column == range.column && other.file == visible->module->path;
  });
  if (!isRepeated) {
    remark(std::move(code), std::move(message));
  }
}

void Emitter::remarkOpenConditions() {
  for (const auto &[stmt, module] : openConditions) {
    reported.push_back(openConditionRemark(*module, *stmt));
  }
}

void Emitter::reportAll(const Diagnostics &problems) {
  std::string place = placeText();
  for (Diagnostic diagnostic : problems.all()) {
    bool isRepeated = std::any_of(reported.begin(), reported.end(), [&](const Diagnostic &other) {
      return other.message == diagnostic.message && other.file == diagnostic.file &&
             other.range.line == diagnostic.range.line;
    });
    errorTotal += diagnostic.severity == Severity::Error;
    if (!isRepeated && errorTotal <= maxErrors) {
      reported.push_back(std::move(diagnostic.note("the file was imported for " + place)));
    }
  }
}

void Emitter::rollBack(size_t errors) {
  reported.resize(errors);
  errorTotal = static_cast<size_t>(
      std::count_if(reported.begin(), reported.end(), [](const Diagnostic &diagnostic) {
        return diagnostic.severity == Severity::Error;
      }));
}

mlir::Location Emitter::location() const {
  if (frame->module->isLibrary && frame->callLocation) {
    return mlir::Location(frame->callLocation); // as for a builtin: where the user called it
  }
  mlir::Location place =
      mlir::FileLineColLoc::get(&context, frame->module->path, static_cast<unsigned>(here.line),
                                static_cast<unsigned>(here.column));
  return frame->callLocation
             ? mlir::Location(mlir::CallSiteLoc::get(place, mlir::Location(frame->callLocation)))
             : place;
}

std::string Emitter::sourceText(const Expr &expr) const {
  const std::string &text = frame->module->text;
  size_t start = 0;
  for (int line = 1; line < expr.range.line; ++line) {
    start = text.find('\n', start);
    if (start == std::string::npos) {
      return "";
    }
    ++start;
  }
  size_t end = std::min(text.find('\n', start), text.size());
  std::string_view line = std::string_view(text).substr(start, end - start);
  size_t from = static_cast<size_t>(std::max(expr.range.column - 1, 0));
  size_t to = static_cast<size_t>(std::max(expr.range.endColumn - 1, 0));
  if (expr.range.line == 0 || from >= to || to > line.size()) {
    return "";
  }
  return std::string(line.substr(from, to - from));
}

const DimOrigin *Emitter::origin(const Expr *expr, int64_t size) {
  if (frame->module->isLibrary) {
    return nullptr;
  }
  std::string text = expr ? sourceText(*expr) : "";
  std::string number = std::to_string(size);
  if (text.empty() || text == number) {
    text = number;
  } else {
    text += " = " + number;
  }
  originPool.push_back(std::make_unique<DimOrigin>(DimOrigin{placeText(), std::move(text)}));
  return originPool.back().get();
}

bool Emitter::takeStep() {
  if (++steps < maxSteps) {
    return true;
  }
  if (steps == maxSteps) {
    error("E0312", "the kernel unrolls to more than " + std::to_string(maxSteps) + " statements")
        .withHelp("use range instead of tl.static_range, or smaller constexpr bounds");
  }
  return false;
}

bool Emitter::isTooDeep() {
  if (nesting <= maxNesting) {
    return false;
  }
  error("E0312", "expressions and calls nest more than " + std::to_string(maxNesting) + " deep")
      .withHelp("split the expression with intermediate variables; a helper cannot call itself");
  return true;
}

} // namespace nereid::language::emit
