// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/accuracy/CaseAttempt.h"

#include "lib/definition/cases/OtherNumbers.h"
#include "lib/definition/operations/indices/Indexing.h"
#include "lib/develop/accuracy/FormCases.h"
#include "lib/eager/reference/Reference.h"
#include "lib/launch/LostDevice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nereid::develop {

using definition::GridCase;
using generator::Generation;
using runtime::Tensor;

generator::Schedule VerificationProgress::scheduleFor(Generation &generation, const GridCase &grid,
                                                      DType dtype, const Machine &chip) {
  std::lock_guard lock(mutex);
  return scheduleOf(grid, generation, chip, dtype);
}

Generation withNumbers(const Generation &generation, const GridCase &grid) {
  Generation result;
  result.interface = generation.interface;
  result.program = generation.program;
  result.interface.op = definition::withSizeInputs(
      definition::withNumbers(generation.op(), grid.numbers), grid.binding);
  return result;
}

namespace {

using Scratch = generator::CallPlan::Scratch;

/// Inputs in order, then outputs, then workspaces.
Result<std::vector<verify::TrialTensor>> trialTensors(const generator::CalledOperator &called,
                                                      const CaseTensors &tensors,
                                                      definition::LayoutKind layout,
                                                      std::span<const Scratch> workspaces) {
  std::vector<verify::TrialTensor> inputs, outputs;
  for (const generator::Operand &operand : called.operands) {
    auto &list = operand.isOutput ? outputs : inputs;
    const Tensor &content = (operand.isOutput ? tensors.outputs : tensors.inputs)[list.size()];
    list.push_back(
        {operand.name, content, operand.isOutput ? verify::Role::Output : verify::Role::Input});
    if (layout == definition::LayoutKind::Unaligned) {
      list.back().misalignment = sizeInBytes(content.dtype());
    }
  }
  inputs.insert(inputs.end(), outputs.begin(), outputs.end());
  for (const Scratch &one : workspaces) {
    verify::TrialTensor workspace{one.name, Tensor::empty({one.elements}, one.dtype),
                                  verify::Role::Output};
    if (!workspace.content.isValid()) {
      return makeError("E0506", fmt::format("workspace '{}' of {} elements of {} does not fit in "
                                            "memory",
                                            one.name, one.elements, torchName(one.dtype)))
          .withHelp("use a machine with more memory, or a smaller case in the definition");
    }
    workspace.isWorkspace = true;
    inputs.push_back(std::move(workspace));
  }
  return inputs;
}

/// An error at a line of the kernel's source, which every other case would run into as well.
bool isOfSource(const Diagnostic &error) { return !error.file.empty() && error.range.line > 0; }

/// What `nereid check` says of the case, on tensors of its own; an error of the source as such.
Result<check::FirstFinding> finding(const Generation &generation, const KernelSource &source,
                                    const generator::Schedule &schedule, const GridCase &grid,
                                    DType dtype) {
  auto tensors = makeTensors(generation, grid, dtype);
  if (!tensors) {
    return check::FirstFinding{tensors.error().message, tensors.error().code};
  }
  auto launch =
      PreparedLaunch::prepare(source, generation, schedule, tensors->inputs, tensors->outputs);
  auto found = launch ? launch->check() : Result<check::FirstFinding>(launch.error());
  return found || isOfSource(found.error())
             ? found
             : check::FirstFinding{found.error().message, found.error().code};
}

/// What decides which addresses a launch of a generated kernel touches, data apart; of one that
/// leaves much in memory between its kernels, whatever the type.
std::string placesOf(const CaseTensors &tensors, const std::vector<Scratch> &workspaces,
                     const generator::Schedule &schedule, DType dtype) {
  const int64_t left = std::accumulate(
      workspaces.begin(), workspaces.end(), int64_t{0},
      [](int64_t sum, const Scratch &workspace) { return sum + workspace.elements; });
  const bool isLong = left > verify::largestCheckedOfEachType;
  std::string text = schedule.text() + (isLong ? "" : std::string(torchName(dtype)));
  for (const auto *list : {&tensors.inputs, &tensors.outputs}) {
    for (const Tensor &tensor : *list) {
      text +=
          fmt::format(" {}:{}", fmt::join(tensor.shape(), "x"), fmt::join(tensor.strides(), ","));
    }
  }
  return text;
}

/// Compares the outputs, and `others` of a launch in another order where there was one, with the
/// reference. E0506 without memory for that.
Status judge(const Generation &numbered, const CaseTensors &tensors,
             const std::vector<Tensor> &others, DType dtype, Attempt &attempt) {
  AccuracyRow &row = attempt.row;
  // The reference sees the inputs that no kernel has had in its hands.
  CaseTensors computed;
  computed.inputs = tensors.inputs;
  computed.outputs = attempt.computed;
  auto comparison = compareOutputs(numbered.op(), computed, dtype);
  if (!comparison && comparison.error().code == "E0506") {
    return comparison.error();
  }
  if (!comparison) {
    row.failure = comparison.error().message;
    return Done{};
  }
  row.comparison = std::move(*comparison);
  if (!row.comparison.passed()) {
    row.failure = row.comparison.text();
  }
  if (row.failure.empty() && !others.empty()) { // a launch in another order, right as well
    computed.outputs = others;
    auto other = compareOutputs(numbered.op(), computed, dtype);
    row.failure = !other ? other.error().message : other->passed() ? "" : other->text();
  }
  return Done{};
}

Result<Attempt> tryCase(Generation &generation, VerificationProgress &progress, const Machine &chip,
                        const GridCase &grid, DType dtype) {
  const KernelSource &source = progress.source;
  Attempt attempt;
  AccuracyRow &row = attempt.row;
  row.caseName = grid.name;
  row.data = definition::name(grid.data.kind, dtype);
  row.layout = definition::name(grid.layout);
  row.dtype = dtype;
  if (!grid.unmet.empty()) {
    row.skipped = grid.unmet;
    return attempt;
  }
  const Generation numbered = withNumbers(generation, grid);
  auto tensors = makeTensors(numbered, grid, dtype);
  if (!tensors) {
    row.skipped = tensors.error().message;
    return attempt;
  }
  attempt.tensors = *tensors;
  row.shape = fmt::format("{}", fmt::join(tensors->outputs[0].shape(), "x"));
  auto schedule = progress.scheduleFor(generation, grid, dtype, chip);
  const check::FirstFinding gravest = progress.gravest();
  if (gravest.isEndless()) {
    // Each check of such a kernel takes as long as a loop may take.
    row.failure =
        fmt::format("not launched: in case '{}' {}", progress.gravestCase(), gravest.text);
    return attempt;
  }
  auto workspaces =
      PreparedLaunch::workspaces(numbered, schedule, tensors->inputs, tensors->outputs);
  auto trial = workspaces ? trialTensors(numbered.called(), *tensors, grid.layout, *workspaces)
                          : Result<std::vector<verify::TrialTensor>>(workspaces.error());
  if (!trial) {
    if (trial.error().code == "E0506") {
      return trial.error();
    }
    row.failure = trial.error().message;
    return attempt;
  }
  const size_t inputCount = tensors->inputs.size(), outputCount = tensors->outputs.size();
  auto launch = [&](std::span<const Tensor> given, const verify::LaunchWay &way) -> Status {
    auto prepared = PreparedLaunch::prepare(source, numbered, schedule, given.first(inputCount),
                                            given.subspan(inputCount, outputCount),
                                            given.subspan(inputCount + outputCount));
    if (!prepared) {
      return prepared.error();
    }
    row.schedule = prepared->schedule().text();
    row.kernels = prepared->kernelNames();
    auto error = prepared->run(*way.pool, way.order);
    return error ? Status(makeError(error.code, error.message)) : Done{};
  };
  // Small launches are checked once for all data that they are tried with.
  const std::string places = placesOf(*tensors, *workspaces, schedule, dtype);
  bool isClean = false;
  bench::LaunchCheck check{[&]() -> Result<std::string> {
                             auto found = finding(numbered, source, schedule, grid, dtype);
                             if (!found) {
                               return found.error();
                             }
                             isClean = found->text.empty();
                             if (!isClean) {
                               progress.addFound(grid.name, *found);
                             }
                             return found->text;
                           },
                           progress.isChecked(places)};
  // A kernel that is wrong elsewhere is looked at before it is trusted with larger tensors.
  check.largest = gravest.text.empty() ? verify::largestChecked : verify::largestCheckedOnce;
  auto tried = bench::inspectLaunch(
      *trial, launch, {definition::addsInAnyOrder(numbered.op(), dtype), grid.seed}, check);
  if (!tried) {
    // Neither says that the kernel is wrong in this case.
    if (isOfSource(tried.error()) || tried.error().code == "E0506") {
      return tried.error();
    }
    row.failure = tried.error().message;
    if (launch::isDeviceLost(tried.error())) {
      row.failure = launch::lostDeviceText(tried.error());
      progress.loseDevice();
    }
    return attempt;
  }
  auto outputsOf = [&](const std::vector<Tensor> &all) { // none where nothing was launched
    const auto begin = all.begin() + static_cast<long>(std::min(inputCount, all.size()));
    return std::vector<Tensor>(begin, begin + static_cast<long>(all.empty() ? 0 : outputCount));
  };
  attempt.computed = outputsOf(tried->tensors);
  if (isClean) {
    progress.addChecked(places);
  }
  row.failure = tried->text;
  if (!row.failure.empty()) {
    return attempt;
  }
  const Status judged = judge(numbered, *tensors, outputsOf(tried->others), dtype, attempt);
  return judged ? Result<Attempt>(std::move(attempt)) : judged.error();
}

} // namespace

