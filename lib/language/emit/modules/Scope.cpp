// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/modules/Scope.h"

#include "lib/language/emit/modules/Globals.h"

namespace nereid::language::emit {

std::vector<std::string> Scope::visibleNames() const {
  std::vector<std::string> names;
  for (const auto &[name, value] : emitter.frame().locals) {
    names.push_back(name);
  }
  for (std::string &name : topLevelNames(*emitter.frame().module)) {
    names.push_back(std::move(name));
  }
  for (const std::string &name : builtinNames('P')) {
    names.push_back(name);
  }
  return names;
}

Value Scope::lookup(const std::string &name) {
  if (auto found = emitter.frame().locals.find(name); found != emitter.frame().locals.end()) {
    return found->second;
  }
  if (emitter.frame().captured) {
    if (auto found = emitter.frame().captured->locals.find(name);
        found != emitter.frame().captured->locals.end()) {
      return found->second;
    }
  }
  // A name whose every assignment sits in a branch or loop is a local without a value: the global
  // of the same name must not shine through.
  auto lost = emitter.frame().lost.find(name);
  if (lost == emitter.frame().lost.end()) {
    if (std::optional<Value> value = globals.find(*emitter.frame().module, name)) {
      return *value;
    }
    const BuiltinEntry *entry = findBuiltin(name, 'P');
    if (!entry && emitter.frame().module->isLibrary) {
      entry = findBuiltin(name, 'S');
    }
    if (entry) {
      return builtinValue(entry);
    }
  }
  Diagnostic &diagnostic = emitter.report.error("E0202", "'" + name + "' is not defined");
  if (lost != emitter.frame().lost.end()) {
    diagnostic.note(lost->second).withHelp("give '" + name + "' a value before");
    return Value::poison();
  }
  std::string help;
  for (const std::string &other : nearestNames(name, visibleNames())) {
    help += (help.empty() ? "did you mean '" : ", '") + other + "'";
  }
  diagnostic.withHelp(help.empty() ? help : help + "?");
  return Value::poison();
}

} // namespace nereid::language::emit
