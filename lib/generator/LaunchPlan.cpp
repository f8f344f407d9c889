// SPDX-License-Identifier: Apache-2.0
// Plans launches, see LaunchPlan.h.
#include "lib/generator/LaunchPlan.h"

#include "lib/definition/operations/Shape.h"
#include "lib/generator/ScheduleRules.h"
#include "lib/generator/TensorLayout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace nereid::generator {
namespace {

using Kind = KernelParameter::Kind;
constexpr int64_t largestI32 = std::numeric_limits<int32_t>::max();
constexpr int64_t alignment = 16;

struct TensorView {
  std::vector<int64_t> sizes, strides;
  bool isAligned = true;
};

class Planner {
public:
  Planner(const FusedOperator &fused, const Schedule &schedule, const definition::Binding &binding,
          DType dtype)
      : fused(fused), binding(binding), dtype(dtype) {
    plan.schedule = schedule;
  }

  Result<LaunchPlan> run(std::vector<TensorView> views,
                         const std::map<std::string, double> &given) {
    for (size_t i = 0; i < views.size(); ++i) {
      place(static_cast<int>(i), views[i]);
    }
    CaseSizes sizes = sizesOf(fused, binding, dtype);
    bool needsRows = plan.schedule.variant == KernelVariant::Flat && !areAllFlat;
    if (needsRows) {
      plan.schedule = ruleFor(KernelVariant::Tiles, sizes, genericMachine())
                          .with("STREAMING", plan.schedule.get("STREAMING"));
    }
    std::string why;
    if (!isValid(plan.schedule, fused, sizes, &why)) {
      return makeError("E0612",
                       fmt::format("schedule '{}' does not fit: {}", plan.schedule.text(), why))
          .withHelp("take the schedule from firstSchedule or scheduleSpace for these sizes");
    }
    plan.isEmpty = hasEmptyOutput();
    plan.function = kernelName(fused, plan.schedule.variant);
    setGrid(sizes);
    isWide = largestOffset(sizes) > largestI32;
    for (const KernelParameter &parameter : kernelParameters(fused, plan.schedule.variant)) {
      addParameter(parameter, views, given);
    }
    if (const int64_t warps = plan.schedule.get(warpsName, 0)) {
      sign(warpsName, std::to_string(warps));
    }
    return std::move(plan);
  }

private:
  void place(int operandNumber, TensorView &view) {
    const Operand &operand = fused.operands[static_cast<size_t>(operandNumber)];
    TensorLayout layout = layoutOf(fused, operand, binding, view.sizes, view.strides);
    if (!layout.isUsable) {
      plan.contiguousCopies.push_back(operandNumber);
      view.strides = contiguousStrides(view.sizes);
      view.isAligned = true;
      layout = layoutOf(fused, operand, binding, view.sizes, view.strides);
    }
    areAllFlat &= layout.isFlat;
    layouts.push_back(std::move(layout));
  }

  bool hasEmptyOutput() const {
    auto shapes = outputShapes(fused, binding);
    for (const std::vector<int64_t> &shape : *shapes) {
      if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
        return true;
      }
    }
    return false;
  }

  void setGrid(const CaseSizes &sizes) {
    auto programs = [](int64_t count, int64_t block) { return (count + block - 1) / block; };
    const Schedule &s = plan.schedule;
    switch (s.variant) {
    case KernelVariant::Flat:
      plan.grid = {programs(sizes.elements(), s.get("BLOCK")), 1, 1};
      break;
    case KernelVariant::Tiles: {
      int64_t m = programs(sizes.rows, s.get("BLOCK_M"));
      int64_t n = programs(sizes.columns, s.get("BLOCK_N"));
      plan.grid = s.get("GRID_2D") != 0 ? runtime::Grid{m, n, 1} : runtime::Grid{m * n, 1, 1};
      break;
    }
    case KernelVariant::Rows:
    case KernelVariant::LoopedRows:
      plan.grid = {programs(sizes.rows, s.get("ROWS")), 1, 1};
      break;
    }
  }

