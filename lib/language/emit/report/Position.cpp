// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/report/Position.h"

#include <algorithm>

namespace nereid::language::emit {

std::string baseName(const std::string &path) {
  size_t slash = path.find_last_of('/');
  std::string name = path.substr(slash + 1);
  if (name != "__init__.py" || slash == std::string::npos || slash == 0) {
    return name;
  }
  return path.substr(path.find_last_of('/', slash - 1) + 1);
}

const Frame &Position::visibleFrame(SourceRange &range) const {
  const Frame *at = innermost;
  range = here;
  while (at->module->isLibrary && at->caller) {
    range = at->callRange;
    at = at->caller;
  }
  return *at;
}

std::string Position::placeText() const {
  SourceRange range;
  const Frame &place = visibleFrame(range);
  return baseName(place.module->path) + ":" + std::to_string(range.line);
}

mlir::Location Position::location() const {
  if (innermost->module->isLibrary && innermost->callLocation) {
    return mlir::Location(innermost->callLocation); // as for a builtin: where the user called it
  }
  mlir::Location place =
      mlir::FileLineColLoc::get(&context, innermost->module->path, static_cast<unsigned>(here.line),
                                static_cast<unsigned>(here.column));
  return innermost->callLocation ? mlir::Location(mlir::CallSiteLoc::get(
                                       place, mlir::Location(innermost->callLocation)))
                                 : place;
}

std::string Position::sourceText(const Expr &expr) const {
  const std::string &text = innermost->module->text;
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

const DimOrigin *Position::origin(const Expr *expr, int64_t size) {
  if (innermost->module->isLibrary) {
    return nullptr;
  }
  std::string text = expr ? sourceText(*expr) : "";
  std::string number = std::to_string(size);
  if (text.empty() || text == number) {
    text = number;
  } else {
    text += " = " + number;
  }
  origins.push_back(std::make_unique<DimOrigin>(DimOrigin{placeText(), std::move(text)}));
  return origins.back().get();
}

Frame calledFromHere(const Position &position, const SourceModule &module) {
  Frame frame;
  frame.module = &module;
  frame.caller = &position.frame();
  frame.callRange = position.range();
  frame.callLocation = mlir::LocationAttr(position.location());
  return frame;
}

} // namespace nereid::language::emit
