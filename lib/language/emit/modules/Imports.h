// SPDX-License-Identifier: Apache-2.0
// Imports: from names in import statements to the language's own modules, to files that the module
// loader finds, or to a value that stands for something not found until a kernel needs it.
#pragma once

#include "lib/language/emit/Emitter.h"

#include <set>

namespace nereid::language::emit {

class Globals;
class LanguageModules;

class Imports {
public:
  /// Without a loader nothing is imported but the language's own modules.
  Imports(Emitter &emitter, LanguageModules &languageModules, Globals &globals,
          ModuleLoader *loader)
      : emitter(emitter), languageModules(languageModules), globals(globals), loader(loader) {}

  /// What an import statement of `importer` gives the name that it binds.
  Value importedValue(const SourceModule &importer, const Stmt &stmt, const std::string &name);
  /// The name, when a `from module import *` of `importer` gives it.
  std::optional<Value> starImport(const SourceModule &importer, const std::string &name);
  /// What stands after the dot of a value of kind File or Import.
  Value attribute(const Value &base, const std::string &name);
  /// The module of `import name`.
  Value moduleImport(const SourceModule &importer, const std::string &name);

private:
  Value namedImport(const SourceModule &importer, const std::string &source,
                    const std::string &name);
  std::optional<Value> fileMember(const SourceModule &module, const std::string &name);

  Emitter &emitter;
  LanguageModules &languageModules;
  Globals &globals;
  ModuleLoader *loader;
  std::set<std::pair<const SourceModule *, std::string>> starImportsInProgress;
};

/// `name` of the module `source`, which the file `importer` imports and nobody has found.
Value missingImport(const SourceModule &importer, const std::string &source, std::string name);
/// An import found nothing, or its file has no such name: Python raises here.
bool isMissing(const Value &value);

} // namespace nereid::language::emit
