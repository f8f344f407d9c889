// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/PreparedKernel.h"

#include "lib/launch/KernelReference.h"
#include "lib/launch/KernelRunning.h"
#include "lib/pipeline/Target.h"
#include "runtime/ThreadPool.h"

#include <fmt/format.h>

namespace nereid::launch {

std::optional<PreparedKernel> PreparedKernel::prepare(const std::string &reference,
                                                      const std::string &signatureText,
                                                      const Execution &execution,
                                                      Diagnostics &diags) {
  KernelReference file = parseKernelReference(reference);
  PreparedKernel result;
  result.input = {.path = file.path,
                  .function = file.function,
                  .signature = signatureText,
                  .importPaths = execution.importPaths};
  result.input.kernel = pipeline::readKernel(result.input, diags);
  if (!result.input.kernel) {
    return std::nullopt;
  }
  result.input.function = result.input.kernel->function->name;
  result.input.signature = result.signature().text();
  result.kernel.info.name = result.input.function;
  result.interpreted = execution.interpret;
  if (!execution.interpret &&
      !(execution.runner.empty() ? result.compileHere(execution, diags)
                                 : result.compileForRunner(execution, diags))) {
    return std::nullopt;
  }
  return result;
}

bool PreparedKernel::compileHere(const Execution &execution, Diagnostics &diags) {
  pipeline::CompileOptions options;
  options.target = execution.target;
  options.chip = execution.chip;
  options.useCache = execution.useCache;
  auto compiled = pipeline::compileKernel(input, options, diags);
  if (compiled) {
    kernel = std::move(*compiled);
  }
  return compiled.has_value();
}

bool PreparedKernel::compileForRunner(const Execution &execution, Diagnostics &diags) {
  auto started = runtime::remote::Runner::start(execution.runner);
  if (const auto *problem = std::get_if<std::string>(&started)) {
    diags.add(
        makeError("E0414", *problem)
            .withHelp("the command must start nereid-runner, for example "
                      "\"ssh board ./nereid-runner\"; docs/processors.md says how to build it"));
    return false;
  }
  runner = std::move(std::get<0>(started));
  pipeline::CompileOptions options;
  options.useCache = execution.useCache;
  options.chip = execution.chip;
  Result<std::string> target =
      pipeline::targetNameOn(execution.target, runner->architecture(), runner->features());
  if (!target) {
    diags.add(target.error());
    return false;
  }
  options.target = *target;
  auto output = pipeline::compile(input, options, diags);
  if (!output) {
    return false;
  }
  kernel.info = output->info;
  auto loaded = runner->load(output->info, output->object);
  if (const auto *error = std::get_if<runtime::LaunchError>(&loaded)) {
    diags.add(makeError(error->code, error->message));
    return false;
  }
  remoteKernel = std::get<uint64_t>(loaded);
  return true;
}

bool PreparedKernel::launch(runtime::Grid grid, const KernelArguments &arguments,
                            Diagnostics &diags) const {
  std::vector<runtime::ArgumentValue> values = arguments.values();
  if (interpreted) {
    return pipeline::interpretKernel(input, grid, values, diags);
  }
  if (runner) {
    if (auto error = runner->launch(remoteKernel, grid, values)) {
      diags.add(makeError(error.code, error.message));
      return false;
    }
    return true;
  }
  if (auto error = launchHere(kernel, grid, values, runtime::defaultPool())) {
    diags.add(makeError(error.code, error.message));
    return false;
  }
  return true;
}

} // namespace nereid::launch
