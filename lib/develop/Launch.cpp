// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/Launch.h"

#include "lib/check/Check.h"
#include "lib/generator/TensorLayout.h"
#include "lib/launch/KernelRunning.h"
#include "lib/support/AvailableMemory.h"
#include "lib/support/FirstError.h"

#include <fmt/format.h>

namespace nereid::develop {

using generator::FusedOperator;
using runtime::Tensor;

static Result<runtime::Kernel> compile(const KernelSource &source,
                                       const pipeline::CompileInput &input) {
  Diagnostics diags;
  pipeline::CompileOptions options;
  options.target = source.target;
  options.chip = source.chip;
  auto kernel = pipeline::compileKernel(input, options, diags);
  return kernel ? Result<runtime::Kernel>(std::move(*kernel)) : firstError(diags);
}

static Result<runtime::Kernel> kernelOf(const KernelSource &source,
                                        const pipeline::CompileInput &input) {
  return source.compiled ? source.compiled->get(input.function, input.signature,
                                                [&] { return compile(source, input); })
                         : compile(source, input);
}

Result<PreparedLaunch> PreparedLaunch::prepare(const KernelSource &source,
                                               const FusedOperator &fused,
                                               const generator::Schedule &schedule,
                                               std::span<const Tensor> inputs,
                                               std::span<const Tensor> outputs) {
  PreparedLaunch result;
  auto plan = generator::planLaunch(fused, schedule, inputs, outputs);
  if (!plan) {
    return plan.error();
  }
  result.launchPlan = std::move(*plan);
  if (result.launchPlan.isEmpty) {
    return result;
  }
  result.input = {.path = source.path,
                  .function = result.launchPlan.function,
                  .signature = result.launchPlan.signature,
                  .source = source.text,
                  .importPaths = source.importPaths};
  auto kernel = kernelOf(source, result.input);
  if (!kernel) {
    return kernel.error();
  }
  result.kernel = std::move(*kernel);
  for (const generator::LaunchPlan::Argument &argument : result.launchPlan.arguments) {
    if (argument.isTensor() &&
        fused.operands[static_cast<size_t>(std::get<int>(argument.value))].isOutput) {
      result.emptyTensors.insert(argument.name);
    }
  }
  result.arguments =
      generator::argumentValues(result.launchPlan, fused, inputs, outputs, result.copies);
  return result;
}

runtime::LaunchError PreparedLaunch::run(runtime::ThreadPool &pool,
                                         runtime::ProgramOrder order) const {
  if (launchPlan.isEmpty) {
    return {};
  }
  return launch::launchHere(kernel, launchPlan.grid, arguments, pool, order);
}

Result<std::string> PreparedLaunch::check() const {
  if (launchPlan.isEmpty) {
    return std::string();
  }
  return check::firstFinding(input, launchPlan.grid, arguments, emptyTensors);
}

Result<eager::Comparison> compareOutputs(const FusedOperator &fused, const CaseTensors &tensors,
                                         DType dtype) {
  return eager::checkOutputs(fused.op, tensors.inputs, tensors.outputs, dtype,
                             eager::Rounding::OncePerResult, runtime::defaultPool());
}

Result<CaseTensors> makeTensors(const FusedOperator &fused, const definition::GridCase &grid,
                                DType dtype, double reserve) {
  double needed = definition::tensorBytes(fused.op, grid.binding, dtype) + reserve;
  double available = availableMemory();
  if (needed > available) {
    return makeError("E0506", fmt::format("the case needs {:.0f} MiB, but {:.0f} MiB are available",
                                          needed / 1048576, available / 1048576))
        .withHelp("use a machine with more memory, or a smaller case in the definition");
  }
  CaseTensors result;
  auto inputs = definition::makeInputs(fused.op, grid, dtype);
  if (!inputs) {
    return inputs.error();
  }
  for (size_t i = 0; i < inputs->size(); ++i) {
    if (!fused.op.parameters[i].isScalar) {
      result.inputs.push_back((*inputs)[i].view);
      result.memory.push_back((*inputs)[i]);
    }
  }
  auto number = static_cast<int64_t>(inputs->size()); // no two tensors have the same gap
  for (const auto &operand : fused.operands) {
    if (!operand.isOutput) {
      continue;
    }
    auto shape = definition::bind(operand.shape, grid.binding);
    if (!shape) {
      return shape.error();
    }
    // Callers of the wrapper get contiguous results; what the launcher takes besides is a gap
    // between the rows that the kernel walks, which may have several dimensions or none.
    auto output = definition::makeLaidOut(
        *shape, generator::operandType(operand, fused, dtype), grid.layout,
        generator::rowDimensions(fused, operand, grid.binding), definition::smallestGap + number++);
    if (!output.view.isValid()) {
      return makeError("E0506", fmt::format("output '{}' does not fit in memory", operand.name))
          .withHelp("use a machine with more memory, or a smaller case in the definition");
    }
    output.view.poison();
    result.outputs.push_back(output.view);
    result.memory.push_back(std::move(output));
  }
  return result;
}

} // namespace nereid::develop
