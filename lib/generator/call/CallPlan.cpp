// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/call/CallPlan.h"

#include "lib/definition/operations/Shape.h"
#include "lib/generator/call/Overlap.h"
#include "lib/generator/call/TensorRows.h"
#include "lib/generator/launch/Choices.h"
#include "lib/generator/lower/Lower.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

constexpr int64_t alignment = 16;

/// Which tensors' first elements lie where wide accesses may begin; all when there are none yet.
using Alignment = std::function<bool(int operand)>;

/// Of tensors whose rows have gaps between them, by the table's names.
using Strides = std::map<std::string, int64_t>;

/// The launches of a program's table at the sizes of one call.
class ProgramPlanner {
public:
  ProgramPlanner(const Generation &generation, const definition::Binding &binding, DType dtype,
                 Alignment isAligned, const Strides &strides,
                 const std::map<std::string, double> &scalars, const LaunchSite &site,
                 const Schedule &schedule)
      : chosen(chosenBy(schedule)), called(generation.called()),
        table(generation.program.tables.at(dtype)), site(site), binding(binding),
        isAligned(std::move(isAligned)), strides(strides), scalars(scalars) {}

  Result<CallPlan> run() {
    std::map<std::string, int64_t> symbols = launchSymbols(binding);
    symbols.insert(strides.begin(), strides.end());
    auto launches = bindLaunch(table, symbols, site, chosen);
    if (!launches) {
      return launches.error();
    }
    auto elements = bindWorkspaces(table, symbols, site, chosen);
    if (!elements) {
      return elements.error();
    }
    CallPlan plan;
    for (size_t i = 0; i < table.workspaces.size(); ++i) {
      plan.workspaces.push_back(
          {table.workspaces[i].name, table.workspaces[i].dtype, (*elements)[i]});
    }
    for (size_t i = 0; i < launches->size(); ++i) {
      const BoundLaunch &bound = (*launches)[i];
      if (bound.programs > 0) {
        plan.launches.push_back(launch(table.kernels[i], bound));
      }
    }
    plan.schedule = scheduleOf(table, *launches, chosen);
    return plan;
  }

private:
  LaunchPlan launch(const LaunchEntry &entry, const BoundLaunch &bound) const {
    LaunchPlan plan;
    plan.function = bound.function;
    plan.grid = {bound.programs, 1, 1};
    plan.hasTurns = bound.tiles > bound.programs;
    auto sign = [&](const std::string &name, const std::string &type) {
      plan.signature += fmt::format("{}{}={}", plan.signature.empty() ? "" : ", ", name, type);
    };
    size_t size = 0;
    for (const LaunchArgument &argument : entry.arguments) {
      const std::string element(nereid::kernelName(argument.dtype));
      switch (argument.kind) {
      case StageArgument::Kind::Memory: {
        const int number = memoryNumber(argument.value);
        sign(argument.name, "*" + element + (isAligned(number) ? ":16" : ""));
        plan.arguments.push_back({argument.name, number});
        break;
      }
      case StageArgument::Kind::Number: {
        sign(argument.name, element);
        const double value = valueOf(argument.value);
        plan.arguments.push_back({argument.name, value});
        if (!isFloat(argument.dtype)) {
          plan.arguments.back().value = static_cast<int64_t>(value);
        }
        break;
      }
      case StageArgument::Kind::Size: {
        const int64_t value = bound.sizes[size++];
        const bool isWide = value != static_cast<int32_t>(value);
        sign(argument.name,
             fmt::format("{}{}", isWide ? "i64" : "i32", value % alignment == 0 ? ":16" : ""));
        plan.arguments.push_back({argument.name, value});
        break;
      }
      }
    }
    for (const auto &[name, value] : bound.constants) {
      sign(name, std::to_string(value));
      if (!isOfSizes(name)) {
        plan.schedule.constants.emplace_back(name, value);
      }
    }
    return plan;
  }

  /// Of an operand, or of a workspace behind them.
  int memoryNumber(const std::string &buffer) const {
    for (size_t i = 0; i < called.operands.size(); ++i) {
      if (called.operands[i].name == buffer) {
        return static_cast<int>(i);
      }
    }
    size_t i = 0;
    while (table.workspaces[i].name != buffer) {
      ++i;
    }
    return static_cast<int>(called.operands.size() + i);
  }

