// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/body/Names.h"

#include "lib/generator/ReservedNames.h"

#include <cctype>

namespace nereid::importer {
namespace {

constexpr size_t longestName = 60;

bool isWordCharacter(char one) { return std::isalnum(static_cast<unsigned char>(one)) != 0; }

/// What bodies read as modules, besides the names that generated files reserve.
bool isTaken(const std::string &name) {
  return name == "nn" || generator::isReservedName(name) || name == "None" || name == "True" ||
         name == "False";
}

} // namespace

std::string identifierOf(const std::string &text) {
  std::string name;
  for (char one : text) {
    if (isWordCharacter(one)) {
      name += one;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_') {
    name.pop_back();
  }
  if (name.size() > longestName) {
    name = name.substr(name.size() - longestName);
  }
  if (name.empty() || !std::isalpha(static_cast<unsigned char>(name[0]))) {
    name = "v" + name;
  }
  return isTaken(name) ? name + "_" : name;
}

std::string Names::of(const std::string &text) { return find("value " + text, text); }
std::string Names::ofSize(const std::string &text) { return find("size " + text, text); }

std::string Names::another(const std::string &text) {
  return find("another " + std::to_string(used.size()), text);
}

std::string Names::find(const std::string &key, const std::string &text) {
  auto found = given.find(key);
  if (found != given.end()) {
    return found->second;
  }
  const std::string wanted = identifierOf(text);
  std::string name = wanted;
  for (int i = 2; !used.insert(name).second; ++i) {
    name = wanted + "_" + std::to_string(i);
  }
  return given[key] = name;
}

std::string printable(const std::string &text) {
  std::string line;
  for (char one : text) {
    line += one >= ' ' && one <= '~' ? one : '?';
  }
  return line;
}

} // namespace nereid::importer
