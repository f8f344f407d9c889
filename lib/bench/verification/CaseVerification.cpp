// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/verification/CaseVerification.h"

#include "lib/bench/verification/CaseTrial.h"
#include "lib/bench/verification/OtherData.h"
#include "lib/launch/CaseReference.h"
#include "lib/launch/LostDevice.h"
#include "lib/launch/PreparedCase.h"
#include "lib/support/Interrupt.h"
#include "lib/verify/KeptCase.h"
#include "lib/verify/Limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace nereid::bench {

using launch::KernelArguments;
using launch::KernelCase;
using launch::PreparedCase;

namespace {

/// One launch with the arguments as they are.
Result<CaseRow> tryCase(const KernelCase &one, const PreparedCase &ready,
                        KernelArguments &arguments, const LaunchTrial &how, Diagnostics &diags) {
  if (auto reset = resetOutputs(one, arguments); !reset) {
    return reset.error();
  }
  CaseRow row;
  row.caseName = one.name;
  row.kernel = one.kernel.substr(one.kernel.rfind('/') + 1);
  // The errors of such a launch are the row's, whose place they are to be told at.
  Diagnostics own;
  auto tried = tryLaunch(one, ready.kernel, ready.grid, arguments, how, own);
  if (!tried && launch::isDeviceLost(tried.error())) {
    row.failure = launch::lostDeviceText(tried.error());
    row.isDeviceLost = true;
    return row;
  }
  for (const Diagnostic &remark : own.all()) {
    diags.add(remark);
  }
  if (!tried) {
    return tried.error();
  }
  const std::string &wrong = tried->wrong;
  auto comparison = compareOutputs(one, arguments);
  if (comparison && comparison->passed() && tried->again) {
    arguments = std::move(*tried->again);
    comparison = compareOutputs(one, arguments);
  }
  if (!comparison) {
    return comparison.error();
  }
  row.comparison = std::move(*comparison);
  row.failure =
      row.comparison.passed() ? wrong : row.comparison.text() + (wrong.empty() ? "" : "; ") + wrong;
  return row;
}

/// The tensors of the case as files.
Status keepRow(const CaseRow &row, const KernelCase &one, const PreparedCase &ready,
               const KernelArguments &arguments, const CaseVerificationOptions &options) {
  verify::KeptCase kept;
  kept.name = one.name;
  kept.verdict = row.failure.empty() ? "passed" : "FAILED: " + row.failure;
  kept.command = options.command;
  kept.addCommand(one.name, options.seed);
  kept.facts = {{"kernel", one.kernel},
                {"signature", one.signature},
                {"grid", fmt::format("{}", fmt::join(ready.grid, ", "))},
                {"data", row.data},
                {"seed", std::to_string(options.seed)}};
  for (const auto &[name, value] : arguments.integers) {
    kept.facts.emplace_back(name, std::to_string(value));
  }
  for (const auto &[name, value] : arguments.reals) {
    kept.facts.emplace_back(name, fmt::format("{}", value));
  }
  const std::set<std::string> outputs = outputNames(one);
  for (const auto &[name, tensor] : arguments.tensors) {
    if (!outputs.contains(name)) {
      kept.addInput(name, tensor);
    }
  }
  for (const auto &[name, tensor] : arguments.before) {
    kept.addInput(name + "_before", tensor);
  }
  for (const std::string &name : outputs) {
    kept.addOutput(name, arguments.tensors.at(name));
  }
  auto expected = expectedOutputs(one, arguments);
  if (!expected) {
    return expected.error();
  }
  for (const launch::ExpectedOutput &output : *expected) {
    kept.addExpected(output.name, output.values, output.bounds);
  }
  return verify::keepCase(options.keepIn, kept);
}

/// A case with its tensors, and the inputs that other data may take the place of: none where it
/// is not tried with other data.
struct Judged {
  const KernelCase *one = nullptr;
  uint64_t seed = 0;
  PreparedCase ready;
  std::vector<std::string> inputs;
  std::optional<CaseRow> row; ///< on its own data; none of a case that is not chosen
  /// What all other data are made from, drawn once.
  std::map<std::string, runtime::Tensor> normals;
};

/// One kind of data for one case, and what came of it.
struct DataTrial {
  Judged *judged;
  OtherData other;
  std::optional<Result<CaseRow>> row = std::nullopt;       ///< none where it was not begun
  std::optional<KernelArguments> arguments = std::nullopt; ///< of a row that is to be kept
  Diagnostics diags = {};
};

/// The rows of one verification, in the order of the cases and of their data. Several cases are
/// tried at a time: most of one is work of a single thread.
class Verification {
public:
  explicit Verification(const CaseVerificationOptions &options) : options(options) {}