  /// Of any lane, the masked ones behind the last row and column included.
  int64_t largestOffset(const CaseSizes &sizes) const {
    __int128 largest = static_cast<__int128>(sizes.rows) + sizes.elements();
    const Schedule &s = plan.schedule;
    int64_t slackRows = std::max(s.get("BLOCK_M", 1), s.get("ROWS", 1));
    int64_t slackColumns = s.get("BLOCK_N", s.get("BLOCK"));
    for (const TensorLayout &layout : layouts) {
      __int128 offset = static_cast<__int128>(layout.largestOffset) + slackColumns +
                        static_cast<__int128>(slackRows) * layout.rowStride;
      largest = std::max(largest, offset);
    }
    return static_cast<int64_t>(std::min<__int128>(largest, std::numeric_limits<int64_t>::max()));
  }

  void sign(const std::string &name, const std::string &type) {
    plan.signature += fmt::format("{}{}={}", plan.signature.empty() ? "" : ", ", name, type);
  }
  void addInteger(const std::string &name, int64_t value) {
    sign(name, fmt::format("{}{}", value > largestI32 ? "i64" : "i32",
                           value % alignment == 0 ? ":16" : ""));
    plan.arguments.push_back({name, value});
  }

  void addParameter(const KernelParameter &parameter, const std::vector<TensorView> &views,
                    const std::map<std::string, double> &given) {
    auto operand = static_cast<size_t>(std::max(parameter.operand, 0));
    auto group = static_cast<size_t>(std::max(parameter.group, 0));
    switch (parameter.kind) {
    case Kind::Pointer: {
      DType type = operandType(fused.operands[operand], fused, dtype);
      sign(parameter.name,
           fmt::format("*{}{}", nereid::kernelName(type), views[operand].isAligned ? ":16" : ""));
      plan.arguments.push_back({parameter.name, parameter.operand});
      break;
    }
    case Kind::Scalar: {
      const auto &number = fused.op.parameters[static_cast<size_t>(parameter.scalar)];
      auto found = given.find(parameter.name);
      double value = found == given.end() ? number.value : found->second;
      if (isPassedWhole(fused, number)) {
        sign(parameter.name, "i64");
        plan.arguments.push_back({parameter.name, static_cast<int64_t>(value)});
      } else {
        sign(parameter.name, dtype == DType::F64 ? "fp64" : "fp32");
        plan.arguments.push_back({parameter.name, value});
      }
      break;
    }
    case Kind::Size:
      addInteger(parameter.name, parameter.size.evaluate(binding));
      break;
    case Kind::RowStride:
      addInteger(parameter.name, layouts[operand].rowStride);
      break;
    case Kind::GroupStride:
      addInteger(parameter.name, layouts[operand].rowGroupStrides[group]);
      break;
    case Kind::ColumnStride:
      addInteger(parameter.name, layouts[operand].columnGroupStrides[group]);
      break;
    case Kind::Constexpr:
      sign(parameter.name,
           std::to_string(parameter.name == "WIDE" ? int64_t{isWide}
                                                   : plan.schedule.get(parameter.name)));
      break;
    }
  }

  const FusedOperator &fused;
  const definition::Binding &binding;
  DType dtype;
  LaunchPlan plan;
  std::vector<TensorLayout> layouts;
  bool areAllFlat = true, isWide = false;
};

/// Every symbol of the operands must be bound.
Status checkBinding(const FusedOperator &fused, const definition::Binding &binding) {
  for (const Operand &operand : fused.operands) {
    if (auto sizes = definition::bind(operand.shape, binding); !sizes) {
      return sizes.error();
    }
  }
  return Done{};
}

