// SPDX-License-Identifier: Apache-2.0
// libraryFiles() is in a file that cmake/EmbedText.cmake writes.
#include "lib/language/StandardLibrary.h"

#include "lib/language/syntax/Parser.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

namespace nereid::language {
namespace {

bool defines(std::string_view text, std::string_view name) {
  std::string start = "\ndef " + std::string(name) + "(";
  return text.find(start) != std::string_view::npos;
}

const SourceModule *parsedFile(const LibraryFile &file) {
  static std::mutex lock;
  // Never destroyed: kernels that are being emitted point into it.
  static auto *modules = new std::map<std::string_view, std::unique_ptr<SourceModule>>;
  std::lock_guard guard(lock);
  std::unique_ptr<SourceModule> &module = (*modules)[file.name];
  if (!module) {
    Diagnostics diags;
    auto parsed = parseModule("nereid/" + std::string(file.name), std::string(file.text), diags);
    if (!parsed) { // a mistake in this house, which its own tests find
      std::fputs(diags.render().c_str(), stderr);
      std::abort();
    }
    module = std::make_unique<SourceModule>(std::move(*parsed));
    module->isLibrary = true;
  }
  return module.get();
}

/// The text of an expression that stands on one line.
std::string_view textOf(const SourceModule &module, SourceRange range) {
  std::string_view text = module.text;
  for (int line = 1; line < range.line; ++line) {
    text.remove_prefix(text.find('\n') + 1);
  }
  return text.substr(static_cast<size_t>(range.column - 1),
                     static_cast<size_t>(range.endColumn - range.column));
}

} // namespace

LibraryFunction findLibraryFunction(std::string_view name) {
  for (const LibraryFile &file : libraryFiles()) {
    if (defines(file.text, name)) {
      const SourceModule *module = parsedFile(file);
      return {module, module->find(name)};
    }
  }
  return {};
}

std::string parameterText(const LibraryFunction &function) {
  std::string text;
  for (const Param &param : function.function->params) {
    text += (text.empty() ? "" : ", ") + std::string(param.isVarArgs ? "*" : "") + param.name;
    if (param.defaultValue) {
      text += "=" + std::string(textOf(*function.module, param.defaultValue->range));
    }
  }
  return text;
}

} // namespace nereid::language