  /// Those for test, or for which it is asked. Of one case alone, the others only say what its
  /// share is.
  Status addCases(const std::vector<KernelCase> &cases, Diagnostics &diags);
  Status tryOtherData(Diagnostics &diags);
  bool isChosen(const KernelCase &one) const {
    return options.onlyCase.empty() ? one.isTest
                                    : one.name == options.onlyCase && !one.reference.empty();
  }

  CaseVerification result;

private:
  Status add(CaseRow row, const KernelCase &one, const PreparedCase &ready,
             const KernelArguments &arguments);
  /// `number` among the cases of one verification. Of several, `diags` has the error.
  Result<Judged> judge(const KernelCase &one, size_t number, Diagnostics &diags) const;
  /// `nereid check` has looked at the cases of few elements. Of those of one kernel and the same
  /// types it looks at the smallest, where that has too many.
  static Status checkSmallest(std::vector<std::optional<Result<Judged>>> &all);
  Status addJudged(Judged judged);
  std::vector<DataTrial> trialsOf(std::vector<Judged> &group) const;
  void tryData(DataTrial &trial) const;
  /// Too few elements, or too short rows, to tell one kind of data from another.
  static bool isSmall(const Judged &judged);
  /// Those not much larger than the smallest: how large a case is tells most kinds of data nothing.
  static std::vector<Judged *> lightOnes(const std::vector<Judged *> &cases);
  static Judged *oneOfMostRows(const std::vector<Judged *> &cases);