Diagnostic misfit(const FusedOperator &fused, const Operand &operand, const std::string &expects,
                  const std::string &got) {
  return makeError("E0612", fmt::format("'{}' of operator '{}' expects {}, but got {}",
                                        operand.name, fused.op.name, expects, got))
      .withHelp(fmt::format("the definition gives '{}' the shape {}", operand.name,
                            definition::text(operand.shape)));
}

} // namespace

Result<std::vector<std::vector<int64_t>>> outputShapes(const FusedOperator &fused,
                                                       const definition::Binding &binding) {
  std::vector<std::vector<int64_t>> shapes;
  for (const Operand &operand : fused.operands) {
    if (!operand.isOutput) {
      continue;
    }
    auto shape = definition::bind(operand.shape, binding);
    if (!shape) {
      return shape.error();
    }
    shapes.push_back(std::move(*shape));
  }
  return shapes;
}

Result<definition::Binding> bindingOf(const FusedOperator &fused,
                                      std::span<const runtime::Tensor> inputs) {
  definition::Binding binding;
  bool isRestBound = false;
  size_t number = 0;
  for (const Operand &operand : fused.operands) {
    if (operand.isOutput) {
      continue;
    }
    if (number >= inputs.size()) {
      return misfit(fused, operand, "a tensor", "none");
    }
    const std::vector<int64_t> &sizes = inputs[number++].shape();
    bool hasRest = !operand.shape.empty() && operand.shape.front().isRest();
    size_t fixed = operand.shape.size() - (hasRest ? 1 : 0);
    if (sizes.size() < fixed || (!hasRest && sizes.size() != fixed)) {
      return misfit(fused, operand,
                    fmt::format("{}{} dimensions", hasRest ? "at least " : "", fixed),
                    definition::sizesText(sizes));
    }
    size_t lead = sizes.size() - fixed;
    std::vector<int64_t> rest(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(lead));
    if (hasRest && isRestBound && rest != binding.rest) {
      return misfit(fused, operand,
                    fmt::format("leading sizes [{}]", fmt::join(binding.rest, ", ")),
                    definition::sizesText(sizes));
    }
    if (hasRest) {
      binding.rest = rest;
      isRestBound = true;
    }
    for (size_t i = 0; i < fixed; ++i) {
      const definition::Dim &dim = operand.shape[i + (hasRest ? 1 : 0)];
      int64_t size = sizes[lead + i];
      int64_t expected = dim.constant;
      if (!dim.symbol.empty()) {
        expected = binding.symbols.emplace(dim.symbol, size).first->second;
      }
      if (size != expected) {
        return misfit(fused, operand,
                      fmt::format("{} = {}", dim.symbol.empty() ? "size" : dim.symbol, expected),
                      definition::sizesText(sizes));
      }
    }
  }
  return binding;
}

Result<LaunchPlan> planLaunch(const FusedOperator &fused, const Schedule &schedule,
                              const definition::Binding &binding, DType dtype) {
  if (auto bound = checkBinding(fused, binding); !bound) {
    return bound.error();
  }
  if (auto met = definition::checkConstraints(fused.op, binding, dtype); !met) {
    return met.error();
  }
  std::vector<TensorView> views;
  for (const Operand &operand : fused.operands) {
    TensorView view;
    view.sizes = *definition::bind(operand.shape, binding);
    view.strides = contiguousStrides(view.sizes);
    views.push_back(std::move(view));
  }
  return Planner(fused, schedule, binding, dtype).run(std::move(views), {});
}