namespace {

/// With magnitudes nearer to 1 until enough can be verified.
Result<Attempt> tryMagnitudes(Generation &generation, VerificationProgress &progress,
                              const Machine &chip, GridCase grid, DType dtype) {
  const double range = grid.data.range;
  const uint64_t seed = grid.seed;
  auto attempt = bench::untilVerifiable(
      grid.data,
      [&](int drawn) {
        grid.seed = bench::seedOf(seed, drawn);
        return tryCase(generation, progress, chip, grid, dtype);
      },
      &Attempt::row);
  if (attempt && grid.data.range != range) {
    attempt->row.caseName += std::string(takenAs) + definition::name(grid.data, dtype);
  }
  return attempt;
}

/// Nothing of it is wrong, but too little can be said.
bool isUndecided(const Attempt &attempt) {
  const AccuracyRow &row = attempt.row;
  return row.failure.empty() && row.skipped.empty() && !row.isVerifiable();
}

/// Elements without a bound in float64.
struct Missing {
  int64_t elements = 0;
  int64_t ofThemNaN = 0; ///< by exact arithmetic

  /// Whether so many leave few others among those that cannot be verified.
  static bool explains(int64_t count, const AccuracyRow &row) {
    const auto others = static_cast<double>(row.comparison.unverifiable - count);
    return count > 0 &&
           others <= verify::mostUnverifiable * static_cast<double>(row.comparison.elements);
  }
};

Missing missingIn(const Generation &numbered, const Attempt &attempt) {
  const auto reference =
      eager::runReference(numbered.op(), attempt.tensors.inputs, DType::F64,
                          eager::Rounding::OncePerResult, runtime::defaultPool());
  Missing missing;
  for (size_t i = 0; reference && i < reference->size(); ++i) {
    const eager::ReferenceOutput &output = (*reference)[i];
    for (int64_t at = 0; at < output.bounds.elementCount(); ++at) {
      const bool isMissing = std::isinf(output.bounds.at(at));
      missing.elements += isMissing ? 1 : 0;
      missing.ofThemNaN += isMissing && std::isnan(output.values.at(at)) ? 1 : 0;
    }
  }
  return missing;
}

/// Why data of the kind cannot judge the undecided attempt. Where most of what cannot be verified
/// has no bound in float64, either, no range is left, and no precision would help.
std::string undecidedReason(const Generation &numbered, const Attempt &attempt,
                            definition::DataKind kind) {
  const AccuracyRow &row = attempt.row;
  const int64_t missing = missingIn(numbered, attempt).elements;
  if (Missing::explains(missing, row)) {
    return fmt::format("{} of {} elements have no bound in any precision there, as where 0 is "
                       "divided by 0",
                       missing, row.comparison.elements);
  }
  return fmt::format("{} of {} elements are not certain there, as {}", row.comparison.unverifiable,
                     row.comparison.elements,
                     kind == definition::DataKind::Special
                         ? "where infinity meets a number that may round to 0"
                         : "a right kernel may leave the range of its type");
}

/// Of sizes for which an operator has no value, as a variance of one number: whatever the data,
/// exact results are NaN, where a right kernel divides what a rounding left by 0. "": it has one.
std::string withoutValue(const Generation &numbered, const Attempt &attempt) {
  const AccuracyRow &row = attempt.row;
  const int64_t missing = missingIn(numbered, attempt).ofThemNaN;
  return !Missing::explains(missing, row)
             ? ""
             : fmt::format("of these sizes {} of {} elements have no value, but 0 divided by 0",
                           missing, row.comparison.elements);
}

/// What takes the place of data that cannot judge a kernel: normal numbers, then smaller ones, and
/// those whose products stay within the range.
std::vector<definition::Data> otherData(definition::DataKind kind) {
  using definition::DataKind;
  std::vector<definition::Data> list;
  if (kind != DataKind::Normal) {
    list.push_back({});
  }
  constexpr double smallest = 0.16; // of float32, 7e-8
  for (double range = 0.01; range <= smallest; range *= 2) {
    list.push_back({.kind = DataKind::Scaled, .range = -range});
  }
  list.push_back({.kind = DataKind::Ones, .turn = -1});
  return list;
}

} // namespace