  const CaseVerificationOptions &options;
  std::map<std::string, std::vector<Judged>> groups;
  KeptChoice choice{options};
};

Status Verification::add(CaseRow row, const KernelCase &one, const PreparedCase &ready,
                         const KernelArguments &arguments) {
  const bool failed = !row.failure.empty();
  Status done = Done{};
  if (choice.wants(failed)) {
    done = keepRow(row, one, ready, arguments, options);
    choice.choose(fmt::format("{} ({})", row.caseName, row.data), failed);
    result.kept = choice.name();
  }
  if (row.isDeviceLost) {
    result.deviceLost = row.failure;
  }
  result.rows.push_back(std::move(row));
  return done;
}

Result<Judged> Verification::judge(const KernelCase &one, size_t number, Diagnostics &diags) const {
  auto ready = prepareCase(one, options.execution, diags);
  if (!ready) {
    return ready.error();
  }
  Judged judged{&one, options.seed + number, std::move(*ready), {}, std::nullopt};
  if (isChosen(one)) {
    auto row = tryCase(one, judged.ready, judged.ready.arguments, {.seed = judged.seed}, diags);
    if (!row) {
      return row.error();
    }
    row->data = "its own";
    row->requireVerifiable();
    judged.row = std::move(*row);
  }
  // In the interpreter and in a runner the time goes to the case's own data.
  const bool isCompiledHere = judged.ready.kernel.compiled().entry != nullptr;
  if (one.isTest && isCompiledHere && !(judged.row && !judged.row->failure.empty())) {
    judged.inputs = replaceableInputs(one, judged.ready.arguments);
  }
  return judged;
}

Status Verification::addJudged(Judged judged) {
  if (judged.row) {
    Status added = add(std::move(*judged.row), *judged.one, judged.ready, judged.ready.arguments);
    if (!added) {
      return added;
    }
  }
  if (!judged.inputs.empty()) {
    const std::string group = dataGroup(*judged.one, judged.inputs, judged.ready.arguments);
    groups[group].push_back(std::move(judged));
  }
  return Done{};
}

Status Verification::checkSmallest(std::vector<std::optional<Result<Judged>>> &all) {
  std::map<std::string, Judged *> smallest;
  for (auto &each : all) {
    if (!each || !*each || !(**each).row) {
      continue;
    }
    Judged &judged = **each;
    Judged *&known = smallest[typesOf(*judged.one, judged.ready.arguments)];
    const bool isSmaller =
        known && elementsOf(judged.ready.arguments) < elementsOf(known->ready.arguments);
    known = !known || isSmaller ? &judged : known;
  }
  for (auto &[types, judged] : smallest) {
    const int64_t elements = elementsOf(judged->ready.arguments);
    if (elements <= verify::largestChecked || elements > verify::largestCheckedOnce ||
        !judged->row->failure.empty()) {
      continue;
    }
    auto found = checkLaunch(*judged->one, judged->ready.kernel, judged->ready.grid,
                             judged->ready.arguments);
    if (!found) {
      return found.error();
    }
    judged->row->failure = *found;
  }
  return Done{};
}

Status Verification::addCases(const std::vector<KernelCase> &cases, Diagnostics &diags) {
  std::vector<const KernelCase *> wanted;
  for (const KernelCase &one : cases) {
    if (one.isTest || isChosen(one)) {
      wanted.push_back(&one);
    }
  }
  std::vector<std::optional<Result<Judged>>> judged(wanted.size());
  std::vector<Diagnostics> remarks(wanted.size());
  forEachAtOnce(wanted.size(), [&](size_t i) {
    judged[i] = judge(*wanted[i], i, remarks[i]);
    if (!*judged[i]) {
      return !isChosen(*wanted[i]) && !launch::isDeviceLost(judged[i]->error());
    }
    const std::optional<CaseRow> &row = (*judged[i])->row;
    return !row || !row->isDeviceLost;
  });
  if (Status checked = checkSmallest(judged); !checked) {
    return checked;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    // Not begun after an interruption or an error, which comes; or one that nobody asked for.
    if (!judged[i] || (!*judged[i] && !isChosen(*wanted[i]))) {
      continue;
    }
    if (!*judged[i] && launch::isDeviceLost(judged[i]->error())) {
      result.deviceLost = launch::lostDeviceText(judged[i]->error());
      continue; // it was not begun
    }
    if (!*judged[i]) {
      diags = std::move(remarks[i]);
      return judged[i]->error();
    }
    for (const Diagnostic &remark : remarks[i].all()) {
      diags.add(remark);
    }
    if (Status added = addJudged(std::move(**judged[i])); !added) {
      return added;
    }
  }
  return Done{};
}

void Verification::tryData(DataTrial &trial) const {
  const Judged &judged = *trial.judged;
  OtherData &other = trial.other;
  KernelArguments arguments = judged.ready.arguments.clone();
  auto attempt = [&](int drawn) -> Result<CaseRow> {
    const uint64_t seed = seedOf(judged.seed, drawn);
    replaceInputs(judged.inputs, other, seed, arguments,
                  drawn == 0 ? judged.normals : normalInputs(judged.inputs, seed, arguments));
    if (auto computed = computeInputs(*judged.one, arguments); !computed) {
      return computed.error();
    }
    // Which addresses a launch touches follows from floating-point numbers in branches at most, and
    // those that are not finite lead into most of them.
    const bool isChecked = judged.row && other.data.kind != definition::DataKind::Special;
    return tryCase(*judged.one, judged.ready, arguments,
                   {.seed = judged.seed, .isCheckedAlready = isChecked}, trial.diags);
  };
  auto row = untilVerifiable(other.data, attempt, std::identity());
  if (row) {
    row->data =
        definition::name(other.data) + (other.input.empty() ? "" : " in '" + other.input + "'");
    row->requireVerifiable();
    if (options.mayKeep(!row->failure.empty())) {
      trial.arguments = std::move(arguments);
    }
  }
  trial.row = std::move(row);
}

Status Verification::tryOtherData(Diagnostics &diags) {
  std::vector<DataTrial> trials;
  for (auto &[name, group] : groups) {
    for (DataTrial &trial : trialsOf(group)) {
      trials.push_back(std::move(trial));
    }
  }
  std::set<Judged *> tried;
  for (DataTrial &trial : trials) {
    tried.insert(trial.judged);
  }
  const std::vector<Judged *> drawn(tried.begin(), tried.end());
  forEachAtOnce(drawn.size(), [&](size_t i) {
    Judged &one = *drawn[i];
    one.normals = normalInputs(one.inputs, one.seed, one.ready.arguments);
    return true;
  });
  forEachAtOnce(trials.size(), [&](size_t i) {
    tryData(trials[i]);
    return *trials[i].row && !(*trials[i].row)->isDeviceLost;
  });
  for (DataTrial &trial : trials) {
    if (!trial.row) {
      continue;
    }
    for (const Diagnostic &remark : trial.diags.all()) {
      diags.add(remark);
    }
    if (!*trial.row) {
      return trial.row->error();
    }
    const Judged &judged = *trial.judged;
    Status added = add(std::move(**trial.row), *judged.one, judged.ready,
                       trial.arguments ? *trial.arguments : judged.ready.arguments);
    if (!added) {
      return added;
    }
  }
  return Done{};
}

bool Verification::isSmall(const Judged &judged) {
  constexpr int64_t fewElements = 64, shortRow = 16;
  const KernelArguments &arguments = judged.ready.arguments;
  return elementsOf(arguments) < fewElements || shortestRow(judged.inputs, arguments) < shortRow;
}

std::vector<Judged *> Verification::lightOnes(const std::vector<Judged *> &cases) {
  constexpr int64_t muchLarger = 4;
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const Judged *judged : cases) {
    fewest = std::min(fewest, elementsOf(judged->ready.arguments));
  }
  std::vector<Judged *> light;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(light), [&](const Judged *judged) {
    return elementsOf(judged->ready.arguments) <= muchLarger * fewest;
  });
  return light;
}

