// SPDX-License-Identifier: Apache-2.0
// In which languages an operator's folder has its baseline and its programs for accuracy and
// performance. `<op>_triton.py` belongs to both.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::generator {

enum class Language { Cpp, Python, Both };
std::string_view languageName(Language language); ///< "cpp", "python", "both"
std::optional<Language> parseLanguage(std::string_view name);
/// The names parseLanguage knows.
const std::vector<std::string> &languageNames();

bool hasCpp(Language language);
bool hasPython(Language language);
/// What either has.
Language together(Language a, Language b);

} // namespace nereid::generator
