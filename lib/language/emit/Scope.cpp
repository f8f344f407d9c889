// SPDX-License-Identifier: Apache-2.0
// What a name means: a local, something at the top level of the file (imports, jit functions,
// constants; evaluated when first used), or a Python function. Also the contents of the modules
// `triton` and `triton.language`.
#include "lib/language/emit/Emitter.h"

#include <limits>
#include <numbers>

namespace nereid::language::emit {

static bool isLibdevice(const std::string &path) {
  return path.find(".extra") != std::string::npos;
}

static char scopeOf(const std::string &path) {
  if (path == "triton") {
    return 'R';
  }
  return isLibdevice(path) ? 'L' : path == "triton.language.math" ? 'M' : 'T';
}

static const std::vector<std::string> &submodules(const std::string &path) {
  static const std::vector<std::string> none,
      root = {"language"}, language = {"math", "extra", "core", "standard"},
      extra = {"libdevice", "cuda", "hip"}, vendor = {"libdevice"};
  return path == "triton"                  ? root
         : path == "triton.language"       ? language
         : path == "triton.language.extra" ? extra
         : isLibdevice(path)               ? vendor
                                           : none;
}

static bool isKnownModule(const std::string &path) {
  if (path == "triton" || path == "math") {
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
  static const std::map<std::string, DType> types = {
      {"int1", DType::Bool},   {"int8", DType::I8},       {"int16", DType::I16},
      {"int32", DType::I32},   {"int64", DType::I64},     {"uint8", DType::U8},
      {"uint16", DType::U16},  {"uint32", DType::U32},    {"uint64", DType::U64},
      {"float16", DType::F16}, {"bfloat16", DType::BF16}, {"float32", DType::F32},
      {"float64", DType::F64}};
  auto found = types.find(name);
  return found == types.end() ? std::nullopt : std::optional(ElementType{found->second, false});
}

static std::optional<Value> pythonMathConstant(const std::string &name) {
  if (name == "pi") {
    return Value::floating(std::numbers::pi);
  }
  if (name == "e") {
    return Value::floating(std::numbers::e);
  }
  if (name == "inf") {
    return Value::floating(std::numeric_limits<double>::infinity());
  }
  if (name == "nan") {
    return Value::floating(std::numeric_limits<double>::quiet_NaN());
  }
  return std::nullopt;
}

static Value builtinValue(const BuiltinEntry *entry) {
  Value value;
  value.kind = Value::Kind::Builtin;
  value.builtin = entry;
  return value;
}

Value Emitter::moduleAttribute(const std::string &path, const std::string &name) {
  if (path == "math") {
    if (std::optional<Value> constant = pythonMathConstant(name)) {
      return *constant;
    }
    return fail("E0201", "Python's 'math." + name + "' cannot be used in a kernel",
                "use tl." + name + ", or compute it outside and pass it as a constexpr");
  }
  if (path == "PropagateNan") {
    if (name == "ALL" || name == "NONE") {
      return Value::string(name == "ALL" ? "all" : "none");
    }
    return fail("E0201", "'tl.PropagateNan' has no '" + name + "'", "write ALL or NONE");
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
    if (name == "PropagateNan") {
      return Value::moduleNamed("PropagateNan");
    }
    if (name.rfind("float8", 0) == 0) {
      return fail("E0310", "the type 'tl." + name + "' is not supported yet",
                  "supported are int1, int8 to int64, uint8 to uint64, float16, bfloat16, "
                  "float32 and float64");
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
  Diagnostic &diagnostic = error("E0201", "unknown function '" + shown + "." + name + "'");
  std::string help;
  for (const std::string &other : near) {
    help += (help.empty() ? "did you mean '" : ", '") + shown + "." + other + "'";
  }
  diagnostic.withHelp(help.empty() ? help : help + "?");
  return Value::poison();
}

/// What `from module import name` gives.
static Value importedValue(Emitter &emitter, const std::string &module, const std::string &name) {
  if (isKnownModule(module)) {
    return emitter.moduleAttribute(module, name);
  }
  Value value;
  value.kind = Value::Kind::Import;
  value.text = module + "." + name;
  return value;
}

static std::optional<Value> importBinding(Emitter &emitter, const Stmt &stmt,
                                          const std::string &name) {
  for (const ImportName &import : stmt.names) {
    std::string top = import.name.substr(0, import.name.find('.'));
    if (stmt.kind == StmtKind::ImportFrom) {
      if ((import.alias.empty() ? import.name : import.alias) == name) {
        return importedValue(emitter, stmt.text, import.name);
      }
    } else if ((import.alias.empty() ? top : import.alias) == name) {
      std::string path = import.alias.empty() ? top : import.name;
      if (isKnownModule(path)) {
        return Value::moduleNamed(path);
      }
      Value value;
      value.kind = Value::Kind::Import;
      value.text = path;
      return value;
    }
  }
  return std::nullopt;
}

static bool isTarget(const Stmt &stmt, const std::string &name) {
  for (const ExprPtr &target : stmt.targets) {
    if (target && target->kind == ExprKind::Name && target->text == name) {
      return true;
    }
  }
  return false;
}

static bool isImportOf(const Stmt &stmt, const std::string &name) {
  for (const ImportName &import : stmt.names) {
    std::string bound = import.alias.empty() ? import.name : import.alias;
    if (stmt.kind == StmtKind::Import && import.alias.empty()) {
      bound = bound.substr(0, bound.find('.'));
    }
    if (bound == name) {
      return true;
    }
  }
  return false;
}

/// The last statement of a file that gives the name a value. Of a `try` around imports it is the
/// first: what is written in its handlers comes after.
static const Stmt *bindingIn(const std::vector<StmtPtr> &list, const std::string &name,
                             bool wantsFirst = false) {
  const Stmt *found = nullptr;
  for (const StmtPtr &stmt : list) {
    const Stmt *binding = nullptr;
    switch (stmt->kind) {
    case StmtKind::FunctionDef:
      binding = stmt->function && stmt->function->name == name ? stmt.get() : nullptr;
      break;
    case StmtKind::Assign:
      binding = isTarget(*stmt, name) ? stmt.get() : nullptr;
      break;
    case StmtKind::AnnAssign:
      binding = stmt->value && isTarget(*stmt, name) ? stmt.get() : nullptr;
      break;
    case StmtKind::Import:
    case StmtKind::ImportFrom:
      binding = isImportOf(*stmt, name) ? stmt.get() : nullptr;
      break;
    case StmtKind::Opaque:
      binding = stmt->text == "try" ? bindingIn(stmt->body, name, true) : nullptr;
      break;
    default:
      break;
    }
    found = binding ? binding : found;
    if (found && wantsFirst) {
      break;
    }
  }
  return found;
}

static bool hasImports(const SourceModule &module) {
  for (const StmtPtr &stmt : module.body) {
    if (stmt->kind == StmtKind::Import || stmt->kind == StmtKind::ImportFrom) {
      return true;
    }
  }
  return false;
}

std::optional<Value> Emitter::global(const SourceModule &module, const std::string &name) {
  std::pair<const SourceModule *, std::string> key{&module, name};
  if (auto found = globals.find(key); found != globals.end()) {
    return found->second;
  }
  const Stmt *stmt = bindingIn(module.body, name);
  if (!stmt) {
    if (!hasImports(module) && (name == "tl" || name == "triton")) {
      return Value::moduleNamed(name == "tl" ? "triton.language" : "triton");
    }
    return std::nullopt;
  }
  Value value;
  if (stmt->kind == StmtKind::FunctionDef) {
    value.kind = Value::Kind::Function;
    value.function = stmt->function.get();
    value.module = &module;
  } else if (stmt->kind == StmtKind::Import || stmt->kind == StmtKind::ImportFrom) {
    value = importBinding(*this, *stmt, name).value_or(Value::none());
  } else {
    if (!globalsInProgress.insert(key).second) {
      return fail("E0219", "the value of '" + name + "' depends on itself");
    }
    Frame outside;
    outside.module = &module;
    Frame *inside = frame;
    outside.caller = inside;
    frame = &outside;
    value = evaluate(*stmt->value);
    frame = inside;
    globalsInProgress.erase(key);
    if (value.isTile()) {
      value = fail("E0219", "the value of '" + name + "' is not known when the kernel is compiled",
                   "make it a constant, e.g. " + name + " = tl.constexpr(16)");
    }
  }
  if (!value.isPoison()) { // an error may be rolled back; it must be found again then
    globals.emplace(key, value);
  }
  return value;
}

std::vector<std::string> Emitter::visibleNames() const {
  std::vector<std::string> names;
  for (const auto &[name, value] : frame->locals) {
    names.push_back(name);
  }
  for (const StmtPtr &stmt : frame->module->body) {
    if (stmt->kind == StmtKind::FunctionDef && stmt->function) {
      names.push_back(stmt->function->name);
    }
    for (const ExprPtr &target : stmt->targets) {
      if (target && target->kind == ExprKind::Name) {
        names.push_back(target->text);
      }
    }
    for (const ImportName &import : stmt->names) {
      names.push_back(import.alias.empty() ? import.name : import.alias);
    }
  }
  for (const std::string &name : builtinNames('P')) {
    names.push_back(name);
  }
  return names;
}

Value Emitter::lookup(const std::string &name) {
  if (auto found = frame->locals.find(name); found != frame->locals.end()) {
    return found->second;
  }
  // A name whose every assignment sits in a branch or loop is a local without a value: the global
  // of the same name must not shine through.
  auto lost = frame->lost.find(name);
  if (lost == frame->lost.end()) {
    if (std::optional<Value> value = global(*frame->module, name)) {
      return *value;
    }
    if (const BuiltinEntry *entry = findBuiltin(name, 'P')) {
      return builtinValue(entry);
    }
  }
  Diagnostic &diagnostic = error("E0202", "'" + name + "' is not defined");
  if (lost != frame->lost.end()) {
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
