// SPDX-License-Identifier: Apache-2.0
// Typed access to TOML with places for messages.
#include "lib/definition/reader/TomlReader.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

std::string_view typeName(toml::node_type type) {
  switch (type) {
  case toml::node_type::table:
    return "a table";
  case toml::node_type::array:
    return "a list";
  case toml::node_type::string:
    return "a string";
  case toml::node_type::integer:
    return "an integer";
  case toml::node_type::floating_point:
    return "a number";
  case toml::node_type::boolean:
    return "true or false";
  default:
    return "a date or time";
  }
}

SourceRange rangeOf(const toml::source_region &where) {
  int line = static_cast<int>(where.begin.line), column = static_cast<int>(where.begin.column);
  bool oneLine = where.end.line == where.begin.line && where.end.column > where.begin.column;
  return SourceRange{line, column, oneLine ? static_cast<int>(where.end.column) : column + 1};
}

} // namespace

bool TomlReader::parse() {
  toml::parse_result result = toml::parse(text, path);
  if (!result) {
    const toml::parse_error &error = result.error();
    std::string description(error.description());
    if (!description.empty()) {
      description[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(description[0])));
    }
    fail("E0601", error.source(), "not readable as TOML: " + description);
    return false;
  }
  table = std::move(result).table();
  return true;
}

Diagnostic &TomlReader::fail(std::string code, const toml::source_region &where,
                             std::string message) {
  ++errors;
  Diagnostic &error = diags.add(makeError(std::move(code), std::move(message)));
  error.at(path, text, rangeOf(where));
  return error;
}

void TomlReader::rejectUnknownKeys(const toml::table &in, std::string_view what,
                                   const std::vector<std::string> &known) {
  for (const auto &[key, value] : in) {
    if (std::find(known.begin(), known.end(), key.str()) != known.end()) {
      continue;
    }
    auto near = nearestNames(key.str(), known);
    fail("E0602", key.source(), fmt::format("unknown key '{}' in {}", key.str(), what))
        .withHelp(near.empty() ? fmt::format("known here: {}", fmt::join(known, ", "))
                               : fmt::format("did you mean '{}'?", fmt::join(near, "', '")));
  }
}

std::vector<const toml::key *> TomlReader::orderedKeys(const toml::table &in) {
  std::vector<const toml::key *> keys;
  for (const auto &[key, value] : in) {
    keys.push_back(&key);
  }
  std::sort(keys.begin(), keys.end(), [](const toml::key *a, const toml::key *b) {
    const toml::source_position &left = a->source().begin, &right = b->source().begin;
    return std::pair(left.line, left.column) < std::pair(right.line, right.column);
  });
  return keys;
}

const toml::node *TomlReader::find(const toml::table &in, std::string_view what,
                                   std::string_view key, bool required) {
  const toml::node *node = in.get(key);
  if (!node && required) {
    fail("E0602", in.source(), fmt::format("{} expects the key '{}'", what, key));
  }
  return node;
}

void TomlReader::wrongType(const toml::node &node, std::string_view key,
                           std::string_view expected) {
  fail("E0602", node.source(),
       fmt::format("'{}' expects {}, but got {}", key, expected, typeName(node.type())));
}

const toml::table *TomlReader::subtable(const toml::table &in, std::string_view key,
                                        bool required) {
  const toml::node *node = in.get(key);
  if (!node) {
    if (required) {
      fail("E0602", in.source(), fmt::format("a definition expects the table [{}]", key))
          .withHelp("docs/definitions.md shows a complete definition");
    }
    return nullptr;
  }
  if (!node->is_table()) {
    wrongType(*node, key, "a table");
    return nullptr;
  }
  return node->as_table();
}

std::optional<std::string> TomlReader::string(const toml::table &in, std::string_view what,
                                              std::string_view key, bool required) {
  const toml::node *node = find(in, what, key, required);
  if (!node) {
    return std::nullopt;
  }
  if (!node->is_string()) {
    wrongType(*node, key, "a string");
    return std::nullopt;
  }
  return node->as_string()->get();
}

std::optional<std::string> TomlReader::line(const toml::table &in, std::string_view what,
                                            std::string_view key, bool required) {
  std::optional<std::string> text = string(in, what, key, required);
  const auto control = [](unsigned char one) { return one < 0x20 || one == 0x7f; };
  if (text && std::any_of(text->begin(), text->end(), control)) {
    fail("E0602", in.get(key)->source(),
         fmt::format("'{}' expects one line of text, but has control characters", key));
    return std::nullopt;
  }
  return text;
}

std::optional<std::vector<std::string>> TomlReader::strings(const toml::table &in,
                                                            std::string_view what,
                                                            std::string_view key, bool required,
                                                            bool integersToo) {
  const toml::node *node = find(in, what, key, required);
  if (!node) {
    return std::nullopt;
  }
  std::string_view expected = integersToo ? "a list of strings and integers" : "a list of strings";
  if (!node->is_array()) {
    wrongType(*node, key, expected);
    return std::nullopt;
  }
  std::vector<std::string> list;
  for (const toml::node &entry : *node->as_array()) {
    if (entry.is_string()) {
      list.push_back(entry.as_string()->get());
    } else if (integersToo && entry.is_integer()) {
      list.push_back(std::to_string(entry.as_integer()->get()));
    } else {
      wrongType(entry, key, expected);
      return std::nullopt;
    }
  }
  return list;
}

std::optional<double> TomlReader::number(const toml::table &in, std::string_view what,
                                         std::string_view key) {
  const toml::node *node = find(in, what, key, false);
  if (!node) {
    return std::nullopt;
  }
  if (node->is_integer()) {
    return static_cast<double>(node->as_integer()->get());
  }
  if (node->is_floating_point()) {
    return node->as_floating_point()->get();
  }
  wrongType(*node, key, "a number");
  return std::nullopt;
}

std::optional<int64_t> TomlReader::integer(const toml::table &in, std::string_view what,
                                           std::string_view key) {
  const toml::node *node = find(in, what, key, false);
  if (!node) {
    return std::nullopt;
  }
  if (!node->is_integer()) {
    wrongType(*node, key, "an integer");
    return std::nullopt;
  }
  return node->as_integer()->get();
}

} // namespace nereid::definition
