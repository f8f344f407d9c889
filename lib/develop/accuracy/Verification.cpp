// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/accuracy/Verification.h"

#include "lib/definition/cases/OtherNumbers.h"
#include "lib/definition/operations/indices/Indexing.h"
#include "lib/develop/accuracy/FormCases.h"
#include "lib/develop/accuracy/SmallCase.h"
#include "lib/launch/LostDevice.h"
#include "lib/support/Interrupt.h"
#include "lib/verify/KeptCase.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

namespace nereid::develop {

using definition::GridCase;
using generator::Generation;
using runtime::Tensor;

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

/// With the numbers of the case, and without the table, which other cases fill meanwhile.
Generation withNumbers(const Generation &generation, const GridCase &grid) {
  Generation result;
  result.interface = generation.interface;
  result.program = generation.program;
  result.interface.op = definition::withSizeInputs(
      definition::withNumbers(generation.op(), grid.numbers), grid.binding);
  return result;
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

/// A case as it was tried.
struct Attempt {
  AccuracyRow row;
  CaseTensors tensors;          ///< no inputs and outputs where they could not be made
  std::vector<Tensor> computed; ///< the outputs behind the first launch; empty without one
};

/// What decides which addresses a launch of a generated kernel touches, data apart.
std::string placesOf(const CaseTensors &tensors, const generator::Schedule &schedule, DType dtype) {
  std::string text = schedule.text() + std::string(torchName(dtype));
  for (const auto *list : {&tensors.inputs, &tensors.outputs}) {
    for (const Tensor &tensor : *list) {
      text +=
          fmt::format(" {}:{}", fmt::join(tensor.shape(), "x"), fmt::join(tensor.strides(), ","));
    }
  }
  return text;
}

/// What cases of one verification share, several of them at the same time.
struct Progress {
  KernelSource source; ///< with the kernels that are compiled

  /// Whether `nereid check` found nothing in a launch that touches the same places.
  bool isChecked(const std::string &places) {
    std::lock_guard lock(mutex);
    return checked.contains(places);
  }
  void addChecked(const std::string &places) {
    std::lock_guard lock(mutex);
    checked.insert(places);
  }
  /// A fault has taken the device from this process: no other case can be run.
  void loseDevice() { isLost = true; }
  bool hasLostDevice() const { return isLost; }

  /// What the check says of the case named so, which is not launched.
  void addFound(const std::string &caseName, const check::FirstFinding &finding) {
    std::lock_guard lock(mutex);
    if (found.text.empty() || (finding.isEndless() && !found.isEndless())) {
      found = finding;
      foundIn = caseName;
    }
  }
  /// The gravest so far: an endless loop, or the first one; no text: nothing was found.
  check::FirstFinding gravest() const {
    std::lock_guard lock(mutex);
    return found;
  }
  std::string gravestCase() const {
    std::lock_guard lock(mutex);
    return foundIn;
  }

  /// The generation notes which schedules it was asked for.
  generator::Schedule scheduleFor(Generation &generation, const GridCase &grid, DType dtype,
                                  const Machine &chip) {
    std::lock_guard lock(mutex);
    return scheduleOf(grid, generation, chip, dtype);
  }

private:
  mutable std::mutex mutex;
  std::set<std::string> checked;
  check::FirstFinding found;
  std::string foundIn;
  std::atomic<bool> isLost = false;
};

Result<Attempt> tryCase(Generation &generation, Progress &progress, const Machine &chip,
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
  const std::string places = placesOf(*tensors, schedule, dtype);
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
  // The reference sees the inputs that no kernel has had in its hands.
  CaseTensors computed;
  computed.inputs = tensors->inputs;
  computed.outputs = attempt.computed;
  auto comparison = compareOutputs(numbered.op(), computed, dtype);
  if (!comparison && comparison.error().code == "E0506") {
    return comparison.error();
  }
  if (!comparison) {
    row.failure = comparison.error().message;
    return attempt;
  }
  row.comparison = std::move(*comparison);
  if (!row.comparison.passed()) {
    row.failure = row.comparison.text();
  }
  if (row.failure.empty() && !tried->others.empty()) { // a launch in another order, right as well
    computed.outputs = outputsOf(tried->others);
    auto other = compareOutputs(numbered.op(), computed, dtype);
    row.failure = !other ? other.error().message : other->passed() ? "" : other->text();
  }
  return attempt;
}

/// What the name of a case ends with when its magnitudes came nearer to 1.
constexpr std::string_view takenAs = ", taken as ";

/// A case with magnitudes that its operator can bear.
Result<Attempt> verifyCase(Generation &generation, Progress &progress, const Machine &chip,
                           GridCase grid, DType dtype) {
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
  if (!attempt) {
    return attempt;
  }
  AccuracyRow &row = attempt->row;
  if (grid.isOfForms && row.failure.empty() && row.skipped.empty() && !row.isVerifiable()) {
    row.skipped = row.comparison.unverifiableText();
    row.comparison = {};
    row.kernels.clear(); // nothing was judged
  }
  row.requireVerifiable();
  return attempt;
}

/// Several cases at a time: most of one is work of a single thread. After an error or an
/// interruption no case is begun; those have no attempt. Only what may be kept as files has its
/// tensors.
std::vector<std::optional<Result<Attempt>>>
verifyTogether(Generation &generation, Progress &progress, const Machine &chip,
               const std::vector<GridCase> &grid, DType dtype, const AccuracyOptions &options) {
  std::vector<std::optional<Result<Attempt>>> attempts(grid.size());
  bench::forEachAtOnce(grid.size(), [&](size_t i) {
    auto attempt = verifyCase(generation, progress, chip, grid[i], dtype);
    if (attempt && !options.mayKeep(!attempt->row.failure.empty())) {
      attempt->tensors = {};
      attempt->computed.clear();
    }
    attempts[i] = std::move(attempt);
    return bool(*attempts[i]) && !progress.hasLostDevice();
  });
  return attempts;
}

bool haveSameSizes(const definition::Binding &one, const definition::Binding &other) {
  return one.rest.size() == other.rest.size() &&
         std::equal(one.symbols.begin(), one.symbols.end(), other.symbols.begin(),
                    other.symbols.end(),
                    [](const auto &a, const auto &b) { return a.first == b.first; });
}

/// The cases that were asked for.
Result<std::vector<GridCase>> chosenCases(Generation &generation, const Machine &chip,
                                          const AccuracyOptions &options, DType dtype,
                                          std::set<std::string> &launched) {
  std::vector<GridCase> grid = definition::accuracyGrid(generation.op(), options.seed, 8, dtype);
  addFormCases(grid, generation, chip, dtype, launched);
  if (options.onlyCase.empty()) {
    return grid;
  }
  std::string wanted = options.onlyCase.substr(0, options.onlyCase.find(takenAs));
  const auto small = readSmallName(wanted);
  wanted = small ? small->name : wanted;
  std::vector<std::string> names;
  for (const GridCase &one : grid) {
    names.push_back(one.name);
  }
  std::erase_if(grid, [&](const GridCase &one) { return one.name != wanted; });
  if (grid.empty()) {
    return verify::unknownCase(generation.op().name, wanted, names);
  }
  if (small) {
    if (!haveSameSizes(grid.front().binding, small->sizes)) {
      return makeError("E0016", fmt::format("'{}' does not give the sizes of case '{}'",
                                            options.onlyCase, wanted))
          .withHelp("it has " + smallName("", grid.front().binding));
    }
    grid.front().binding = small->sizes;
    grid.front().name = smallName(wanted, small->sizes);
    if (Status met = checkConstraints(generation.op(), small->sizes, dtype); !met) {
      return met.error();
    }
  }
  return grid;
}

/// A failed case and its attempt with the smallest sizes that fail likewise: by a wrong number, or
/// by something else. Nothing where none are smaller.
std::optional<std::pair<GridCase, Attempt>> madeSmall(Generation &generation, Progress &progress,
                                                      const Machine &chip, const GridCase &grid,
                                                      const Attempt &failed) {
  std::optional<std::pair<GridCase, Attempt>> smallest;
  const auto fails = [&](const definition::Binding &sizes) {
    if (isInterrupted() || progress.hasLostDevice() || progress.gravest().isEndless() ||
        !checkConstraints(generation.op(), sizes, failed.row.dtype)) {
      return false;
    }
    GridCase small = grid;
    small.binding = sizes;
    small.name = smallName(grid.name, sizes);
    auto attempt = verifyCase(generation, progress, chip, small, failed.row.dtype);
    const bool isSame = attempt && !attempt->row.failure.empty() &&
                        attempt->row.comparison.passed() == failed.row.comparison.passed();
    if (isSame) {
      smallest.emplace(std::move(small), std::move(*attempt));
    }
    return isSame;
  };
  (void)smallestFailing(grid.binding, fails);
  return smallest;
}

/// Everything about the attempt as files.
Status keepAttempt(const Generation &generation, const Attempt &attempt, const GridCase &grid,
                   const AccuracyOptions &options) {
  const Generation numbered = withNumbers(generation, grid);
  const AccuracyRow &row = attempt.row;
  verify::KeptCase kept;
  kept.name = row.caseName;
  kept.verdict = !row.failure.empty()   ? "FAILED: " + row.failure
                 : !row.skipped.empty() ? "skipped: " + row.skipped
                                        : "passed";
  kept.command = options.command;
  kept.addCommand(grid.name, options.seed);
  kept.command.insert(kept.command.end(), {"--dtype", std::string(torchName(row.dtype))});
  kept.facts = {{"dtype", std::string(torchName(row.dtype))},
                {"seed", std::to_string(options.seed)},
                {"data", row.data},
                {"layout", row.layout},
                {"schedule", row.schedule}};
  for (const definition::Parameter &parameter : numbered.op().parameters) {
    if (parameter.isScalar) {
      kept.facts.emplace_back(parameter.name, fmt::format("{}", parameter.value));
    }
  }
  std::vector<std::string> outputs;
  size_t input = 0;
  for (const generator::Operand &operand : numbered.called().operands) {
    if (operand.isOutput) {
      outputs.push_back(operand.name);
    } else if (input < attempt.tensors.inputs.size()) {
      kept.addInput(operand.name, attempt.tensors.inputs[input++]);
    }
  }
  for (size_t i = 0; i < attempt.computed.size(); ++i) {
    kept.addOutput(outputs[i], attempt.computed[i]);
  }
  if (!attempt.tensors.outputs.empty()) {
    auto expected = eager::runReference(numbered.op(), attempt.tensors.inputs, row.dtype,
                                        eager::Rounding::OncePerResult, runtime::defaultPool());
    for (size_t i = 0; expected && i < expected->size(); ++i) {
      kept.addExpected(outputs[i], (*expected)[i].values, (*expected)[i].bounds);
    }
  }
  return verify::keepCase(options.keepIn, kept);
}

} // namespace

Result<AccuracyReport> verifyAccuracy(Generation &generation, const KernelSource &source,
                                      const Machine &chip, const AccuracyOptions &options) {
  AccuracyReport report;
  report.seed = options.seed;
  bench::KeptChoice choice(options);
  Progress progress;
  progress.source = source;
  progress.source.compiled = std::make_shared<CompiledKernels>();
  std::set<std::string> launched; // kernels, of which several types may have one
  for (DType dtype : options.dtypes) {
    auto grid = chosenCases(generation, chip, options, dtype, launched);
    if (!grid) {
      return grid.error();
    }
    options.progress(fmt::format("verify: {}, {} cases", torchName(dtype), grid->size()));
    auto attempts = verifyTogether(generation, progress, chip, *grid, dtype, options);
    for (size_t i = 0; i < attempts.size(); ++i) {
      auto &attempt = attempts[i];
      if (!attempt && isInterrupted()) {
        report.isInterrupted = true;
        return report;
      }
      if (!attempt) {
        continue; // the error that another case met comes
      }
      if (!*attempt) {
        return attempt->error();
      }
      AccuracyRow &row = (*attempt)->row;
      const bool failed = !row.failure.empty();
      if (choice.wants(failed)) {
        auto small = failed && options.onlyCase.empty()
                         ? madeSmall(generation, progress, chip, (*grid)[i], **attempt)
                         : std::nullopt;
        const Attempt &keptOne = small ? small->second : **attempt;
        if (Status kept =
                keepAttempt(generation, keptOne, small ? small->first : (*grid)[i], options);
            !kept) {
          return kept.error();
        }
        choice.choose(fmt::format("{} ({})", keptOne.row.caseName, torchName(dtype)), failed);
        report.kept = choice.name();
      }
      report.rows.push_back(std::move(row));
    }
    if (progress.hasLostDevice()) {
      report.isDeviceLost = true;
      return report;
    }
    const auto mine = report.rows.end() - static_cast<long>(grid->size());
    bool isNothing = std::all_of(mine, report.rows.end(),
                                 [](const AccuracyRow &row) { return !row.skipped.empty(); });
    if (isNothing) {
      report.rows.back().failure =
          "every case was skipped, so nothing is verified; " + report.rows.back().skipped;
    }
  }
  if (options.onlyCase.empty()) {
    report.unlaunched = unlaunchedKernels(generation, report.rows);
  }
  return report;
}

std::vector<std::string> unlaunchedKernels(const Generation &generation,
                                           std::span<const AccuracyRow> rows) {
  std::set<std::string> launched;
  std::set<DType> dtypes;
  for (const AccuracyRow &row : rows) {
    launched.insert(row.kernels.begin(), row.kernels.end());
    dtypes.insert(row.dtype);
  }
  std::vector<std::string> names;
  for (const DType dtype : dtypes) {
    for (const generator::LaunchEntry &entry : generation.program.tables.at(dtype).kernels) {
      if (launched.insert(entry.function).second) { // each is named once
        names.push_back(entry.function);
      }
    }
  }
  return names;
}

} // namespace nereid::develop
