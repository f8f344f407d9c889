// SPDX-License-Identifier: Apache-2.0
// A signature completed by what the kernel's decorators say.
#include "lib/language/host/KernelDecorators.h"

#include <algorithm>

namespace nereid::language {

/// `args` of a heuristic: constants as they are, run-time arguments as something that is not None.
static HostValue heuristicArguments(const Signature &signature) {
  std::vector<HostValue> items;
  for (const ParamType &param : signature.params) {
    items.push_back(HostValue::of(param.name));
    if (param.kind == ParamType::Kind::Constexpr) {
      items.push_back(HostValue::of(param.constant));
    } else {
      items.emplace_back();
      items.back().kind = HostValue::Kind::Given;
    }
  }
  return HostValue::dictOf(std::move(items));
}

static ParamType constantParam(const std::string &name, ConstValue value) {
  ParamType param;
  param.name = name;
  param.kind = ParamType::Kind::Constexpr;
  param.constant = std::move(value);
  return param;
}

static size_t positionOf(const FunctionDef &kernel, const std::string &name) {
  auto found = std::find_if(kernel.params.begin(), kernel.params.end(),
                            [&](const Param &param) { return param.name == name; });
  return static_cast<size_t>(found - kernel.params.begin());
}

/// Upstream's rule: a constant is always part of the specialization and cannot be left out of it.
static std::optional<Diagnostic> refuseUnspecialized(const SourceModule &module,
                                                     const FunctionDef &kernel,
                                                     const KernelDecorators &decorators) {
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const Param &param = kernel.params[i];
    auto isListed = [&](const std::vector<std::string> &list) {
      return std::any_of(list.begin(), list.end(), [&](const std::string &listed) {
        return listed == param.name || listed == std::to_string(i);
      });
    };
    const bool isPlain = isListed(decorators.doNotSpecialize);
    if (param.isConstexpr() && (isPlain || isListed(decorators.doNotSpecializeOnAlignment))) {
      return makeError("E0234", "expects a parameter to be one of two, but got " + param.name +
                                    " marked as constexpr and listed in do_not_specialize" +
                                    (isPlain ? "" : "_on_alignment"))
          .at(module.path, module.text, param.range)
          .withHelp("take it out of the list, or take its annotation away");
    }
  }
  return std::nullopt;
}

Result<Specialization> specialize(std::string_view text, const SourceModule &module,
                                  const FunctionDef &kernel, const KernelDecorators &decorators) {
  if (std::optional<Diagnostic> error = refuseUnspecialized(module, kernel, decorators)) {
    return std::move(*error);
  }
  Result<PartialSignature> read = parsePartialSignature(text, kernel);
  if (!read) {
    return std::move(read.error());
  }
  PartialSignature &partial = *read;
  Specialization out;
  KernelOptions chosen; // by the config, and by heuristics, which come later
  auto take = [&](const std::string &name, ConstValue value, std::string origin) {
    size_t at = positionOf(kernel, name);
    if (at < partial.params.size() && !partial.params[at]) {
      partial.params[at] = constantParam(name, std::move(value));
      out.origins.push_back({name, std::move(origin)});
    }
  };
  if (!decorators.configs.empty()) {
    out.config = decorators.configs[0];
    if (out.config->problem) {
      return *out.config->problem;
    }
    chosen = out.config->options;
    size_t count = decorators.configs.size();
    const std::string origin =
        count == 1 ? "the one config of triton.autotune"
                   : "the first of " + std::to_string(count) + " configs of triton.autotune";
    for (const auto &[name, value] : out.config->values) {
      take(name, value, origin);
    }
    for (const KernelOption &option : kernelOptions()) { // for parameters of their names
      const std::optional<int64_t> &value = chosen.*option.field;
      if (value || option.standard) {
        take(std::string(option.name), value ? *value : *option.standard, origin);
      }
    }
  }
  HostPython python(module);
  for (const auto &[name, function] : decorators.heuristics) {
    Signature known;
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      if (partial.params[i]) {
        known.params.push_back(*partial.params[i]);
      }
    }
    HostValue value = python.call(function, {heuristicArguments(known)});
    if (value.kind != HostValue::Kind::Constant) {
      continue;
    }
    const KernelOption *option = findCommonOption(name);
    if (!option || positionOf(kernel, name) < kernel.params.size()) {
      take(name, value.constant, "triton.heuristics");
    } else if (std::holds_alternative<std::monostate>(value.constant)) {
      continue; // None gives nothing
    } else if (std::optional<Diagnostic> error = setOption(chosen, *option, value.constant)) {
      SourceRange place = function.lambda ? function.lambda->range : kernel.nameRange;
      return error->at(module.path, module.text, place);
    }
  }
  completeOptions(partial.options, chosen);
  Result<Signature> signature = partial.complete();
  if (!signature) {
    return std::move(signature.error());
  }
  out.signature = std::move(*signature);
  return out;
}

std::string Specialization::text(const std::string &kernel) const {
  std::string out = "specialization of '" + kernel + "': " + signature.text() + "\n";
  for (const ParamType &param : signature.params) {
    for (const ValueOrigin &origin : origins) {
      if (origin.name == param.name) {
        out += "  " + param.name + " = " + constantText(param.constant) + ": " + origin.text + "\n";
      }
    }
  }
  return config ? out + "  config " + config->text() + "\n" : out;
}

} // namespace nereid::language
