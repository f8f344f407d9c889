// SPDX-License-Identifier: Apache-2.0
// Plans launches, see LaunchPlan.h.
#include "lib/generator/LaunchPlan.h"

#include "lib/definition/operations/Shape.h"
#include "lib/generator/ScheduleRules.h"
#include "lib/generator/TensorLayout.h"
#include "lib/generator/call/CallChecks.h"

#include <fmt/format.h>

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
      DType type = operandType(fused.operands[operand], dtype);
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

} // namespace

Result<LaunchPlan> planLaunch(const FusedOperator &fused, const Schedule &schedule,
                              const definition::Binding &binding, DType dtype) {
  if (auto fits = checkCall(fused, binding, dtype); !fits) {
    return fits.error();
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
  auto call = checkCall(fused, inputs, outputs, scalars);
  if (!call) {
    return call.error();
  }
  std::vector<TensorView> views;
  size_t in = 0, out = 0;
  for (const Operand &operand : fused.operands) {
    const runtime::Tensor &tensor = operand.isOutput ? outputs[out++] : inputs[in++];
    views.push_back({tensor.shape(), tensor.strides(),
                     reinterpret_cast<uintptr_t>(tensor.data()) % alignment == 0});
    if (operand.isOutput &&
        !layoutOf(fused, operand, call->binding, tensor.shape(), tensor.strides()).isUsable) {
      return misfit(fused, operand, "an output with evenly spaced rows",
                    fmt::format("strides {}", definition::sizesText(tensor.strides())));
    }
  }
  return Planner(fused, schedule, call->binding, call->dtype).run(std::move(views), scalars);
}

} // namespace nereid::generator
