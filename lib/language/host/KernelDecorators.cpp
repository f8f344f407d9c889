// SPDX-License-Identifier: Apache-2.0
#include "lib/language/host/KernelDecorators.h"

#include <algorithm>
#include <map>
#include <set>

namespace nereid::language {
namespace {

using Kind = HostValue::Kind;

std::string decoratorName(const Expr &decorator) {
  const Expr &callee = decorator.kind == ExprKind::Call ? *decorator.operands[0] : decorator;
  return callee.text;
}

const std::string *textOf(const HostValue &value) {
  return value.kind == Kind::Constant ? std::get_if<std::string>(&value.constant) : nullptr;
}

std::vector<std::string> textsOf(const HostValue &value) {
  std::vector<std::string> texts;
  if (value.kind == Kind::List) {
    for (const HostValue &item : *value.items) {
      if (const std::string *text = textOf(item)) {
        texts.push_back(*text);
      } else if (item.kind == Kind::Constant) {
        texts.push_back(constantText(item.constant));
      }
    }
  }
  return texts;
}

KernelConfig configOf(const HostValue &value, const SourceModule &module) {
  KernelConfig config;
  for (size_t i = 0; i + 1 < value.items->size(); i += 2) {
    const HostValue &key = (*value.items)[i], &entry = (*value.items)[i + 1];
    if (textOf(key) && entry.kind == Kind::Constant) {
      config.values.emplace_back(*textOf(key), entry.constant);
    }
  }
  for (const KernelOption &option : kernelOptions()) {
    auto given = value.options.find(std::string(option.name));
    if (given == value.options.end() || std::holds_alternative<std::monostate>(given->second)) {
      continue;
    }
    std::optional<Diagnostic> problem = setOption(config.options, option, given->second);
    if (problem && !config.problem) {
      config.problem = problem->at(module.path, module.text, value.written->range);
    }
  }
  auto hook = value.options.find("pre_hook");
  config.hasPreHook = hook != value.options.end() && hook->second.index() != 0;
  return config;
}

class Reader {
public:
  Reader(const SourceModule &module, const FunctionDef &kernel, KernelDecorators &out)
      : module(module), kernel(kernel), python(module), out(out) {}

  void read(const Expr &decorator) {
    std::string name = decoratorName(decorator);
    if (name == "jit") {
      readJit(decorator);
    } else if (name == "autotune") {
      readAutotune(decorator);
    } else if (name == "heuristics") {
      readHeuristics(decorator);
    } else if (name != "constexpr_function" && name != "constexpr" && name != "must_use_result") {
      remark("R0202", "the decorator '" + name + "' is not known and has no effect here",
             decorator.range);
    }
  }

  /// Of the names that the decorators' arguments use.
  void remarkOpenConditions() {
    for (const Stmt *stmt : python.openConditions()) {
      out.remarks.add(openConditionRemark(module, *stmt));
    }
  }

private:
  void remark(std::string code, std::string message, SourceRange range) {
    Diagnostic diagnostic = makeError(std::move(code), std::move(message));
    diagnostic.severity = Severity::Remark;
    diagnostic.at(module.path, module.text, range);
    out.remarks.add(std::move(diagnostic));
  }

  /// The arguments of a decorator by name; positional ones take the names given.
  std::map<std::string, HostValue> arguments(const Expr &decorator,
                                             std::initializer_list<const char *> positional) {
    std::map<std::string, HostValue> values;
    HostLocals none;
    if (decorator.kind != ExprKind::Call) {
      return values;
    }
    auto name = positional.begin();
    for (size_t i = 1; i < decorator.operands.size() && name != positional.end(); ++i) {
      values[*name++] = python.evaluate(*decorator.operands[i], none);
    }
    for (const Keyword &keyword : decorator.keywords) {
      values[keyword.name] = python.evaluate(*keyword.value, none);
    }
    return values;
  }

