// SPDX-License-Identifier: Apache-2.0
// The table of builtins in memory: look-up by name and scope, and the parameters read from their
// written form.
#include "lib/language/emit/builtins/Builtins.h"

#include "lib/language/StandardLibrary.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace nereid::language::emit {

const std::vector<BuiltinEntry> &builtins() {
  static const std::vector<BuiltinEntry> table = {
#define NEREID_BUILTIN(name, scopes, params, category, function)                                   \
  {name, scopes, params, category, function},
#define NEREID_LIBRARY(name, scopes, category) {name, scopes, "", category, nullptr, true},
#define NEREID_KNOWN(name, scopes, category) {name, scopes, "", category, nullptr},
#include "lib/language/emit/builtins/Builtins.def"
#undef NEREID_BUILTIN
#undef NEREID_LIBRARY
#undef NEREID_KNOWN
  };
  return table;
}

const BuiltinEntry *findBuiltin(std::string_view name, char scope) {
  static const auto index = [] {
    std::unordered_map<std::string, const BuiltinEntry *> map;
    for (const BuiltinEntry &entry : builtins()) {
      for (char each : entry.scopes) {
        map.emplace(std::string(1, each) + std::string(entry.name), &entry);
      }
    }
    return map;
  }();
  auto found = index.find(std::string(1, scope) + std::string(name));
  return found == index.end() ? nullptr : found->second;
}

std::vector<std::string> builtinNames(char scope) {
  std::vector<std::string> names;
  for (const BuiltinEntry &entry : builtins()) {
    if (entry.scopes.find(scope) != std::string_view::npos) {
      names.emplace_back(entry.name);
    }
  }
  return names;
}

static Value parseDefault(std::string_view text) {
  if (text == "True" || text == "False") {
    return Value::boolean(text == "True");
  }
  if (text == "()") {
    return Value::tuple({});
  }
  if (text.size() >= 2 && text.front() == '\'') {
    return Value::string(std::string(text.substr(1, text.size() - 2)));
  }
  int number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc()) {
    return Value::whole(number);
  }
  return Value::none();
}

static std::vector<ParamSpec> parseParams(std::string_view text) {
  std::vector<ParamSpec> params;
  while (!text.empty()) {
    size_t comma = std::min(text.find(", "), text.size());
    std::string_view part = text.substr(0, comma);
    text = text.substr(std::min(comma + 2, text.size()));
    ParamSpec param;
    size_t equals = part.find('=');
    param.name = part.substr(0, equals);
    if (equals != std::string_view::npos) {
      param.hasDefault = true;
      param.defaultValue = parseDefault(part.substr(equals + 1));
    }
    if (param.name.front() == '*') {
      param.isVariadic = true;
      param.name.remove_prefix(1);
    }
    params.push_back(std::move(param));
  }
  return params;
}

Value builtinValue(const BuiltinEntry *entry) {
  Value value;
  if (entry->isLibrary) {
    LibraryFunction found = findLibraryFunction(entry->name);
    value.kind = Value::Kind::Function;
    value.function = found.function;
    value.module = found.module;
  } else {
    value.kind = Value::Kind::Builtin;
    value.builtin = entry;
  }
  return value;
}

const std::vector<ParamSpec> &paramsOf(const BuiltinEntry &entry) {
  static const auto index = [] {
    std::unordered_map<const BuiltinEntry *, std::vector<ParamSpec>> map;
    for (const BuiltinEntry &each : builtins()) {
      map.emplace(&each, parseParams(each.params));
    }
    return map;
  }();
  return index.at(&entry);
}

} // namespace nereid::language::emit
