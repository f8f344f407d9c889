// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/Session.h"

#include "lib/pipeline/Target.h"
#include "lib/support/AtomicFile.h"
#include "lib/tile/ir/Tile.h"

#include "mlir/IR/Location.h"

#include <mutex>

namespace nereid::pipeline {
namespace {

struct FreeContexts {
  std::mutex lock;
  std::vector<std::pair<const Target *, std::unique_ptr<mlir::MLIRContext>>> contexts;
};

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

} // namespace

Session::Session(const Target *target) : target(target) {
  FreeContexts &all = freeContexts();
  {
    std::lock_guard guard(all.lock);
    for (auto &entry : all.contexts) {
      if (entry.first == target) {
        held = std::move(entry.second);
        std::swap(entry, all.contexts.back());
        all.contexts.pop_back();
        return;
      }
    }
  }
  held = makeContext(target);
}

Session::~Session() {
  FreeContexts &all = freeContexts();
  std::lock_guard guard(all.lock);
  all.contexts.emplace_back(target, std::move(held));
}

DiagnosticCapture::DiagnosticCapture(mlir::MLIRContext &context, std::string code, std::string path,
                                     std::string text, Diagnostics &diags)
    : handler(&context, [code = std::move(code), path = std::move(path), text = std::move(text),
                         &diags](mlir::Diagnostic &reported) {
        if (reported.getSeverity() != mlir::DiagnosticSeverity::Error) {
          return mlir::success();
        }
        Diagnostic diagnostic = makeError(code, reported.str());
        if (mlir::FileLineColLoc file = findFile(reported.getLocation())) {
          int line = static_cast<int>(file.getLine()), column = static_cast<int>(file.getColumn());
          std::string name = file.getFilename().str();
          Result<std::string> other = name == path ? Result<std::string>(text) : readTextFile(name);
          diagnostic.at(name, other ? std::string_view(*other) : std::string_view(),
                        {line, column, column + 1});
        }
        for (mlir::Diagnostic &note : reported.getNotes()) {
          diagnostic.note(note.str());
        }
        diags.add(std::move(diagnostic));
        return mlir::success();
      }) {}

} // namespace nereid::pipeline
