// SPDX-License-Identifier: Apache-2.0
// Where elaboration stands: in which function, through which calls, at which expression. Locations
// of operations, places of messages and the texts that sizes came from are read here.
#pragma once

#include "lib/language/emit/report/Frame.h"

namespace nereid::language::emit {

class Position {
public:
  explicit Position(mlir::MLIRContext &context) : context(context) {}

  /// The innermost function; there is one while anything is elaborated.
  Frame &frame() const { return *innermost; }
  SourceRange range() const { return here; }
  /// How many places being elaborated lie inside each other.
  int nesting() const { return depth; }

  mlir::Location location() const;
  /// The frame that messages point into and the place there: the caller of library functions.
  const Frame &visibleFrame(SourceRange &range) const;
  /// The source text of an expression that stands on one line, otherwise empty.
  std::string sourceText(const Expr &expr) const;
  /// "kernel.py:12" for the expression being elaborated.
  std::string placeText() const;
  /// Remembers where the size of a dimension was written; null inside the library.
  const DimOrigin *origin(const Expr *expr, int64_t size);

private:
  friend struct At;
  friend struct Inside;
  mlir::MLIRContext &context;
  Frame *innermost = nullptr;
  SourceRange here;
  int depth = 0;
  std::vector<std::unique_ptr<DimOrigin>> origins;
};

/// The file's name; of a package's __init__.py with the folder's, which tells it from others.
std::string baseName(const std::string &path);

/// While alive, errors and operations are placed at `range`, one level deeper.
struct At {
  At(Position &position, SourceRange range) : position(position), saved(position.here) {
    position.here = range;
    ++position.depth;
  }
  ~At() {
    position.here = saved;
    --position.depth;
  }
  At(const At &) = delete;
  At &operator=(const At &) = delete;

private:
  Position &position;
  SourceRange saved;
};

/// While alive, `frame` is the innermost one.
struct Inside {
  Inside(Position &position, Frame &frame) : position(position), outer(position.innermost) {
    position.innermost = &frame;
  }
  ~Inside() { position.innermost = outer; }
  Inside(const Inside &) = delete;
  Inside &operator=(const Inside &) = delete;

private:
  Position &position;
  Frame *outer;
};

/// A frame of the module, called from where elaboration stands.
Frame calledFromHere(const Position &position, const SourceModule &module);

} // namespace nereid::language::emit