Judged *Verification::oneOfMostRows(const std::vector<Judged *> &cases) {
  return *std::max_element(cases.begin(), cases.end(), [](const Judged *left, const Judged *right) {
    return fewestRows(left->inputs, left->ready.arguments) <
           fewestRows(right->inputs, right->ready.arguments);
  });
}

std::vector<DataTrial> Verification::trialsOf(std::vector<Judged> &group) const {
  std::vector<Judged *> cases;
  int64_t rowCount = std::numeric_limits<int64_t>::max();
  const bool areSmall = std::all_of(group.begin(), group.end(), isSmall);
  for (Judged &judged : group) {
    if (areSmall || !isSmall(judged)) {
      cases.push_back(&judged);
      rowCount = std::min(rowCount, fewestRows(judged.inputs, judged.ready.arguments));
    }
  }
  const std::vector<Judged *> light = lightOnes(cases);
  std::vector<DataTrial> trials;
  size_t nextLarge = 0, nextLight = 0;
  for (const OtherData &other : otherData(group.front().inputs, rowCount, options.seed)) {
    const bool isSpecial = other.data.kind == definition::DataKind::Special;
    // Rows that rise differ in how far their last number stands out.
    Judged &judged = other.isForLarge ? *cases[nextLarge++ % cases.size()]
                     : other.data.kind == definition::DataKind::SortedRows
                         ? *oneOfMostRows(light)
                         : *light[nextLight++ % light.size()];
    if ((!judged.one->isFinite || !isSpecial) && isChosen(*judged.one)) {
      trials.push_back({&judged, other});
    }
  }
  return trials;
}

/// E0016, or which names there are.
Status checkChoice(const std::vector<KernelCase> &cases, const std::string &folder,
                   const std::string &onlyCase) {
  std::vector<std::string> names;
  bool hasTest = false;
  for (const KernelCase &one : cases) {
    hasTest |= one.isTest;
    if (!one.reference.empty()) {
      names.push_back(one.name);
    }
  }
  if (onlyCase.empty()) {
    return hasTest ? Status(Done{})
                   : makeError("E0016", fmt::format("'{}' has no case for test", folder));
  }
  const bool isKnown = std::find(names.begin(), names.end(), onlyCase) != names.end();
  return isKnown ? Status(Done{}) : verify::unknownCase(folder, onlyCase, names);
}

} // namespace

bool CaseVerification::passed() const {
  return !isInterrupted && deviceLost.empty() &&
         std::all_of(rows.begin(), rows.end(),
                     [](const CaseRow &row) { return row.failure.empty(); });
}

Result<CaseVerification> verifyCases(const std::string &folder,
                                     const std::vector<KernelCase> &cases,
                                     const CaseVerificationOptions &options, Diagnostics &diags) {
  if (auto checked = checkChoice(cases, folder, options.onlyCase); !checked) {
    return checked.error();
  }
  Verification verification(options);
  if (auto added = verification.addCases(cases, diags); !added) {
    return added.error();
  }
  if (verification.result.deviceLost.empty()) {
    if (auto tried = verification.tryOtherData(diags); !tried) {
      return tried.error();
    }
  }
  verification.result.isInterrupted = isInterrupted();
  return std::move(verification.result);
}

} // namespace nereid::bench
