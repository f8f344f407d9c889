// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/verification/CaseTrial.h"

#include "lib/bench/verification/Verification.h"
#include "lib/check/Check.h"
#include "lib/launch/KernelRunning.h"
#include "lib/support/FirstError.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace nereid::bench {

using launch::KernelArguments;
using launch::KernelCase;
using launch::PreparedKernel;
namespace {

using runtime::Tensor;

/// In the order of `arguments.tensors`.
std::vector<verify::TrialTensor> trialTensors(const KernelCase &testCase,
                                              const PreparedKernel &kernel,
                                              const KernelArguments &arguments) {
  const std::set<std::string> changed = changedNames(testCase);
  std::vector<verify::TrialTensor> tensors;
  for (const auto &[name, tensor] : arguments.tensors) {
    verify::TrialTensor one{name, tensor};
    one.isWorkspace = testCase.workspaces.contains(name);
    if (changed.contains(name)) {
      one.role = startsEmpty(testCase, name) ? verify::Role::Output : verify::Role::InOut;
    }
    // No better aligned than the signature promises.
    one.alignment = sizeInBytes(tensor.dtype());
    for (const language::ParamType &param : kernel.signature().flattened()) {
      const bool isDescriptor = param.kind == language::ParamType::Kind::Descriptor;
      const auto promised = static_cast<size_t>(isDescriptor ? 16 : param.divisibility);
      one.alignment = param.name == name ? std::max(one.alignment, promised) : one.alignment;
    }
    tensors.push_back(std::move(one));
  }
  return tensors;
}

/// Its tensors can be placed between forbidden pages, and the launch is this process's own.
bool canInspect(const PreparedKernel &kernel, const KernelArguments &arguments) {
  return kernel.compiled().entry != nullptr && arguments.views.empty() &&
         std::all_of(arguments.tensors.begin(), arguments.tensors.end(),
                     [](const auto &one) { return one.second.isContiguous(); });
}

void take(Tensor &into, const Tensor &from) {
  if (from.byteCount() > 0) { // one without elements may have no address
    std::memcpy(into.data(), from.data(), from.byteCount());
  }
}

/// Leaves the outputs of a trial in the arguments it was made with.
void takeOutputs(const KernelCase &testCase, const std::vector<Tensor> &computed,
                 KernelArguments &arguments) {
  const std::set<std::string> outputs = outputNames(testCase);
  size_t next = 0;
  for (auto &[name, tensor] : arguments.tensors) {
    const Tensor &one = computed[next++];
    if (outputs.contains(name)) {
      take(tensor, one);
    }
  }
}

/// Where nothing can be placed between forbidden pages: inputs are compared with what they were.
Result<TriedLaunch> launchOnCopies(const KernelCase &testCase, const PreparedKernel &kernel,
                                   runtime::Grid grid, KernelArguments &arguments,
                                   Diagnostics &diags) {
  KernelArguments copies = arguments.clone();
  if (!kernel.launch(grid, copies, diags)) {
    return firstError(diags);
  }
  const std::set<std::string> outputs = outputNames(testCase);
  for (auto &[name, tensor] : arguments.tensors) {
    const Tensor &after = copies.tensors.at(name);
    const bool sharesMemory = !arguments.views.empty(); // an output's writes are an input's changes
    if (outputs.contains(name)) {
      take(tensor, after);
    } else if (!sharesMemory && !testCase.workspaces.contains(name) &&
               std::memcmp(tensor.data(), after.data(), tensor.byteCount()) != 0) {
      return TriedLaunch{fmt::format("input '{}' is changed", name), std::nullopt};
    }
  }
  return TriedLaunch();
}

} // namespace

Result<std::string> checkLaunch(const KernelCase &testCase, const PreparedKernel &kernel,
                                runtime::Grid grid, const KernelArguments &arguments) {
  if (!canInspect(kernel, arguments)) {
    return std::string();
  }
  KernelArguments copies = arguments.clone();
  if (Status reset = resetOutputs(testCase, copies); !reset) {
    return reset.error();
  }
  std::set<std::string> empty = changedNames(testCase);
  std::erase_if(empty, [&](const std::string &name) { return !startsEmpty(testCase, name); });
  auto found = check::firstFinding(kernel.compileInput(), grid, copies.values(), std::move(empty));
  return found ? Result<std::string>(std::move(found->text)) : found.error();
}

Result<TriedLaunch> tryLaunch(const KernelCase &testCase, const PreparedKernel &kernel,
                              runtime::Grid grid, KernelArguments &arguments,
                              const LaunchTrial &how, Diagnostics &diags) {
  if (!canInspect(kernel, arguments)) {
    return launchOnCopies(testCase, kernel, grid, arguments, diags);
  }
  auto launch = [&](std::span<const Tensor> tensors, const verify::LaunchWay &way) -> Status {
    KernelArguments placed = arguments;
    size_t next = 0;
    for (auto &[name, tensor] : placed.tensors) {
      tensor = tensors[next++];
    }
    auto error = launch::launchHere(kernel.compiled(), grid, placed.values(), *way.pool, way.order);
    return error ? Status(makeError(error.code, error.message)) : Done{};
  };
  // Sums that programs add up in memory, or under a lock, follow the programs' order.
  const bool mayVary = kernel.info().addsFloats || kernel.info().isBlocking;
  auto tried = inspectLaunch(
      trialTensors(testCase, kernel, arguments), launch, {mayVary, how.seed},
      {[&] { return checkLaunch(testCase, kernel, grid, arguments); }, how.isCheckedAlready});
  if (!tried) {
    return tried.error();
  }
  if (tried->fault == verify::Fault::Found) {
    return TriedLaunch{std::move(tried->text), std::nullopt};
  }
  takeOutputs(testCase, tried->tensors, arguments);
  TriedLaunch result{std::move(tried->text), std::nullopt};
  if (!tried->others.empty()) {
    result.again = arguments.clone();
    takeOutputs(testCase, tried->others, *result.again);
  }
  return result;
}

} // namespace nereid::bench
