// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/KernelLauncher.h"

#include "lib/cli/Command.h"
#include "lib/cli/FaultReport.h"
#include "lib/language/KernelDecorators.h"
#include "lib/language/Parser.h"
#include "lib/targets/cpu/CpuTarget.h"
#include "runtime/ThreadPool.h"

#include <fmt/format.h>

namespace nereid::cli {

const language::FunctionDef *findKernel(const language::SourceModule &module,
                                        const std::string &function, Diagnostics &diags) {
  std::vector<std::string> kernels = module.jitFunctions();
  std::string name = function;
  if (name.empty()) {
    if (kernels.size() != 1) {
      diags.add(
          makeError("E0014",
                    fmt::format("'{}' expects one kernel, but has {}", module.path, kernels.size()))
              .withHelp(kernels.empty() ? std::string("decorate a function with @triton.jit")
                                        : fmt::format("name one of them: {}:{{{}}}", module.path,
                                                      fmt::join(kernels, ", "))));
      return nullptr;
    }
    name = kernels[0];
  }
  Diagnostics remarks; // which the compiler makes again
  const language::FunctionDef *found = language::kernelNamed(module, name, remarks);
  if (found != nullptr && found->isJit()) {
    return found;
  }
  auto error = makeError("E0014", fmt::format("'{}' has no kernel '{}'", module.path, name));
  auto near = nearestNames(name, kernels);
  if (!near.empty()) {
    error.note(fmt::format("nearest name: '{}'", near[0]));
  }
  diags.add(error.withHelp("name a function decorated with @triton.jit"));
  return nullptr;
}

std::optional<PreparedKernel> PreparedKernel::prepare(const std::string &reference,
                                                      const std::string &signatureText,
                                                      const std::vector<std::string> &importPaths,
                                                      const Execution &execution,
                                                      Diagnostics &diags) {
  KernelReference file = parseKernelReference(reference);
  auto module = language::parseFile(file.path, diags);
  if (!module) {
    return std::nullopt;
  }
  const language::FunctionDef *function = findKernel(*module, file.function, diags);
  if (function == nullptr) {
    return std::nullopt;
  }
  auto special = language::specialize(signatureText, *module, *function,
                                      language::readDecorators(*module, *function));
  if (!special) {
    diags.add(special.error());
    return std::nullopt;
  }
  if (std::optional<Diagnostic> error = language::refuseRanges(special->signature)) {
    diags.add(std::move(*error));
    return std::nullopt;
  }
  const language::Signature *signature = &special->signature;
  PreparedKernel result;
  result.matchedSignature = *signature;
  result.input = {.path = file.path,
                  .function = function->name,
                  .signature = signature->text(),
                  .importPaths = importPaths};
  result.kernel.info.name = function->name;
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
  options.useCache = execution.useCache;
  auto compiled = pipeline::compileKernel(input, options, diags);
  if (compiled) {
    kernel = std::move(*compiled);
    printWarnings(diags);
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
  options.target = execution.target;
  if (execution.target == "cpu") {
    Result<std::string> target = cpu::targetOffering(runner->architecture(), runner->features());
    if (!target) {
      diags.add(target.error());
      return false;
    }
    options.target = *target;
  }
  auto output = pipeline::compile(input, options, diags);
  if (!output) {
    return false;
  }
  printWarnings(diags);
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
    const bool isDone = pipeline::interpretKernel(input, grid, values, diags);
    printWarnings(diags);
    return isDone;
  }
  if (runner) {
    if (auto error = runner->launch(remoteKernel, grid, values)) {
      diags.add(makeError(error.code, error.message));
      return false;
    }
    return true;
  }
  KernelRunning running;
  auto error = runtime::launch(kernel, grid, values, runtime::defaultPool());
  if (error) {
    diags.add(makeError(error.code, error.message));
    return false;
  }
  return true;
}

} // namespace nereid::cli
