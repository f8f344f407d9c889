// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/KernelLauncher.h"

#include "lib/cli/Command.h"
#include "lib/cli/FaultReport.h"
#include "lib/language/KernelDecorators.h"
#include "lib/language/Parser.h"
#include "runtime/ThreadPool.h"

#include <fmt/format.h>

namespace nereid::cli {

namespace {

/// The named kernel, or the file's only one.
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
  const language::FunctionDef *found = module.find(name);
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

} // namespace

std::optional<PreparedKernel> PreparedKernel::prepare(const std::string &reference,
                                                      const std::string &signatureText,
                                                      const std::vector<std::string> &importPaths,
                                                      const std::string &target, bool useCache,
                                                      bool interpret, Diagnostics &diags) {
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
  const language::Signature *signature = &special->signature;
  PreparedKernel result;
  result.matchedSignature = *signature;
  result.input = {.path = file.path,
                  .function = function->name,
                  .signature = signature->text(),
                  .importPaths = importPaths};
  result.interpreted = interpret;
  result.kernel.info.name = function->name;
  if (!interpret) {
    pipeline::CompileOptions options;
    options.target = target;
    options.useCache = useCache;
    auto kernel = pipeline::compileKernel(result.input, options, diags);
    if (!kernel) {
      return std::nullopt;
    }
    result.kernel = std::move(*kernel);
  }
  return result;
}

bool PreparedKernel::launch(runtime::Grid grid, const KernelArguments &arguments,
                            Diagnostics &diags) const {
  std::vector<runtime::ArgumentValue> values = arguments.values();
  if (interpreted) {
    return pipeline::interpretKernel(input, grid, values, diags);
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
