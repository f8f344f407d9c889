// SPDX-License-Identifier: Apache-2.0
// Cutting a signature's text at its commas.
#include "lib/language/signature/SignatureEntries.h"

#include "lib/language/syntax/Characters.h"
#include "lib/language/syntax/StringExtent.h"

#include <algorithm>

namespace nereid::language {

std::vector<SignatureEntry> splitSignature(std::string_view text) {
  std::vector<SignatureEntry> entries;
  if (trimmed(text).empty()) {
    return entries;
  }
  auto addEntry = [&](size_t begin, size_t equals, size_t end) {
    SignatureEntry entry;
    bool isNamed = equals != std::string_view::npos;
    entry.name = isNamed ? trimmed(text.substr(begin, equals - begin)) : std::string_view();
    entry.value = trimmed(isNamed ? text.substr(equals + 1, end - equals - 1)
                                  : text.substr(begin, end - begin));
    std::string_view whole = trimmed(text.substr(begin, end - begin));
    entry.begin = whole.empty() ? begin : static_cast<size_t>(whole.data() - text.data());
    entry.end = entry.begin + std::max<size_t>(whole.size(), 1);
    entries.push_back(entry);
  };
  size_t begin = 0, equals = std::string_view::npos;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '<') {
      ++depth;
    } else if (text[i] == ')' || text[i] == ']' || text[i] == '>') {
      --depth;
    } else if (depth > 0 && text[i] != '\'' && text[i] != '"') {
      continue;
    } else if (text[i] == '\'' || text[i] == '"') {
      size_t end = findStringEnd(text, i, readStringOpening(text, i));
      i = end == std::string_view::npos ? text.size() : end - 1;
    } else if (text[i] == '=' && equals == std::string_view::npos) {
      equals = i;
    } else if (text[i] == ',') {
      addEntry(begin, equals, i);
      begin = i + 1;
      equals = std::string_view::npos;
    }
  }
  if (!trimmed(text.substr(std::min(begin, text.size()))).empty()) {
    addEntry(begin, equals, text.size()); // a trailing comma adds no entry
  }
  return entries;
}

} // namespace nereid::language
