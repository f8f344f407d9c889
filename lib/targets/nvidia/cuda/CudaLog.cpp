// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/cuda/CudaLog.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace nereid::nvidia {
namespace {

struct LogError {
  std::string file, message;
  int line = 0, column = 0; ///< 0 = not said
};

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// "name(12): error: text" and "name(3): catastrophic error: text", also with a number of the
/// compiler's in front of the second colon; nothing for any other line.
std::optional<LogError> headOf(std::string_view line) {
  const size_t colon = line.find("): ");
  const size_t open = colon == line.npos ? line.npos : line.rfind('(', colon);
  if (open == line.npos) {
    return std::nullopt;
  }
  LogError error;
  const char *end = line.data() + colon;
  if (std::from_chars(line.data() + open + 1, end, error.line).ptr != end) {
    return std::nullopt;
  }
  const std::string_view rest = line.substr(colon + 3);
  const size_t word = rest.find("error"), behind = rest.find(": ");
  if (word == rest.npos || behind == rest.npos || word > behind) {
    return std::nullopt;
  }
  error.file = line.substr(0, open);
  error.message = rest.substr(behind + 2);
  return error;
}

/// The lines behind a head, up to an empty one: more of the message, the source's line, the caret.
void addDetails(LogError &error, const std::vector<std::string_view> &lines, size_t &next) {
  std::vector<std::string_view> details;
  for (; next < lines.size() && !trimmed(lines[next]).empty() && !headOf(lines[next]); ++next) {
    details.push_back(lines[next]);
  }
  size_t messageLines = details.size();
  if (!details.empty() && trimmed(details.back()) == "^") {
    const size_t caret = details.back().find('^');
    messageLines = details.size() > 1 ? details.size() - 2 : 0;
    // Both are indented by the same two columns.
    error.column = caret >= 2 ? static_cast<int>(caret) - 1 : 0;
  }
  for (size_t i = 0; i < messageLines; ++i) {
    error.message += " " + std::string(trimmed(details[i]));
  }
}

std::vector<LogError> errorsOf(std::string_view log) {
  const std::vector<std::string_view> lines = linesOf(log);
  std::vector<LogError> errors;
  for (size_t i = 0; i < lines.size();) {
    std::optional<LogError> error = headOf(lines[i++]);
    if (error) {
      addDetails(*error, lines, i);
      errors.push_back(std::move(*error));
    }
  }
  return errors;
}

/// The word at the column, or the line without its indentation.
SourceRange rangeOf(const LogError &error, std::string_view line) {
  const size_t first = std::min(line.find_first_not_of(" \t"), line.size());
  const bool isKnown = error.column > 0 && static_cast<size_t>(error.column) <= line.size();
  const size_t begin = isKnown ? static_cast<size_t>(error.column) - 1 : first;
  size_t end = isKnown ? begin + 1 : trimmed(line).size() + first;
  const auto isWord = [&](size_t at) {
    return at < line.size() &&
           (std::isalnum(static_cast<unsigned char>(line[at])) != 0 || line[at] == '_');
  };
  while (isKnown && isWord(begin) && isWord(end)) {
    ++end;
  }
  return {error.line, static_cast<int>(begin) + 1, static_cast<int>(end) + 1};
}

} // namespace

Diagnostic errorOfLog(std::string_view log, const std::string &path, std::string_view text,
                      const std::string &compiler) {
  std::vector<LogError> errors = errorsOf(log);
  const std::vector<std::string_view> lines = linesOf(text);
  const auto isHere = [&](const LogError &error) {
    return error.file == path && error.line >= 1 && static_cast<size_t>(error.line) <= lines.size();
  };
  if (const auto here = std::find_if(errors.begin(), errors.end(), isHere); here != errors.end()) {
    std::rotate(errors.begin(), here, here + 1);
  }
  if (errors.empty()) {
    Diagnostic error = makeError("E0314", compiler + " does not compile '" + path + "'");
    return error.note(std::string(trimmed(log)));
  }
  const LogError &first = errors.front();
  Diagnostic error = makeError("E0314", first.message);
  if (isHere(first)) {
    const std::string_view line = lines[static_cast<size_t>(first.line) - 1];
    error.at(path, text, rangeOf(first, line));
  } else {
    error.note("at " + first.file + ":" + std::to_string(first.line));
  }
  for (size_t i = 1; i < errors.size(); ++i) {
    error.note(errors[i].file + ":" + std::to_string(errors[i].line) + ": " + errors[i].message);
  }
  return error.note("compiled by " + compiler);
}

} // namespace nereid::nvidia
