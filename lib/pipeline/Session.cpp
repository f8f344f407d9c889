// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/Session.h"

#include "lib/pipeline/Target.h"
#include "lib/support/AtomicFile.h"
#include "lib/tile/ir/Tile.h"

#include "mlir/IR/Location.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace nereid::pipeline {
namespace {

struct FreeContext {
  const Target *target;
  int uses;
  std::unique_ptr<mlir::MLIRContext> context;
};

struct FreeContexts {
  std::mutex lock;
  std::vector<FreeContext> contexts;
};

/// A context keeps every constant, type and place it has ever seen, half a kilobyte for a small
/// kernel: one that has served so many compilations is dropped, so that a process may compile for
/// ever. Making another takes as long as a quarter of one compilation.
constexpr int usesPerContext = 256;

FreeContexts &freeContexts() {
  // Never destroyed: tearing contexts down at exit takes longer than leaving them to the system.
  static FreeContexts *instance = new FreeContexts;
  return *instance;
}

std::unique_ptr<mlir::MLIRContext> makeContext(const Target *target) {
  mlir::DialectRegistry registry;
  if (target) {
    target->registerDialects(registry);
  }
  auto context =
      std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  tile::loadDialects(*context);
  return context;
}

/// The file location inside a location; the innermost one for inlined code.
mlir::FileLineColLoc findFile(mlir::Location location) {
  mlir::FileLineColLoc found;
  location->walk([&](mlir::Location inner) {
    if (!found) {
      found = mlir::dyn_cast<mlir::FileLineColLoc>(inner);
    }
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found;
}

/// "message [E0301]" as the message and its code, which is empty where none ends it.
std::pair<std::string, std::string> withoutCode(const std::string &text) {
  constexpr size_t length = 8; // " [E0301]"
  const size_t at = text.size() < length ? 0 : text.size() - length;
  const bool hasCode = text.size() > length && text.compare(at, 2, " [") == 0 &&
                       (text[at + 2] == 'E' || text[at + 2] == 'R') && text.back() == ']' &&
                       std::all_of(text.begin() + static_cast<ptrdiff_t>(at) + 3, text.end() - 1,
                                   [](char c) { return c >= '0' && c <= '9'; });
  return hasCode ? std::pair(text.substr(0, at), text.substr(at + 2, length - 3))
                 : std::pair(text, std::string());
}

} // namespace

Session::Session(const Target *target) : target(target) {
  FreeContexts &all = freeContexts();
  {
    std::lock_guard guard(all.lock);
    for (auto &entry : all.contexts) {
      if (entry.target == target) {
        held = std::move(entry.context);
        uses = entry.uses;
        std::swap(entry, all.contexts.back());
        all.contexts.pop_back();
        return;
      }
    }
  }
  held = makeContext(target);
}

Session::~Session() {
  if (++uses >= usesPerContext) {
    return;
  }
  FreeContexts &all = freeContexts();
  std::lock_guard guard(all.lock);
  all.contexts.push_back({target, uses, std::move(held)});
}

void putAt(Diagnostic &diagnostic, mlir::Location location, const std::string &path,
           const std::string &text) {
  if (mlir::FileLineColLoc file = findFile(location)) {
    int line = static_cast<int>(file.getLine()), column = static_cast<int>(file.getColumn());
    std::string name = file.getFilename().str();
    Result<std::string> other = name == path ? Result<std::string>(text) : readTextFile(name);
    diagnostic.at(name, other ? std::string_view(*other) : std::string_view(),
                  {line, column, column + 1});
  }
}

SourcePlace placeOf(mlir::Location location, const std::string &path, const std::string &text) {
  Diagnostic place;
  putAt(place, location, path, text);
  return {place.file, place.range.line, place.lineText};
}

/// Unrolled and inlined code says the same several times.
static bool isKnown(const Diagnostic &remark, const Diagnostics &diags) {
  const std::string text = render(remark);
  return std::any_of(diags.all().begin(), diags.all().end(), [&](const Diagnostic &other) {
    return other.code == remark.code && other.range.line == remark.range.line &&
           render(other) == text;
  });
}

DiagnosticCapture::DiagnosticCapture(mlir::MLIRContext &context, std::string code, std::string path,
                                     std::string text, bool keepsRemarks, Diagnostics &diags)
    : handler(&context, [code = std::move(code), path = std::move(path), text = std::move(text),
                         keepsRemarks, &diags](mlir::Diagnostic &reported) {
        const bool isRemark = reported.getSeverity() == mlir::DiagnosticSeverity::Remark;
        if (reported.getSeverity() != mlir::DiagnosticSeverity::Error &&
            !(isRemark && keepsRemarks)) {
          return mlir::success();
        }
        auto [message, own] = withoutCode(reported.str());
        Diagnostic diagnostic = makeError(!own.empty() ? own : isRemark ? "R0301" : code, message);
        putAt(diagnostic, reported.getLocation(), path, text);
        for (mlir::Diagnostic &note : reported.getNotes()) {
          const std::string said = note.str();
          constexpr std::string_view help = "help: ";
          if (said.starts_with(help)) {
            diagnostic.withHelp(said.substr(help.size()));
          } else {
            diagnostic.note(said);
          }
        }
        if (isRemark) {
          diagnostic.severity = Severity::Remark;
        }
        if (!isRemark || !isKnown(diagnostic, diags)) {
          diags.add(std::move(diagnostic));
        }
        return mlir::success();
      }) {}

} // namespace nereid::pipeline
