// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/tuning/OpenConfigs.h"

#include "lib/bench/tuning/ConfigKey.h"
#include "lib/language/host/KernelDecorators.h"
#include "lib/launch/KernelReference.h"
#include "lib/pipeline/Compiler.h"
#include "lib/pipeline/SourceKernel.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::bench {
namespace {

using language::KernelConfig;
using language::KernelOption;

bool isGiven(const language::PartialSignature &given, const std::string &name) {
  for (size_t i = 0; i < given.params.size(); ++i) {
    if (given.kernel->params[i].name == name) {
      return given.params[i].has_value();
    }
  }
  return true; // no parameter: it would change nothing
}

bool hasParameter(const language::PartialSignature &given, const std::string &name) {
  return std::any_of(given.kernel->params.begin(), given.kernel->params.end(),
                     [&](const language::Param &param) { return param.name == name; });
}

/// "BLOCK=64", "num_warps=8": what the config says and the signature does not.
std::vector<std::string> addition(const KernelConfig &config,
                                  const language::PartialSignature &given) {
  std::vector<std::string> texts;
  for (const auto &[name, value] : config.values) {
    if (!isGiven(given, name)) {
      texts.push_back(fmt::format("{}={}", name, language::constantText(value)));
    }
  }
  for (const KernelOption &option : language::kernelOptions()) {
    if (!option.field || hasParameter(given, std::string(option.name))) {
      continue;
    }
    const auto &value = config.options.*option.field;
    if (value && !(given.options.*option.field)) {
      texts.push_back(fmt::format("{}={}", option.name, *value));
    }
  }
  return texts;
}

} // namespace

std::optional<OpenConfigs> openConfigs(const launch::KernelCase &one,
                                       const launch::Execution &execution,
                                       const std::string &machine, Diagnostics &diags) {
  const launch::KernelReference file = launch::parseKernelReference(one.kernel);
  pipeline::CompileInput input{.path = file.path,
                               .function = file.function,
                               .signature = one.signature,
                               .importPaths = execution.importPaths};
  const auto kernel = pipeline::readKernel(input, diags);
  if (!kernel) {
    return std::nullopt;
  }
  const auto decorators = language::readDecorators(*kernel->module, *kernel->function);
  auto given = language::parsePartialSignature(one.signature, *kernel->function);
  if (!given) {
    diags.add(given.error());
    return std::nullopt;
  }
  OpenConfigs open;
  for (const KernelConfig &config : decorators.configs) {
    const std::vector<std::string> more = addition(config, *given);
    if (more.empty()) {
      continue;
    }
    OpenConfig made{fmt::format("{}", fmt::join(more, ",")), one};
    made.asked.signature += fmt::format(", {}", fmt::join(more, ", "));
    const bool isKnown =
        std::any_of(open.configs.begin(), open.configs.end(), [&](const OpenConfig &other) {
          return other.asked.signature == made.asked.signature;
        });
    if (!isKnown) {
      open.configs.push_back(std::move(made));
    }
  }
  if (open.configs.size() < 2) {
    return OpenConfigs{};
  }
  open.key = configKey("configs", *kernel, one, execution, machine, decorators.key);
  return open;
}

} // namespace nereid::bench
