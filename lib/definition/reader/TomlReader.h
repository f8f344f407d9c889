// SPDX-License-Identifier: Apache-2.0
// A parsed TOML file with diagnostics that point into it: typed access to keys, unknown keys
// reported with the nearest known ones. Only the definition loader includes this.
#pragma once

#include "lib/support/Diagnostics.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <optional>
#include <string>
#include <vector>

namespace nereid::definition {

class TomlReader {
public:
  TomlReader(std::string path, std::string text, Diagnostics &diags)
      : path(std::move(path)), text(std::move(text)), diags(diags) {}

  /// False after reporting E0601.
  bool parse();
  const toml::table &root() const { return table; }
  const std::string &filePath() const { return path; }
  const std::string &fileText() const { return text; }
  bool failed() const { return errors > 0; }

  Diagnostic &fail(std::string code, const toml::source_region &where, std::string message);
  /// E0602 for each key of `in` that is not in `known`; `what` names the table: "[operator]".
  void rejectUnknownKeys(const toml::table &in, std::string_view what,
                         const std::vector<std::string> &known);
  /// Keys in the order they are written.
  static std::vector<const toml::key *> orderedKeys(const toml::table &in);

  /// Null (after E0602 when required or of another type).
  const toml::table *subtable(const toml::table &in, std::string_view key, bool required);
  std::optional<std::string> string(const toml::table &in, std::string_view what,
                                    std::string_view key, bool required);
  /// A string that other files quote: E0602 when it has control characters, line breaks among them.
  std::optional<std::string> line(const toml::table &in, std::string_view what,
                                  std::string_view key, bool required);
  std::optional<std::vector<std::string>> strings(const toml::table &in, std::string_view what,
                                                  std::string_view key, bool required,
                                                  bool integersToo = false);
  std::optional<double> number(const toml::table &in, std::string_view what, std::string_view key);
  std::optional<int64_t> integer(const toml::table &in, std::string_view what,
                                 std::string_view key);

private:
  const toml::node *find(const toml::table &in, std::string_view what, std::string_view key,
                         bool required);
  void wrongType(const toml::node &node, std::string_view key, std::string_view expected);

  std::string path, text;
  Diagnostics &diags;
  toml::table table;
  int errors = 0;
};

} // namespace nereid::definition
