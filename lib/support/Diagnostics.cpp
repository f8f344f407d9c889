// SPDX-License-Identifier: Apache-2.0
// Renders diagnostics for people and for programs, and keeps the table of codes.
// Text that came from a user's file is made printable here, in one place, so that neither control
// characters nor broken UTF-8 reach a terminal or a JSON reader.
#include "lib/support/Diagnostics.h"

#include "lib/support/Documents.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>

namespace nereid {
namespace {

constexpr size_t widestLine = 160; // columns of a source line that are shown around the caret
constexpr int tabWidth = 4;

std::string_view lineAt(std::string_view text, int line) {
  size_t start = 0;
  for (int i = 1; i < line; ++i) {
    size_t end = text.find('\n', start);
    if (end == std::string_view::npos) {
      return {};
    }
    start = end + 1;
  }
  std::string_view found = text.substr(start, text.find('\n', start) - start);
  if (!found.empty() && found.back() == '\r') {
    found.remove_suffix(1);
  }
  return found;
}

/// Bytes of the valid UTF-8 sequence at `at`, or 0.
size_t sequenceLength(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(at);
  size_t length = lead < 0x80   ? 1
                  : lead < 0xC2 ? 0
                  : lead < 0xE0 ? 2
                  : lead < 0xF0 ? 3
                  : lead < 0xF5 ? 4
                                : 0;
  if (length == 0 || at + length > text.size()) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  return length;
}

/// A source line as it is printed, with the column each of its bytes starts at.
struct PrintedLine {
  std::vector<std::string> cells; // what each printed column shows
  std::vector<size_t> columnOf;   // byte index -> printed column; one more entry for the end
};

PrintedLine printLine(std::string_view text) {
  PrintedLine out;
  for (size_t i = 0; i < text.size();) {
    size_t length = sequenceLength(text, i);
    size_t bytes = std::max<size_t>(length, 1);
    out.columnOf.insert(out.columnOf.end(), bytes, out.cells.size());
    unsigned char lead = static_cast<unsigned char>(text[i]);
    if (lead == '\t') {
      out.cells.insert(out.cells.end(), tabWidth, " ");
    } else if (length == 0 || lead < 0x20 || lead == 0x7F ||
               (length == 2 && lead == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0)) {
      out.cells.push_back("?");
    } else {
      out.cells.emplace_back(text.substr(i, length));
    }
    i += bytes;
  }
  out.columnOf.push_back(out.cells.size());
  return out;
}

/// Control characters and invalid bytes of names and messages become '?'; tabs stay.
std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t length = sequenceLength(text, i);
    unsigned char lead = static_cast<unsigned char>(text[i]);
    if (length == 0 || (lead < 0x20 && lead != '\t' && lead != '\n') || lead == 0x7F) {
      out += '?';
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out;
}

void appendLineWithCaret(std::string &out, const Diagnostic &diagnostic) {
  PrintedLine line = printLine(diagnostic.lineText);
  size_t bytes = diagnostic.lineText.size();
  auto column = [&](int oneBased) {
    return line.columnOf[std::min<size_t>(oneBased > 0 ? oneBased - 1 : 0, bytes)];
  };
  size_t from = column(diagnostic.range.column);
  size_t to = std::max(column(diagnostic.range.endColumn), from + 1);
  size_t first = 0;
  if (line.cells.size() > widestLine && from > widestLine / 2) {
    first = from - widestLine / 2;
  }
  size_t last = std::min(line.cells.size(), first + widestLine);
  std::string lead = first > 0 ? "…" : "";
  out += lead;
  for (size_t i = first; i < last; ++i) {
    out += line.cells[i];
  }
  if (last < line.cells.size()) {
    out += "…";
  }
  out += '\n';
  out.append(from - first + (first > 0 ? 1 : 0), ' ');
  out += '^';
  out.append(std::min(to, std::max(last, from + 1)) - from - 1, '~');
  out += '\n';
}

const char *severityName(Severity severity) {
  switch (severity) {
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  case Severity::Error:
    break;
  }
  return "error";
}

/// The second and further lines of a note stand below its first word.
void appendIndented(std::string &out, std::string_view label, std::string_view text) {
  out += "  ";
  out += label;
  for (char c : printable(text)) {
    out += c;
    if (c == '\n') {
      out.append(2 + label.size(), ' ');
    }
  }
  out += '\n';
}

} // namespace

Diagnostic &Diagnostic::at(std::string_view path, std::string_view text, SourceRange where) {
  file = std::string(path);
  range = where;
  lineText = where.line > 0 ? std::string(lineAt(text, where.line)) : std::string();
  return *this;
}

Diagnostic makeError(std::string code, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = std::move(code);
  diagnostic.message = std::move(message);
  return diagnostic;
}

Diagnostic &Diagnostics::add(Diagnostic diagnostic) {
  list.push_back(std::move(diagnostic));
  return list.back();
}

bool Diagnostics::hasErrors() const {
  return std::any_of(list.begin(), list.end(),
                     [](const Diagnostic &d) { return d.severity == Severity::Error; });
}

std::string render(const Diagnostic &diagnostic) {
  std::string out;
  if (!diagnostic.file.empty()) {
    out += printable(diagnostic.file) + ":";
  }
  if (diagnostic.range.line > 0) {
    out += std::to_string(diagnostic.range.line) + ":";
    if (diagnostic.range.column > 0) {
      out += std::to_string(diagnostic.range.column) + ":";
    }
  }
  if (!out.empty()) {
    out += ' ';
  }
  out += severityName(diagnostic.severity);
  out += ": " + printable(diagnostic.message);
  if (!diagnostic.code.empty()) {
    out += " [" + diagnostic.code + "]";
  }
  out += '\n';
  if (diagnostic.range.line > 0 && diagnostic.range.column > 0 &&
      (!diagnostic.lineText.empty() || !diagnostic.file.empty())) {
    appendLineWithCaret(out, diagnostic);
  }
  for (const std::string &note : diagnostic.notes) {
    appendIndented(out, "note: ", withDocuments(note));
  }
  if (!diagnostic.help.empty()) {
    appendIndented(out, "help: ", withDocuments(diagnostic.help));
  }
  return out;
}

std::string Diagnostics::render() const {
  std::string out;
  for (const Diagnostic &diagnostic : list) {
    out += nereid::render(diagnostic);
  }
  return out;
}

std::string Diagnostics::renderJson() const {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const Diagnostic &diagnostic : list) {
    nlohmann::ordered_json object;
    object["severity"] = severityName(diagnostic.severity);
    object["code"] = diagnostic.code;
    object["message"] = diagnostic.message;
    object["file"] = diagnostic.file;
    object["line"] = diagnostic.range.line;
    object["column"] = diagnostic.range.column;
    object["end_column"] = diagnostic.range.endColumn;
    object["source"] = diagnostic.lineText;
    object["notes"] = nlohmann::ordered_json::array();
    for (const std::string &note : diagnostic.notes) {
      object["notes"].push_back(withDocuments(note));
    }
    object["help"] = withDocuments(diagnostic.help);
    array.push_back(std::move(object));
  }
  return array.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

const std::vector<CodeText> &allCodes() {
  static const std::vector<CodeText> codes = {
#define NEREID_CODE(code, title, paragraph) CodeText{code, title, paragraph},
#include "lib/support/DiagnosticCodes.def"
#undef NEREID_CODE
  };
  return codes;
}

CodeText explainCode(std::string_view code) {
  for (const CodeText &text : allCodes()) {
    if (text.code == code) {
      return text;
    }
  }
  return {code, {}, {}};
}

} // namespace nereid
