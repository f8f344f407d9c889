// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/tuning/ConfigKey.h"

#include "lib/pipeline/KernelCache.h"

#include <fmt/format.h>

#include <map>

namespace nereid::bench {
namespace {

/// Makers of arguments by name.
std::map<std::string, std::string> makersOf(const launch::KernelCase &one) {
  std::map<std::string, std::string> makers;
  for (const std::string &argument : one.arguments) {
    if (const size_t equals = argument.find('='); equals != std::string::npos) {
      makers[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
  }
  return makers;
}

} // namespace

std::string configKey(const std::string &among, const pipeline::SourceKernel &kernel,
                      const launch::KernelCase &one, const launch::Execution &execution,
                      const std::string &machine, const std::vector<std::string> &names) {
  std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", among, pipeline::compilerBuildId(), kernel.text,
                  kernel.function->name, one.signature, execution.target, execution.chip, machine);
  const std::map<std::string, std::string> makers = makersOf(one);
  for (const std::string &name : names) {
    const auto maker = makers.find(name);
    key += fmt::format("\n{}={}", name, maker == makers.end() ? "" : maker->second);
  }
  return key;
}

std::vector<std::string> scalarArguments(const launch::KernelCase &one) {
  std::vector<std::string> names;
  for (const auto &[name, maker] : makersOf(one)) {
    if (maker.find('(') == std::string::npos) { // no tensor
      names.push_back(name);
    }
  }
  return names;
}

} // namespace nereid::bench
