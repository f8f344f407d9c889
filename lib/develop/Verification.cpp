// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/Verification.h"

#include "lib/report/Table.h"
#include "lib/support/Interrupt.h"
#include "lib/verify/Limits.h"
#include "lib/verify/Trial.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace nereid::develop {

using definition::GridCase;
using generator::Generation;
using runtime::Tensor;

namespace {

int64_t elementsOf(const CaseTensors &tensors) {
  int64_t elements = 0;
  for (const auto *list : {&tensors.inputs, &tensors.outputs}) {
    for (const Tensor &tensor : *list) {
      elements += tensor.elementCount();
    }
  }
  return elements;
}

/// Inputs in order, then outputs.
std::vector<verify::TrialTensor> trialTensors(const generator::FusedOperator &fused,
                                              const CaseTensors &tensors,
                                              definition::LayoutKind layout) {
  std::vector<verify::TrialTensor> inputs, outputs;
  for (const generator::Operand &operand : fused.operands) {
    auto &list = operand.isOutput ? outputs : inputs;
    const Tensor &content = (operand.isOutput ? tensors.outputs : tensors.inputs)[list.size()];
    list.push_back(
        {operand.name, content, operand.isOutput ? verify::Role::Output : verify::Role::Input});
    if (layout == definition::LayoutKind::Unaligned) {
      list.back().misalignment = sizeInBytes(content.dtype());
    }
  }
  inputs.insert(inputs.end(), outputs.begin(), outputs.end());
  return inputs;
}

/// What `nereid check` says of the case, on tensors of its own; "" = nothing.
std::string finding(Generation &generation, const KernelSource &source,
                    const generator::Schedule &schedule, const GridCase &grid, DType dtype) {
  auto tensors = makeTensors(generation.fused, grid, dtype);
  if (!tensors) {
    return tensors.error().message;
  }
  auto launch = PreparedLaunch::prepare(source, generation.fused, schedule, tensors->inputs,
                                        tensors->outputs);
  auto found = launch ? launch->check() : Result<std::string>(launch.error());
  return found ? *found : found.error().message;
}

AccuracyRow tryCase(Generation &generation, const KernelSource &source,
                    const generator::ChipSummary &chip, const GridCase &grid, DType dtype) {
  AccuracyRow row;
  row.caseName = grid.name;
  row.data = definition::name(grid.data.kind);
  row.layout = definition::name(grid.layout);
  row.dtype = dtype;
  auto tensors = makeTensors(generation.fused, grid, dtype);
  if (!tensors) {
    row.skipped = tensors.error().message;
    return row;
  }
  row.shape = fmt::format("{}", fmt::join(tensors->outputs[0].shape(), "x"));
  auto schedule = generation.scheduleFor(grid.binding, dtype, chip);
  auto launch = [&](std::span<const Tensor> given, const verify::LaunchWay &way) -> Status {
    auto prepared = PreparedLaunch::prepare(source, generation.fused, schedule,
                                            given.first(tensors->inputs.size()),
                                            given.subspan(tensors->inputs.size()));
    if (!prepared) {
      return prepared.error();
    }
    row.schedule = prepared->plan().schedule.text();
    auto error = prepared->run(*way.pool, way.order);
    return error ? Status(makeError(error.code, error.message)) : Done{};
  };
  auto tried = verify::runTrial(trialTensors(generation.fused, *tensors, grid.layout), launch);
  if (!tried) {
    row.failure = tried.error().message;
    return row;
  }
  const bool isSmall = elementsOf(*tensors) <= verify::largestChecked;
  if (isSmall || tried->fault == verify::Fault::Outside) {
    row.failure = finding(generation, source, schedule, grid, dtype);
  }
  if (tried->fault != verify::Fault::None) {
    row.failure = tried->text + (row.failure.empty() ? "" : "; " + row.failure);
  }
  if (!row.failure.empty()) {
    return row;
  }
  // The reference sees the inputs that no kernel has had in its hands.
  CaseTensors computed;
  computed.inputs = tensors->inputs;
  computed.outputs.assign(tried->tensors.begin() + static_cast<long>(tensors->inputs.size()),
                          tried->tensors.end());
  auto agreement = checkAgreement(generation.fused, computed, dtype);
  if (!agreement) {
    row.failure = agreement.error().message;
    return row;
  }
  row.checked = agreement->checked;
  row.unverifiable = agreement->unverifiable;
  row.maxAbsoluteError = agreement->worstAbsolute;
  row.errorOfBound = agreement->worstRatio;
  if (!agreement->agrees()) {
    row.failure = describeMismatch(*agreement);
  }
  return row;
}

/// A case with magnitudes that its operator can bear: they come nearer to 1 until what can be
/// verified is enough.
AccuracyRow verifyCase(Generation &generation, const KernelSource &source,
                       const generator::ChipSummary &chip, GridCase grid, DType dtype) {
  auto isEnough = [](const AccuracyRow &row) {
    return static_cast<double>(row.unverifiable) <=
           verify::mostUnverifiable * static_cast<double>(row.checked);
  };
  AccuracyRow row = tryCase(generation, source, chip, grid, dtype);
  while (row.failure.empty() && !isEnough(row) &&
         std::fabs(grid.data.range) > verify::smallestRange) {
    grid.data.range /= 2;
    row = tryCase(generation, source, chip, grid, dtype);
    row.caseName += ", taken as " + definition::name(grid.data);
  }
  if (row.failure.empty() && !isEnough(row)) {
    row.failure = fmt::format("{} of {} elements cannot be verified: a right kernel may leave the "
                              "range of its type there",
                              row.unverifiable, row.checked);
  }
  return row;
}

} // namespace

