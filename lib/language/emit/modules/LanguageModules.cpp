// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/modules/LanguageModules.h"

#include "lib/language/emit/builtins/Builtins.h"
#include "lib/language/emit/modules/HostLibraries.h"
#include "lib/language/emit/modules/Imports.h"
#include "lib/language/host/HostFacts.h"

#include <map>

namespace nereid::language::emit {

static bool isLibdevice(const std::string &path) {
  return path.find(".extra") != std::string::npos;
}

static char scopeOf(const std::string &path) {
  if (path == "triton") {
    return 'R';
  }
  if (path == "triton.language.extra.cuda" || path == "triton.language.extra.hip") {
    return 'C';
  }
  return isLibdevice(path) ? 'L' : path == "triton.language.math" ? 'M' : 'T';
}

static const std::vector<std::string> &submodules(const std::string &path) {
  static const std::vector<std::string> none,
      root = {"language"}, language = {"math", "extra", "core", "standard", "random"},
      extra = {"libdevice", "cuda", "hip"}, vendor = {"libdevice"};
  return path == "triton"                  ? root
         : path == "triton.language"       ? language
         : path == "triton.language.extra" ? extra
         : isLibdevice(path)               ? vendor
                                           : none;
}

bool isKnownModule(const std::string &path) {
  if (path == "triton") {
    return true;
  }
  size_t dot = path.find_last_of('.');
  if (dot == std::string::npos || !isKnownModule(path.substr(0, dot))) {
    return false;
  }
  std::string last = path.substr(dot + 1);
  for (const std::string &name : submodules(path.substr(0, dot))) {
    if (name == last) {
      return true;
    }
  }
  return false;
}

static std::optional<ElementType> typeNamed(const std::string &name) {
  static const std::map<std::string, DType> types = {{"int1", DType::Bool},
                                                     {"int8", DType::I8},
                                                     {"int16", DType::I16},
                                                     {"int32", DType::I32},
                                                     {"int64", DType::I64},
                                                     {"uint8", DType::U8},
                                                     {"uint16", DType::U16},
                                                     {"uint32", DType::U32},
                                                     {"uint64", DType::U64},
                                                     {"float16", DType::F16},
                                                     {"bfloat16", DType::BF16},
                                                     {"float32", DType::F32},
                                                     {"float64", DType::F64},
                                                     {"float8e4nv", DType::F8E4M3FN},
                                                     {"float8e5", DType::F8E5M2},
                                                     {"float8e4b8", DType::F8E4M3FNUZ},
                                                     {"float8e5b16", DType::F8E5M2FNUZ},
                                                     {"float8e4b15", DType::F8E4B15}};
  auto found = types.find(name);
  return found == types.end() ? std::nullopt : std::optional(ElementType{found->second, false});
}

Value LanguageModules::attribute(const std::string &path, const std::string &name) {
  if (std::optional<ConstValue> constant = hostConstant(path + "." + name)) {
    return valueOf(*constant);
  }
  if (path == "triton" && name == "runtime") {
    return missingImport(*position.frame().module, "triton.runtime", "triton.runtime");
  }
  if (path == "PropagateNan") {
    if (name == "ALL" || name == "NONE") {
      return Value::string(name == "ALL" ? "all" : "none");
    }
    return report.fail("E0201", "'tl.PropagateNan' has no '" + name + "'", "write ALL or NONE");
  }
  if (path == "triton" && name == "jit") {
    return Value::none();
  }
  if (isKnownModule(path + "." + name)) {
    return Value::moduleNamed(path + "." + name);
  }
  if (path == "triton.language" || path == "triton.language.core") {
    if (std::optional<ElementType> type = typeNamed(name)) {
      return Value::type(*type);
    }
    if (name == "pi32_t") { // upstream's one name for the type of a pointer
      return Value::type({DType::I32, true});
    }
    if (name == "PropagateNan") {
      return Value::moduleNamed("PropagateNan");
    }
    if (name.rfind("float8", 0) == 0) {
      return report.fail(
          "E0310", "the type 'tl." + name + "' is not supported yet",
          "supported 8-bit floats are float8e4nv, float8e5, float8e4b8, float8e5b16 and "
          "float8e4b15");
    }
  }
  if (const BuiltinEntry *entry = findBuiltin(name, scopeOf(path))) {
    return builtinValue(entry);
  }
  std::string shown = path == "triton"                 ? "triton"
                      : path == "triton.language"      ? "tl"
                      : path == "triton.language.math" ? "tl.math"
                                                       : path;
  std::vector<std::string> near = nearestNames(name, builtinNames(scopeOf(path)));
  Diagnostic &diagnostic = report.error("E0201", "unknown function '" + shown + "." + name + "'");
  std::string help;
  for (const std::string &other : near) {
    help += (help.empty() ? "did you mean '" : ", '") + shown + "." + other + "'";
  }
  diagnostic.withHelp(help.empty() ? help : help + "?");
  return Value::poison();
}

bool knownModuleHas(const std::string &path, const std::string &name) {
  return findBuiltin(name, scopeOf(path)) || isKnownModule(path + "." + name) ||
         (scopeOf(path) == 'T' && typeNamed(name));
}

} // namespace nereid::language::emit
