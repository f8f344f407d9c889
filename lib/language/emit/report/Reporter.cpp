// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/report/Reporter.h"

#include "lib/language/host/HostFacts.h"

#include <algorithm>

namespace nereid::language::emit {

/// Errors beyond this many in one kernel are follow-ups nobody reads.
static constexpr size_t maxErrors = 30;
/// Statements and calls one kernel may elaborate to: far above any real kernel, far below a hang.
static constexpr int64_t maxSteps = 1000000;
/// Expressions and statements inside each other, through calls: bounds the compiler's own stack.
static constexpr int maxNesting = 800;

/// Through which function of the library an error came about.
static std::string libraryNote(const Frame *inner, const Frame *visible, SourceRange inside) {
  std::string name;
  for (const Frame *at = inner; at != visible; at = at->caller) {
    name = at->function ? at->function->name : name;
  }
  return "inside 'tl." + name + "', at " + inner->module->path + ":" + std::to_string(inside.line);
}

Diagnostic &Reporter::error(std::string code, std::string message) {
  Diagnostic diagnostic = makeError(std::move(code), std::move(message));
  SourceRange range;
  const Frame *visible = &position.visibleFrame(range);
  diagnostic.at(visible->module->path, visible->module->text, range);
  if (visible != &position.frame()) {
    diagnostic.note(libraryNote(&position.frame(), visible, position.range()));
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

Value Reporter::fail(std::string code, std::string message, std::string help) {
  error(std::move(code), std::move(message)).withHelp(std::move(help));
  return Value::poison();
}

Value Reporter::failNotFound(const Value &import) {
  const std::string &source = import.elements[0].text;
  if (isHostMath(import.text)) {
    return fail("E0201", "Python's '" + import.text + "' cannot be used in a kernel",
                "use tl." + import.text.substr(5) +
                    ", or compute it outside and pass it as a constexpr");
  }
  if (isInstalledModule(source)) {
    return fail("E0239",
                "'" + import.text + "' is only known when Python runs, and '" + source +
                    "' is not run here",
                "pass it as a constexpr, or write a constant");
  }
  Diagnostic &diagnostic =
      error("E0230", import.text == source ? "module '" + source + "' is not found"
                                           : "'" + import.text + "' is imported from '" + source +
                                                 "', a module that is not found");
  if (!loader) {
    diagnostic.withHelp("copy the function into this file, decorated with @triton.jit");
    return Value::poison();
  }
  std::string files;
  for (const std::string &file : loader->find(source, import.module->path).searched) {
    files += (files.empty() ? "" : ", ") + file;
  }
  diagnostic.note("imported in " + import.module->path + "; looked for " + files)
      .withHelp("name the folder that holds it with --import-path DIR, or copy the function into "
                "this file");
  return Value::poison();
}

void Reporter::remark(std::string code, std::string message) {
  Diagnostic diagnostic = makeError(std::move(code), std::move(message));
  diagnostic.severity = Severity::Remark;
  SourceRange range;
  const Frame &visible = position.visibleFrame(range);
  diagnostic.at(visible.module->path, visible.module->text, range);
  reported.push_back(std::move(diagnostic));
}

void Reporter::remarkOnce(std::string code, std::string message) {
  SourceRange range;
  const Frame &visible = position.visibleFrame(range);
  bool isRepeated = std::any_of(reported.begin(), reported.end(), [&](const Diagnostic &other) {
    return other.code == code && other.range.line == range.line &&
           other.range.column == range.column && other.file == visible.module->path;
  });
  if (!isRepeated) {
    remark(std::move(code), std::move(message));
  }
}

void Reporter::reportAll(const Diagnostics &problems) {
  std::string place = position.placeText();
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

void Reporter::rollBack(size_t mark) {
  reported.resize(mark);
  errorTotal = static_cast<size_t>(
      std::count_if(reported.begin(), reported.end(), [](const Diagnostic &diagnostic) {
        return diagnostic.severity == Severity::Error;
      }));
}

void Reporter::add(Diagnostic diagnostic) {
  errorTotal += diagnostic.severity == Severity::Error ? 1 : 0;
  reported.push_back(std::move(diagnostic));
}

std::vector<Diagnostic> Reporter::since(size_t mark) const {
  return {reported.begin() + static_cast<std::ptrdiff_t>(mark), reported.end()};
}

Diagnostic *Reporter::firstError(size_t mark) {
  auto first = std::find_if(
      reported.begin() + static_cast<std::ptrdiff_t>(mark), reported.end(),
      [](const Diagnostic &diagnostic) { return diagnostic.severity == Severity::Error; });
  return first == reported.end() ? nullptr : &*first;
}

void Reporter::tell(Diagnostics &diags) {
  for (Diagnostic &diagnostic : reported) {
    diags.add(std::move(diagnostic));
  }
  reported.clear();
}

bool Reporter::takeStep() {
  if (++steps < maxSteps) {
    return true;
  }
  if (steps == maxSteps) {
    error("E0312", "the kernel unrolls to more than " + std::to_string(maxSteps) + " statements")
        .withHelp("use range instead of tl.static_range, or smaller constexpr bounds");
  }
  return false;
}

bool Reporter::isTooDeep() {
  if (position.nesting() <= maxNesting) {
    return false;
  }
  error("E0312", "expressions and calls nest more than " + std::to_string(maxNesting) + " deep")
      .withHelp("split the expression with intermediate variables; a helper cannot call itself");
  return true;
}

} // namespace nereid::language::emit
