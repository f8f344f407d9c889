// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/kernel/ForeignKernel.h"

#include "lib/pipeline/Target.h"
#include "runtime/Device.h"

namespace nereid::pipeline {
namespace {

/// How many threads the programs of a launch have. E0316.
Result<uint32_t> threadsOf(const ForeignSource &source, const ForeignCode &code, uint32_t threads) {
  const std::string who = "kernel '" + source.function + "' of '" + source.path + "'";
  if (threads == 0 && code.threads == 0) {
    return makeError("E0316", "nothing says how many threads a program of " + who + " has")
        .withHelp("write __launch_bounds__(THREADS) in its source, or 'threads' in the case");
  }
  const bool fits = threads == 0 || code.threads == 0 ||
                    (code.isThreadsMost ? threads <= code.threads : threads == code.threads);
  if (!fits) {
    return makeError("E0316", "a program of " + who + " expects " +
                                  (code.isThreadsMost ? "at most " : "") +
                                  std::to_string(code.threads) + " threads, but the case gives " +
                                  std::to_string(threads));
  }
  return threads == 0 ? code.threads : threads;
}

Result<runtime::Device *> deviceOf(const std::string &target) {
  auto found =
      runtime::findDevice(namesDevice(target) ? target : target.substr(0, target.find(':')));
  if (const auto *error = std::get_if<runtime::LaunchError>(&found)) {
    return makeError(error->code, error->message);
  }
  return std::get<runtime::Device *>(found);
}

} // namespace

Result<runtime::Kernel> loadForeign(const ForeignSource &source, const std::string &target,
                                    uint32_t threads) {
  Result<Target *> found = findTarget(target);
  if (!found) {
    return found.error();
  }
  Result<ForeignCode> code = (*found)->compileForeign(source);
  if (!code) {
    return code.error();
  }
  Result<uint32_t> used = threadsOf(source, *code, threads);
  if (!used) {
    return used.error();
  }
  Result<runtime::Device *> device = deviceOf(target);
  if (!device) {
    return device.error();
  }
  auto loaded = (*device)->load(code->object);
  if (const auto *error = std::get_if<runtime::LaunchError>(&loaded)) {
    return makeError(error->code, "kernel '" + source.function + "' of '" + source.path +
                                      "' cannot be loaded on '" + (*device)->name() +
                                      "': " + error->message)
        .note("it was compiled by " + code->compiler);
  }
  runtime::Kernel kernel;
  kernel.code = std::get<0>(std::move(loaded));
  kernel.entry = reinterpret_cast<runtime::KernelEntry>(kernel.code->symbol(code->symbol));
  kernel.info.name = source.function;
  kernel.info.arguments = source.arguments;
  kernel.info.threads = *used;
  if (!kernel.entry) {
    return makeError("E0390", "the code that " + code->compiler + " has made of '" + source.path +
                                  "' has no function '" + code->symbol + "' on '" +
                                  (*device)->name() + "'");
  }
  return kernel;
}

} // namespace nereid::pipeline