  double valueOf(const std::string &parameter) const {
    auto given = scalars.find(parameter);
    auto found = std::find_if(called.op.parameters.begin(), called.op.parameters.end(),
                              [&](const auto &one) { return one.name == parameter; });
    return given != scalars.end() ? given->second : found->value;
  }

  const ChosenValues chosen;
  const CalledOperator &called;
  const LaunchTable &table;
  const LaunchSite site;
  const definition::Binding &binding;
  const Alignment isAligned;
  const Strides &strides;
  const std::map<std::string, double> &scalars;
};

} // namespace

std::map<std::string, int64_t> launchSymbols(const definition::Binding &binding) {
  std::map<std::string, int64_t> symbols = binding.symbols;
  int64_t rest = 1;
  for (int64_t size : binding.rest) {
    rest *= size;
  }
  symbols.emplace(leadingSymbol([&](const std::string &name) { return symbols.contains(name); }),
                  rest);
  return symbols;
}

namespace {

bool areAllEmpty(const CalledOperator &called, const definition::Binding &binding) {
  auto shapes = outputShapes(called, binding);
  return shapes && std::all_of(shapes->begin(), shapes->end(), [](const auto &shape) {
           return std::find(shape.begin(), shape.end(), 0) != shape.end();
         });
}

Result<CallPlan> planProgram(const Generation &generation, const CheckedCall &call,
                             const Alignment &isAligned, const Strides &strides,
                             const std::map<std::string, double> &scalars, const LaunchSite &site,
                             const Schedule &schedule) {
  if (areAllEmpty(generation.called(), call.binding)) {
    return CallPlan{};
  }
  return ProgramPlanner(generation, call.binding, call.dtype, isAligned, strides, scalars, site,
                        schedule)
      .run();
}

/// Elements from row to row where the table's kernels take that.
std::optional<int64_t> strideIn(const TableStride *row, const Operand &operand,
                                const runtime::Tensor &tensor, const definition::Binding &binding) {
  return row ? rowStrideOf(tensor.shape(), tensor.strides(),
                           lastDimensions(operand, row->dims, binding))
             : std::nullopt;
}

} // namespace

size_t lastDimensions(const Operand &operand, size_t dims, const definition::Binding &binding) {
  size_t count = 0;
  for (size_t i = operand.shape.size() - dims; i < operand.shape.size(); ++i) {
    count += operand.shape[i].isRest() ? binding.rest.size() : 1;
  }
  return count;
}

int64_t CallPlan::programs() const {
  int64_t sum = 0;
  for (const LaunchPlan &launch : launches) {
    sum += launch.grid[0] * launch.grid[1] * launch.grid[2];
  }
  return sum;
}

bool canWriteTo(const Generation &generation, const Operand &output,
                const definition::Binding &binding, DType dtype, const runtime::Tensor &tensor) {
  const TableStride *row = generation.program.tables.at(dtype).strideOf(output.name);
  return tensor.isContiguous() || strideIn(row, output, tensor, binding);
}

Result<CallPlan> planCall(const Generation &generation, const Schedule &schedule,
                          const definition::Binding &binding, DType dtype) {
  if (Status fits = checkCall(generation.called(), binding, dtype); !fits) {
    return fits.error();
  }
  return planProgram(
      generation, {binding, dtype}, [](int) { return true; }, {}, {}, generation.site, schedule);
}

