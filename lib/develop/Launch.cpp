// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/Launch.h"

#include "lib/eager/baseline/Eager.h"
#include "lib/generator/call/Overlap.h"
#include "lib/launch/KernelRunning.h"
#include "lib/support/AvailableMemory.h"
#include "lib/support/FirstError.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::develop {

using generator::Generation;
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

Status renewOutputs(const definition::Operator &op, std::span<const Tensor> inputs,
                    std::span<const Tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto input = generator::inputOf(op, i);
    runtime::LaunchError error;
    if (!input) {
      error = outputs[i].poison();
    } else {
      // Outputs of programs are contiguous, whatever the stride of a dimension of size 1 says.
      const Tensor dense = inputs[*input].to(outputs[i].dtype());
      error = outputs[i].copyFrom(Tensor::borrow(dense.data(), dense.shape(), dense.dtype(),
                                                 outputs[i].strides(), dense.device()));
    }
    if (error) {
      return makeError(error.code, error.message);
    }
  }
  return Done{};
}

/// The inputs as the kernels get them: one that is written is its output's memory.
static std::vector<Tensor> givenMemory(const Generation &generation, std::span<const Tensor> inputs,
                                       std::span<const Tensor> outputs) {
  std::vector<Tensor> given(inputs.begin(), inputs.end());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (const auto input = generator::inputOf(generation.op(), i)) {
      given[*input] = outputs[i];
    }
  }
  return given;
}

Result<std::vector<generator::CallPlan::Scratch>>
PreparedLaunch::workspaces(const Generation &generation, const generator::Schedule &schedule,
                           std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  auto plan =
      generator::planCall(generation, schedule, givenMemory(generation, inputs, outputs), outputs);
  if (!plan) {
    return plan.error();
  }
  return std::move(plan->workspaces);
}

Result<PreparedLaunch>
PreparedLaunch::prepare(const KernelSource &source, const Generation &generation,
                        const generator::Schedule &schedule, std::span<const Tensor> inputs,
                        std::span<const Tensor> outputs, std::span<const Tensor> workspaces) {
  PreparedLaunch result;
  if (definition::writesInputs(generation.op())) { // all others still have what it was
    if (Status renewed = renewOutputs(generation.op(), inputs, outputs); !renewed) {
      return renewed.error();
    }
  }
  const std::vector<Tensor> &given = result.inputs = givenMemory(generation, inputs, outputs);
  auto plan = generator::planCall(generation, schedule, given, outputs);
  if (!plan) {
    return plan.error();
  }
  result.callPlan = std::move(*plan);
  std::set<int> isWritten; // inputs are; of others, what an earlier launch has been passed
  for (const generator::LaunchPlan &launch : result.callPlan.launches) {
    Step &step = result.steps.emplace_back();
    step.input = {.path = source.path,
                  .function = launch.function,
                  .signature = launch.signature,
                  .source = source.text,
                  .importPaths = source.importPaths};
    auto kernel = kernelOf(source, step.input);
    if (!kernel) {
      return kernel.error();
    }
    step.kernel = std::move(*kernel);
    for (const generator::LaunchPlan::Argument &argument : launch.arguments) {
      const int *number = std::get_if<int>(&argument.value);
      if (number != nullptr && *number >= static_cast<int>(inputs.size()) &&
          isWritten.insert(*number).second) {
        step.emptyTensors.insert(argument.name);
      }
    }
  }
  auto arguments =
      generator::argumentsOf(result.callPlan, generation.called(), given, outputs, workspaces);
  if (!arguments) {
    return arguments.error();
  }
  result.arguments = std::move(*arguments);
  return result;
}

std::vector<std::string> PreparedLaunch::kernelNames() const {
  std::vector<std::string> names;
  for (const generator::LaunchPlan &launch : callPlan.launches) {
    names.push_back(launch.function);
  }
  return names;
}

bool PreparedLaunch::isOf(const generator::Schedule &wanted) const {
  // Constants of kernels that these sizes do not take say nothing.
  return std::all_of(wanted.constants.begin(), wanted.constants.end(), [&](const auto &each) {
    return schedule().get(each.first, each.second) == each.second;
  });
}

std::vector<bench::Launch> PreparedLaunch::launches() const {
  std::vector<bench::Launch> list;
  for (size_t i = 0; i < steps.size(); ++i) {
    list.push_back({&steps[i].kernel, callPlan.launches[i].grid, arguments.values[i]});
  }
  return list;
}

runtime::LaunchError PreparedLaunch::run(runtime::ThreadPool &pool,
                                         runtime::ProgramOrder order) const {
  runtime::LaunchError error;
  for (const bench::Launch &one : launches()) {
    error = error ? error : launch::launchHere(*one.kernel, one.grid, one.values, pool, order);
  }
  return error;
}

Result<check::FirstFinding> PreparedLaunch::check() const {
  for (size_t i = 0; i < steps.size(); ++i) {
    auto found = check::firstFinding(steps[i].input, callPlan.launches[i].grid, arguments.values[i],
                                     steps[i].emptyTensors);
    if (!found || !found->text.empty()) {
      return found;
    }
  }
  return check::FirstFinding();
}

Result<eager::Comparison> compareOutputs(const definition::Operator &op, const CaseTensors &tensors,
                                         DType dtype) {
  return eager::checkOutputs(op, tensors.inputs, tensors.outputs, dtype,
                             eager::Rounding::OncePerResult, runtime::defaultPool());
}

Result<CaseTensors> makeTensors(const Generation &generation, const definition::GridCase &grid,
                                DType dtype, double reserve) {
  double needed = definition::tensorBytes(generation.op(), grid.binding, dtype) + reserve;
  double available = availableMemory();
  if (needed > available) {
    return makeError("E0506", fmt::format("the case needs {:.0f} MiB, but {:.0f} MiB are available",
                                          needed / 1048576, available / 1048576))
        .withHelp("use a machine with more memory, or a smaller case in the definition");
  }
  CaseTensors result;
  auto inputs =
      definition::makeInputs(generation.op(), grid, dtype,
                             [](const definition::Operator &of, std::span<const Tensor> given) {
                               return eager::runGraph(of, given, runtime::defaultPool());
                             });
  if (!inputs) {
    return inputs.error();
  }
  for (size_t i = 0; i < inputs->size(); ++i) {
    if (!generation.op().parameters[i].isScalar) {
      result.inputs.push_back((*inputs)[i].view);
      result.memory.push_back((*inputs)[i]);
    }
  }
  auto number = static_cast<int64_t>(inputs->size()); // no two tensors have the same gap
  for (const auto &operand : generation.called().operands) {
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
        *shape, generator::operandType(operand, dtype), grid.layout,
        generation.denseDimensions(operand, grid.binding), definition::smallestGap + number++);
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
