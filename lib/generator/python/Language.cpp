// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/python/Language.h"

namespace nereid::generator {

const std::vector<std::string> &languageNames() {
  static const std::vector<std::string> names = {"cpp", "python", "both"};
  return names;
}

std::string_view languageName(Language language) {
  return languageNames()[static_cast<size_t>(language)];
}

std::optional<Language> parseLanguage(std::string_view name) {
  for (Language language : {Language::Cpp, Language::Python, Language::Both}) {
    if (languageName(language) == name) {
      return language;
    }
  }
  return std::nullopt;
}

bool hasCpp(Language language) { return language != Language::Python; }
bool hasPython(Language language) { return language != Language::Cpp; }

Language together(Language a, Language b) { return a == b ? a : Language::Both; }

} // namespace nereid::generator