  void readJit(const Expr &decorator) {
    static const std::vector<std::string> known = {"repr", "launch_metadata", "version", "device",
                                                   "fn",   "interpret"};
    for (const auto &[name, value] : arguments(decorator, {})) {
      if (name == "do_not_specialize") {
        out.doNotSpecialize = textsOf(value);
      } else if (name == "do_not_specialize_on_alignment") {
        out.doNotSpecializeOnAlignment = textsOf(value);
      } else if (name == "noinline" || name == "debug") {
        (name == "debug" ? out.isDebug : out.isNoinline) = HostPython::truth(value) == 1;
      } else if (std::find(known.begin(), known.end(), name) == known.end()) {
        remark("R0202", "the option '" + name + "' of triton.jit is not known and has no effect",
               decorator.range);
      }
    }
  }

  void readAutotune(const Expr &decorator) {
    std::map<std::string, HostValue> given = arguments(decorator, {"configs", "key"});
    const HostValue &configs = given["configs"];
    if (configs.kind == Kind::List) {
      for (const HostValue &config : *configs.items) {
        if (config.kind == Kind::Config) {
          out.configs.push_back(configOf(config, module));
          remarkUnknown(config);
        }
      }
    }
    if (out.configs.empty()) {
      remark("R0203", "the configs of triton.autotune are not written in this file",
             decorator.range);
    }
    out.key = textsOf(given["key"]);
    out.resetToZero = textsOf(given["reset_to_zero"]);
    out.restoreValue = textsOf(given["restore_value"]);
    out.hasPruning = isGiven(given["prune_configs_by"]) || given.count("early_config_prune");
  }

  /// Keywords and entries of a config that nothing here takes, each name once.
  void remarkUnknown(const HostValue &config) {
    auto check = [&](const std::string &name, bool isTaken) {
      if (!isTaken && unknown.insert(name).second) {
        remark("R0202", "the option '" + name + "' of triton.Config is not known and has no effect",
               config.written->range);
      }
    };
    for (const auto &[name, value] : config.options) {
      check(name, findCommonOption(name) || name == "kwargs" || name == "pre_hook" ||
                      name == "ir_override");
    }
    for (size_t i = 0; i < config.items->size(); i += 2) {
      if (const std::string *name = textOf((*config.items)[i])) {
        check(*name, std::any_of(kernel.params.begin(), kernel.params.end(),
                                 [&](const Param &param) { return param.name == *name; }));
      }
    }
  }

  void readHeuristics(const Expr &decorator) {
    HostValue values = arguments(decorator, {"values"})["values"];
    if (values.kind != Kind::Dict) {
      remark("R0203", "the functions of triton.heuristics are not written in this file",
             decorator.range);
      return;
    }
    for (size_t i = 0; i + 1 < values.items->size(); i += 2) {
      if (const std::string *name = textOf((*values.items)[i])) {
        out.heuristics.emplace_back(*name, (*values.items)[i + 1]);
      }
    }
  }

  const SourceModule &module;
  const FunctionDef &kernel;
  HostPython python;
  KernelDecorators &out;
  std::set<std::string> unknown; ///< options that a remark has named
};

} // namespace

std::string KernelConfig::text() const {
  std::string out;
  for (const auto &[name, value] : values) {
    out += name + "=" + constantText(value) + ",";
  }
  KernelOptions shown = options; // the two that every launch has are shown always
  shown.numWarps = options.warps();
  shown.numStages = options.stages();
  return out + shown.text().substr(1);
}

KernelDecorators readDecorators(const SourceModule &module, const FunctionDef &kernel) {
  KernelDecorators out;
  Reader reader(module, kernel, out);
  for (const ExprPtr &decorator : kernel.decorators) {
    reader.read(*decorator);
  }
  reader.remarkOpenConditions();
  return out;
}

const FunctionDef *kernelNamed(const SourceModule &module, const std::string &name,
                               Diagnostics &remarks) {
  HostPython python(module);
  const FunctionDef *found = python.functionNamed(name);
  for (const Stmt *stmt : python.openConditions()) {
    remarks.add(openConditionRemark(module, *stmt));
  }
  return found;
}

} // namespace nereid::language
