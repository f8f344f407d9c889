// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Request.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::words {
namespace {

/// A definition quotes no more of a document.
constexpr size_t mostQuoted = 4096;
constexpr size_t mostScenes = 16, mostCode = 8192;

std::string trimmed(std::string_view text, std::string_view blanks) {
  const size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos
             ? ""
             : std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

bool isFence(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos &&
         (line.substr(first, 3) == "```" || line.substr(first, 3) == "~~~");
}

/// Whole lines, without runs of empty ones.
std::string quoted(const std::string &prose, bool &isShortened) {
  std::string result;
  bool isOpen = false; // an empty line waits
  for (size_t at = 0; at < prose.size();) {
    const size_t end = std::min(prose.find('\n', at), prose.size());
    const std::string line = trimmed(std::string_view(prose).substr(at, end - at), " \t\r");
    at = end + 1;
    if (line.empty()) {
      isOpen = !result.empty();
      continue;
    }
    if (result.size() + line.size() + 2 > mostQuoted) {
      isShortened = true;
      break;
    }
    result += (result.empty() ? "" : isOpen ? "\n\n" : "\n") + line;
    isOpen = false;
  }
  return result;
}

} // namespace

Request readRequest(std::string path, std::string text) {
  Request request{std::move(path), std::move(text), "", "", false, {}};
  std::string heading, code;
  bool isCode = false;
  const std::string &all = request.text;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('\n', at), all.size());
    const std::string line = all.substr(at, end - at);
    const bool isEdge = isFence(line);
    if (isEdge && isCode) {
      if (request.scenes.size() < mostScenes && code.size() <= mostCode &&
          !trimmed(code, " \t\r\n").empty()) {
        request.scenes.push_back({heading.empty() ? "from the text" : heading, "", code});
      }
      code.clear();
    } else if (isCode) {
      code += trimmed(line, "\r") + "\n";
    } else if (line.starts_with("#")) {
      heading = trimmed(line, "# \t\r");
    }
    isCode = isEdge != isCode;
    request.prose += isEdge || isCode ? std::string(line.size(), ' ') : line;
    request.prose += end < all.size() ? "\n" : "";
    at = end + 1;
  }
  request.requirement = quoted(request.prose, request.isShortened);
  return request;
}

} // namespace nereid::words