Result<LaunchPlan> planLaunch(const FusedOperator &fused, const Schedule &schedule,
                              std::span<const runtime::Tensor> inputs,
                              std::span<const runtime::Tensor> outputs,
                              const std::map<std::string, double> &scalars) {
  auto binding = bindingOf(fused, inputs);
  if (!binding) {
    return binding.error();
  }
  std::optional<DType> dtype;
  std::vector<TensorView> views;
  size_t in = 0, out = 0;
  for (const Operand &operand : fused.operands) {
    std::span<const runtime::Tensor> from = operand.isOutput ? outputs : inputs;
    size_t number = operand.isOutput ? out++ : in++;
    if (number >= from.size()) {
      return misfit(fused, operand, "a tensor", "none");
    }
    const runtime::Tensor &tensor = from[number];
    if (!operand.fixedDtype && !dtype) {
      dtype = tensor.dtype();
    }
    const bool isBroken =
        !operand.isOutput && !tensor.isContiguous() &&
        definition::mustBeContiguous(fused.op, static_cast<size_t>(operand.index));
    if (isBroken) {
      return makeError("E0617", fmt::format("'{}' expects {}.is_contiguous(), but got strides {}",
                                            fused.op.name, operand.name,
                                            definition::sizesText(tensor.strides())))
          .withHelp("copy the tensor first, or drop the constraint: others are copied as needed");
    }
    DType expected = operand.fixedDtype ? *operand.fixedDtype : *dtype;
    if (tensor.dtype() != expected) {
      return misfit(fused, operand, std::string(torchName(expected)),
                    std::string(torchName(tensor.dtype())));
    }
    auto sizes = definition::bind(operand.shape, *binding);
    if (!sizes) {
      return sizes.error();
    }
    if (tensor.shape() != *sizes) {
      return misfit(fused, operand, definition::sizesText(*sizes),
                    definition::sizesText(tensor.shape()));
    }
    views.push_back({tensor.shape(), tensor.strides(),
                     reinterpret_cast<uintptr_t>(tensor.data()) % alignment == 0});
    if (operand.isOutput &&
        !layoutOf(fused, operand, *binding, tensor.shape(), tensor.strides()).isUsable) {
      return misfit(fused, operand, "an output with evenly spaced rows",
                    fmt::format("strides {}", definition::sizesText(tensor.strides())));
    }
  }
  std::vector<double> numbers;
  for (const definition::Parameter &parameter : fused.op.parameters) {
    auto given = scalars.find(parameter.name);
    numbers.push_back(given == scalars.end() ? parameter.value : given->second);
  }
  if (auto met = definition::checkConstraints(fused.op, *binding, dtype, numbers); !met) {
    return met.error();
  }
  return Planner(fused, schedule, *binding, dtype.value_or(DType::F32))
      .run(std::move(views), scalars);
}

std::vector<runtime::ArgumentValue> argumentValues(const LaunchPlan &plan,
                                                   const FusedOperator &fused,
                                                   std::span<const runtime::Tensor> inputs,
                                                   std::span<const runtime::Tensor> outputs,
                                                   std::vector<runtime::Tensor> &copies) {
  // Reserved, because the arguments point into it.
  copies.clear();
  copies.reserve(plan.contiguousCopies.size());
  size_t inputCount =
      static_cast<size_t>(std::count_if(fused.operands.begin(), fused.operands.end(),
                                        [](const Operand &operand) { return !operand.isOutput; }));
  std::vector<runtime::ArgumentValue> values;
  for (const LaunchPlan::Argument &argument : plan.arguments) {
    if (const int *number = std::get_if<int>(&argument.value)) {
      auto operand = static_cast<size_t>(*number);
      const runtime::Tensor *tensor =
          operand < inputCount ? &inputs[operand] : &outputs[operand - inputCount];
      if (std::find(plan.contiguousCopies.begin(), plan.contiguousCopies.end(), *number) !=
          plan.contiguousCopies.end()) {
        copies.push_back(tensor->to(tensor->dtype()));
        tensor = &copies.back();
      }
      values.emplace_back(tensor);
    } else if (const int64_t *integer = std::get_if<int64_t>(&argument.value)) {
      values.emplace_back(*integer);
    } else {
      values.emplace_back(std::get<double>(argument.value));
    }
  }
  return values;
}

} // namespace nereid::generator