Result<Attempt> verifyCase(Generation &generation, VerificationProgress &progress,
                           const Machine &chip, GridCase grid, DType dtype) {
  auto attempt = tryMagnitudes(generation, progress, chip, grid, dtype);
  if (attempt && isUndecided(*attempt)) {
    const std::string reason =
        undecidedReason(withNumbers(generation, grid), *attempt, grid.data.kind);
    grid.dataOf = -1;
    for (const definition::Data &other : otherData(grid.data.kind)) {
      grid.data = other;
      auto next = tryCase(generation, progress, chip, grid, dtype);
      if (!next) {
        return next;
      }
      const bool decides = !isUndecided(*next);
      if (decides || other.kind == definition::DataKind::Normal) {
        attempt = std::move(next);
        attempt->row.caseName += std::string(takenAs) + definition::name(other, dtype);
        attempt->row.exchanged = reason;
      }
      if (decides) {
        break;
      }
    }
  }
  if (!attempt) {
    return attempt;
  }
  AccuracyRow &row = attempt->row;
  if (isUndecided(*attempt)) {
    row.skipped = grid.isOfForms ? row.comparison.unverifiableText()
                                 : withoutValue(withNumbers(generation, grid), *attempt);
  }
  if (!row.skipped.empty()) {
    row.comparison = {};
    row.kernels.clear(); // nothing was judged
  }
  row.requireVerifiable();
  return attempt;
}

} // namespace nereid::develop
