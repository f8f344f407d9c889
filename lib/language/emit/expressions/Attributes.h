// SPDX-License-Identifier: Apache-2.0
// What stands after a dot: of modules and files, objects, types, tiles, block pointers.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

class Imports;
class LanguageModules;

class Attributes {
public:
  Attributes(Emitter &emitter, LanguageModules &languageModules, Imports &imports)
      : emitter(emitter), languageModules(languageModules), imports(imports) {}

  Value attribute(const Value &base, const std::string &name);
  /// The attribute without a word when there is none.
  std::optional<Value> tryAttribute(const Value &base, const std::string &name);

private:
  std::optional<Value> runtimeAttribute(const Value &base, const TileType &type,
                                        const std::string &name);
  Value transposed(const Value &base);

  Emitter &emitter;
  LanguageModules &languageModules;
  Imports &imports;
};

/// A call of a type's method, such as dtype.is_floating().
Value typeMethod(Reporter &report, const Value &type, const std::string &name);

} // namespace nereid::language::emit