int AccuracyReport::failures() const {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(),
                                        [](const auto &row) { return !row.failure.empty(); }));
}

int AccuracyReport::skips() const {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(),
                                        [](const auto &row) { return !row.skipped.empty(); }));
}

std::string AccuracyReport::firstFailure() const {
  if (isInterrupted) {
    return "interrupted before every case was verified";
  }
  for (const AccuracyRow &row : rows) {
    if (!row.failure.empty()) {
      return fmt::format("{} ({}): {}", row.caseName, torchName(row.dtype), row.failure);
    }
  }
  return "";
}

AccuracyReport verifyAccuracy(Generation &generation, const KernelSource &source,
                              const generator::ChipSummary &chip, const std::vector<DType> &dtypes,
                              uint64_t seed,
                              const std::function<void(const std::string &)> &progress) {
  AccuracyReport report;
  auto grid = definition::accuracyGrid(generation.fused.op, seed);
  for (DType dtype : dtypes) {
    progress(fmt::format("verify: {}, {} cases", torchName(dtype), grid.size()));
    for (const GridCase &one : grid) {
      if (isInterrupted()) {
        report.isInterrupted = true;
        return report;
      }
      report.rows.push_back(verifyCase(generation, source, chip, one, dtype));
    }
  }
  return report;
}

std::string accuracyTable(const AccuracyReport &report) {
  struct Group {
    int cases = 0, failed = 0, skipped = 0;
    int64_t elements = 0, unverifiable = 0;
    double worstAbsolute = 0, worstOfBound = 0;
  };
  std::map<std::pair<DType, std::string>, Group> groups;
  std::string details;
  for (const auto &row : report.rows) {
    Group &group = groups[{row.dtype, row.data}];
    ++group.cases;
    group.failed += row.failure.empty() ? 0 : 1;
    group.skipped += row.skipped.empty() ? 0 : 1;
    group.elements += row.checked;
    group.unverifiable += row.unverifiable;
    group.worstAbsolute = std::max(group.worstAbsolute, row.maxAbsoluteError);
    group.worstOfBound = std::max(group.worstOfBound, row.errorOfBound);
    if (!row.failure.empty() || !row.skipped.empty()) {
      details += fmt::format("  {} {} ({}): {}\n", row.failure.empty() ? "skipped" : "FAILED",
                             row.caseName, torchName(row.dtype),
                             row.failure.empty() ? row.skipped : row.failure);
    }
  }
  report::Table table({"type", "data", ">cases", ">failed", ">skipped", ">elements",
                       ">not verifiable", ">max error", ">of its bound"});
  for (const auto &[key, group] : groups) {
    table.add({std::string(torchName(key.first)), key.second, std::to_string(group.cases),
               std::to_string(group.failed), std::to_string(group.skipped),
               report::formatCount(static_cast<double>(group.elements)),
               report::formatPercent(static_cast<double>(group.unverifiable) /
                                     std::max<double>(1, static_cast<double>(group.elements))),
               fmt::format("{:.2g}", group.worstAbsolute),
               report::formatPercent(group.worstOfBound)});
  }
  return table.text() + details;
}

std::string accuracyJson(const AccuracyReport &report) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto &row : report.rows) {
    nlohmann::ordered_json entry = {{"case", row.caseName},
                                    {"dtype", torchName(row.dtype)},
                                    {"seed", report.seed},
                                    {"shape", row.shape},
                                    {"schedule", row.schedule},
                                    {"checked", row.checked},
                                    {"unverifiable", row.unverifiable},
                                    {"max_absolute_error", row.maxAbsoluteError},
                                    {"error_of_bound", row.errorOfBound}};
    if (!row.failure.empty()) {
      entry["failure"] = row.failure;
    }
    if (!row.skipped.empty()) {
      entry["skipped"] = row.skipped;
    }
    json.push_back(entry);
  }
  return json.dump();
}

} // namespace nereid::develop
