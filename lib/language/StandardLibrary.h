// SPDX-License-Identifier: Apache-2.0
// The part of the kernel language that is written in the kernel language: lib/language/std/*.py,
// embedded into the program when it is built. A file is parsed when a kernel first uses one of its
// functions, once per process.
#pragma once

#include "lib/language/syntax/Ast.h"

#include <span>
#include <string>
#include <string_view>

namespace nereid::language {

struct LibraryFile {
  std::string_view name; ///< "random.py"
  std::string_view text;
};
/// Every file of the library, by name.
std::span<const LibraryFile> libraryFiles();

struct LibraryFunction {
  const SourceModule *module = nullptr; ///< null: the library has no such function
  const FunctionDef *function = nullptr;
};
/// A function by its name under `tl.`; may be called from several threads.
LibraryFunction findLibraryFunction(std::string_view name);

/// "input, axis=0, reverse=False": the parameters as written, without their annotations.
std::string parameterText(const LibraryFunction &function);

} // namespace nereid::language
