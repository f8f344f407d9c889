// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/modules/Imports.h"

#include "lib/language/emit/modules/Globals.h"
#include "lib/language/emit/modules/HostLibraries.h"
#include "lib/language/emit/modules/LanguageModules.h"
#include "lib/language/host/HostFacts.h"

#include <algorithm>
#include <map>

namespace nereid::language::emit {

static Value fileValue(const SourceModule &module, std::string name) {
  Value value;
  value.kind = Value::Kind::File;
  value.module = &module;
  value.text = std::move(name);
  return value;
}

Value missingImport(const SourceModule &importer, const std::string &source, std::string name) {
  // Other names of the language's own modules, under which torch hands them to generated kernels.
  static const std::map<std::string, std::string> aliases = {
      {"torch._inductor.runtime.triton_helpers.libdevice", "triton.language.extra.libdevice"},
      {"torch._inductor.runtime.triton_helpers.math", "triton.language.math"}};
  if (auto alias = aliases.find(name); alias != aliases.end()) {
    return Value::moduleNamed(alias->second);
  }
  Value value;
  value.kind = Value::Kind::Import;
  value.module = &importer;
  value.text = std::move(name);
  value.elements = {Value::string(source)};
  return value;
}

/// "a" and "b" give "a.b", ".." and "b" give "..b".
static std::string below(const std::string &module, const std::string &name) {
  return module + (module.empty() || module.back() == '.' ? "" : ".") + name;
}

static bool isPackage(const SourceModule &module) {
  constexpr std::string_view marker = "__init__.py";
  std::string_view path = module.path;
  return path.size() >= marker.size() && path.substr(path.size() - marker.size()) == marker;
}

std::optional<Value> Imports::fileMember(const SourceModule &module, const std::string &name) {
  if (std::optional<Value> value = globals.find(module, name)) {
    return value;
  }
  if (loader && isPackage(module)) {
    const FoundModule &inside = loader->find("." + name, module.path);
    if (inside.problems) {
      emitter.report.reportAll(*inside.problems);
      return Value::poison();
    }
    if (inside.module) {
      return fileValue(*inside.module, name);
    }
  }
  return std::nullopt;
}

/// What `from source import name` gives.
Value Imports::namedImport(const SourceModule &importer, const std::string &source,
                           const std::string &name) {
  if (isKnownModule(source)) {
    return languageModules.attribute(source, name);
  }
  Value absent = missingImport(importer, source, below(source, name));
  if (std::optional<ConstValue> constant = hostConstant(absent.text)) {
    return valueOf(*constant);
  }
  if (!loader || isInstalledModule(source)) {
    return absent;
  }
  const FoundModule &found = loader->find(source, importer.path);
  if (found.problems) {
    emitter.report.reportAll(*found.problems);
    return Value::poison();
  }
  if (found.module) {
    return attribute(fileValue(*found.module, source), name);
  }
  // A folder without __init__.py is a package as well.
  const FoundModule &file = loader->find(below(source, name), importer.path);
  if (file.problems) {
    emitter.report.reportAll(*file.problems);
    return Value::poison();
  }
  return file.module ? fileValue(*file.module, name) : absent;
}

Value Imports::importedValue(const SourceModule &importer, const Stmt &stmt,
                             const std::string &name) {
  for (const ImportName &import : stmt.names) {
    const std::string &alias = import.alias;
    if (stmt.kind == StmtKind::ImportFrom) {
      if ((alias.empty() ? import.name : alias) == name) {
        return namedImport(importer, stmt.text, import.name);
      }
      continue;
    }
    // `import a.b` binds a, `import a.b as c` binds c to a.b
    std::string path = alias.empty() ? import.name.substr(0, import.name.find('.')) : import.name;
    if ((alias.empty() ? path : alias) != name) {
      continue;
    }
    return moduleImport(importer, path);
  }
  return Value::poison();
}

Value Imports::moduleImport(const SourceModule &importer, const std::string &name) {
  if (isKnownModule(name)) {
    return Value::moduleNamed(name);
  }
  if (loader && !isInstalledModule(name)) {
    const FoundModule &found = loader->find(name, importer.path);
    if (found.problems) {
      emitter.report.reportAll(*found.problems);
      return Value::poison();
    }
    if (found.module) {
      return fileValue(*found.module, name);
    }
  }
  return missingImport(importer, name, name);
}

Value Imports::attribute(const Value &base, const std::string &name) {
  if (base.kind == Value::Kind::File) {
    if (std::optional<Value> value = fileMember(*base.module, name)) {
      return *value;
    }
    std::string help;
    for (const std::string &other : nearestNames(name, topLevelNames(*base.module))) {
      help += (help.empty() ? "did you mean '" : ", '") + other + "'";
    }
    emitter.report.error("E0231", "module '" + base.text + "' has no '" + name + "'")
        .note("the module is " + base.module->path)
        .withHelp(help.empty() ? help : help + "?");
    return Value::poison();
  }
  if (std::optional<Value> known = hostAttribute(base, name)) {
    return *known;
  }
  std::string path = base.text + "." + name;
  bool isLookedFor = loader && !isInstalledModule(base.elements[0].text);
  if (isLookedFor && base.text.rfind(base.elements[0].text, 0) == 0) {
    const FoundModule &found = loader->find(path, base.module->path);
    if (found.problems) {
      emitter.report.reportAll(*found.problems);
      return Value::poison();
    }
    if (found.module) {
      return fileValue(*found.module, path);
    }
  }
  return missingImport(*base.module, base.elements[0].text, path);
}

/// Names that `__all__` lists; nothing when the file has none that is written out.
static std::optional<std::vector<std::string>> exportedNames(const SourceModule &module) {
  std::optional<std::vector<std::string>> names;
  for (const StmtPtr &stmt : module.body) {
    bool isList = stmt->kind == StmtKind::Assign && stmt->targets.size() == 1 &&
                  stmt->targets[0]->kind == ExprKind::Name && stmt->targets[0]->text == "__all__" &&
                  (stmt->value->kind == ExprKind::List || stmt->value->kind == ExprKind::Tuple);
    if (!isList) {
      continue;
    }
    names.emplace();
    for (const ExprPtr &element : stmt->value->operands) {
      names->push_back(element->text);
    }
  }
  return names;
}

static bool isExported(const SourceModule &module, const std::string &name) {
  if (auto names = exportedNames(module)) {
    return std::find(names->begin(), names->end(), name) != names->end();
  }
  return name.rfind('_', 0) != 0;
}

std::optional<Value> Imports::starImport(const SourceModule &importer, const std::string &name) {
  std::pair<const SourceModule *, std::string> key{&importer, name};
  if (!starImportsInProgress.insert(key).second) {
    return std::nullopt; // two files import everything of each other
  }
  std::optional<Value> value;
  for (auto stmt = importer.body.rbegin(); stmt != importer.body.rend() && !value; ++stmt) {
    if ((*stmt)->kind != StmtKind::ImportFrom || (*stmt)->names[0].name != "*") {
      continue;
    }
    const std::string &source = (*stmt)->text;
    if (isKnownModule(source)) {
      if (name[0] != '_' && knownModuleHas(source, name)) {
        value = languageModules.attribute(source, name);
      }
      continue;
    }
    const FoundModule *found = loader ? &loader->find(source, importer.path) : nullptr;
    if (found && found->problems) {
      emitter.report.reportAll(*found->problems);
      value = Value::poison();
    } else if (found && found->module && isExported(*found->module, name)) {
      value = fileMember(*found->module, name);
    }
  }
  starImportsInProgress.erase(key);
  return value;
}

bool isMissing(const Value &value) {
  return value.isPoison() ||
         (value.kind == Value::Kind::Import && !isInstalledModule(value.elements[0].text));
}

} // namespace nereid::language::emit