Result<CallPlan> planCall(const Generation &generation, const Schedule &schedule,
                          std::span<const runtime::Tensor> inputs,
                          std::span<const runtime::Tensor> outputs,
                          const std::map<std::string, double> &scalars,
                          std::optional<LaunchSite> site) {
  const CalledOperator &called = generation.called();
  auto call = checkCall(called, inputs, outputs, scalars);
  if (!call) {
    return call.error();
  }
  const auto written = inputsWritten(called, inputs, outputs);
  if (!written) {
    return written.error();
  }
  const LaunchTable &table = generation.program.tables.at(call->dtype);
  std::vector<int> copies;
  std::vector<const runtime::Tensor *> tensors;
  Strides strides;
  for (const Operand &operand : called.operands) {
    const size_t number = tensors.size();
    tensors.push_back(operand.isOutput ? &outputs[number - inputs.size()] : &inputs[number]);
    const runtime::Tensor &tensor = *tensors.back();
    if (std::find(written->begin(), written->end(), static_cast<int>(number)) != written->end()) {
      copies.push_back(static_cast<int>(number)); // without gaps, whatever strides the tensor has
      continue;
    }
    if (tensor.isContiguous()) {
      continue;
    }
    const TableStride *row = table.strideOf(operand.name);
    if (auto stride = strideIn(row, operand, tensor, call->binding)) {
      strides[row->name] = *stride;
      continue;
    }
    if (operand.isOutput) {
      return misfit(called, operand,
                    row ? "an output with evenly spaced rows" : "a contiguous output",
                    fmt::format("strides {}", definition::sizesText(tensor.strides())));
    }
    copies.push_back(static_cast<int>(number));
  }
  const auto isAligned = [&](int number) {
    const bool isOwn = number >= static_cast<int>(tensors.size()) ||
                       std::find(copies.begin(), copies.end(), number) != copies.end();
    return isOwn ||
           reinterpret_cast<uintptr_t>(tensors[static_cast<size_t>(number)]->data()) % alignment ==
               0;
  };
  auto plan = planProgram(generation, *call, isAligned, strides, scalars,
                          site.value_or(generation.site), schedule);
  if (plan) {
    plan->contiguousCopies = std::move(copies);
  }
  return plan;
}

Result<CallArguments> argumentsOf(const CallPlan &plan, const CalledOperator &called,
                                  std::span<const runtime::Tensor> inputs,
                                  std::span<const runtime::Tensor> outputs,
                                  std::span<const runtime::Tensor> workspaces) {
  using runtime::Tensor;
  CallArguments made;
  made.copies.reserve(plan.contiguousCopies.size()); // the arguments point into it
  made.workspaces.reserve(plan.workspaces.size());
  std::vector<const Tensor *> tensors;
  for (const Operand &operand : called.operands) {
    const auto number = static_cast<int>(tensors.size());
    const Tensor *tensor =
        operand.isOutput ? &outputs[tensors.size() - inputs.size()] : &inputs[tensors.size()];
    const auto &copied = plan.contiguousCopies;
    if (std::find(copied.begin(), copied.end(), number) != copied.end()) {
      made.copies.push_back(tensor->to(tensor->dtype()));
      tensor = &made.copies.back();
    }
    tensors.push_back(tensor);
  }
  for (const Tensor &given : workspaces) {
    tensors.push_back(&given);
  }
  const bool areGiven = !workspaces.empty();
  for (const CallPlan::Scratch &one :
       areGiven ? std::span<const CallPlan::Scratch>() : std::span(plan.workspaces)) {
    runtime::Device &device = tensors.back()->device();
    Tensor memory = tensors.back()->isOnHost() ? Tensor::empty({one.elements}, one.dtype)
                                               : Tensor::empty({one.elements}, one.dtype, device);
    if (!memory.isValid()) {
      return makeError("E0506",
                       fmt::format("a workspace of {} elements of {} does not fit in memory",
                                   one.elements, torchName(one.dtype)))
          .withHelp("use a machine with more memory, or smaller tensors");
    }
    if (runtime::LaunchError error = memory.poison()) {
      return makeError(error.code, error.message);
    }
    made.workspaces.push_back(std::move(memory));
    tensors.push_back(&made.workspaces.back());
  }
  for (const LaunchPlan &launch : plan.launches) {
    std::vector<runtime::ArgumentValue> &values = made.values.emplace_back();
    for (const LaunchPlan::Argument &argument : launch.arguments) {
      if (const int *number = std::get_if<int>(&argument.value)) {
        values.emplace_back(tensors[static_cast<size_t>(*number)]);
      } else if (const int64_t *integer = std::get_if<int64_t>(&argument.value)) {
        values.emplace_back(*integer);
      } else {
        values.emplace_back(std::get<double>(argument.value));
      }
    }
  }
  return made;
}

} // namespace nereid::generator
