// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/tables/SceneReader.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

constexpr size_t mostCharacters = 64 << 10;

/// What keeps a text out of a document; "" = nothing.
std::string problemOf(const std::string &text) {
  if (text.size() > mostCharacters) {
    return fmt::format("at most {} bytes, but got {}", mostCharacters, text.size());
  }
  const auto control = [](unsigned char one) {
    return (one < 0x20 && one != '\n' && one != '\t') || one == 0x7f;
  };
  if (std::any_of(text.begin(), text.end(), control)) {
    return "text, but got control characters";
  }
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const size_t first = text.find_first_not_of(" \t", begin);
    if (first < end && (text.compare(first, 3, "```") == 0 || text.compare(first, 3, "~~~") == 0)) {
      return fmt::format("no line that begins with '{}'", text.substr(first, 3));
    }
    begin = end + 1;
  }
  return "";
}

std::string withoutBlankEnds(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\t')) {
    text.pop_back();
  }
  const size_t first = text.find_first_not_of(" \t\n");
  const size_t line = first == std::string::npos ? first : text.rfind('\n', first);
  return line == std::string::npos ? text : text.substr(line + 1);
}

} // namespace

std::optional<std::string> readProse(TomlReader &toml, const toml::table &table,
                                     std::string_view what, std::string_view key, bool isRequired) {
  std::optional<std::string> text = toml.string(table, what, key, isRequired);
  if (!text) {
    return std::nullopt;
  }
  *text = withoutBlankEnds(*text);
  const std::string problem = problemOf(*text);
  if (!problem.empty()) {
    toml.fail("E0602", table.get(key)->source(), fmt::format("'{}' expects {}", key, problem));
    return std::nullopt;
  }
  if (isRequired && text->empty()) {
    toml.fail("E0602", table.get(key)->source(), fmt::format("'{}' expects text", key));
    return std::nullopt;
  }
  return text;
}

std::vector<Scene> readScenes(TomlReader &toml) {
  constexpr std::string_view what = "[[scene]]";
  std::vector<Scene> scenes;
  const toml::node *node = toml.root().get("scene");
  if (!node) {
    return scenes;
  }
  const toml::array *list = node->as_array();
  if (!list) {
    toml.fail("E0602", node->source(), "'scene' expects a list of tables")
        .withHelp("begin each with [[scene]]");
    return scenes;
  }
  for (const toml::node &entry : *list) {
    const toml::table *table = entry.as_table();
    if (!table) {
      toml.fail("E0602", entry.source(), "a scene expects a table with 'name' and 'code'");
      continue;
    }
    toml.rejectUnknownKeys(*table, what, {"name", "description", "code"});
    Scene scene;
    scene.name = toml.line(*table, what, "name", true).value_or("");
    scene.description = toml.line(*table, what, "description", false).value_or("");
    scene.code = readProse(toml, *table, what, "code", true).value_or("");
    const bool isTaken = std::any_of(scenes.begin(), scenes.end(),
                                     [&](const Scene &other) { return other.name == scene.name; });
    if (isTaken && !scene.name.empty()) {
      toml.fail("E0602", table->get("name")->source(),
                fmt::format("two scenes are called '{}'", scene.name))
          .withHelp("give each a name of its own");
    }
    scenes.push_back(std::move(scene));
  }
  return scenes;
}

} // namespace nereid::definition
