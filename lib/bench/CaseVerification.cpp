// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/CaseVerification.h"

#include "lib/bench/CaseTrial.h"
#include "lib/bench/OtherData.h"
#include "lib/launch/CaseReference.h"
#include "lib/launch/PreparedCase.h"
#include "lib/support/Interrupt.h"
#include "lib/verify/KeptCase.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>

namespace nereid::bench {

using launch::KernelArguments;
using launch::KernelCase;
using launch::PreparedCase;

namespace {

/// One launch with the arguments as they are.
Result<CaseRow> tryCase(const KernelCase &one, PreparedCase &ready, Diagnostics &diags) {
  if (auto reset = resetOutputs(one, ready.arguments); !reset) {
    return reset.error();
  }
  auto wrong = tryLaunch(one, ready.kernel, ready.grid, ready.arguments, diags);
  if (!wrong) {
    return wrong.error();
  }
  auto comparison = compareOutputs(one, ready.arguments);
  if (!comparison) {
    return comparison.error();
  }
  CaseRow row;
  row.caseName = one.name;
  row.kernel = one.kernel.substr(one.kernel.rfind('/') + 1);
  row.comparison = std::move(*comparison);
  row.failure = row.comparison.passed()
                    ? *wrong
                    : row.comparison.text() + (wrong->empty() ? "" : "; ") + *wrong;
  return row;
}

/// The tensors of the case as files.
Status keepRow(const CaseRow &row, const KernelCase &one, const PreparedCase &ready,
               const CaseVerificationOptions &options) {
  const KernelArguments &arguments = ready.arguments;
  verify::KeptCase kept;
  kept.name = one.name;
  kept.verdict = row.failure.empty() ? "passed" : "FAILED: " + row.failure;
  kept.command = options.command;
  for (const std::string &word :
       {std::string("--case"), one.name, std::string("--seed"), std::to_string(options.seed)}) {
    kept.command.push_back(word);
  }
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

/// A case that was right on its own data, and its inputs that other data may take the place of.
struct Judged {
  const KernelCase *one = nullptr;
  uint64_t seed = 0;
  PreparedCase ready;
  std::vector<std::string> inputs;
};

/// The rows of one verification as they come.
class Verification {
public:
  explicit Verification(const CaseVerificationOptions &options) : options(options) {}

  /// `number` among the cases for test. Of one case alone, the others only say what its share is.
  Status addCase(const KernelCase &one, size_t number, Diagnostics &diags);
  Status tryOtherData(Diagnostics &diags);
  bool isChosen(const KernelCase &one) const {
    return options.onlyCase.empty() ? one.isTest
                                    : one.name == options.onlyCase && !one.reference.empty();
  }

  CaseVerification result;

private:
  Status add(CaseRow row, const KernelCase &one, const PreparedCase &ready);
  Status tryGroup(std::vector<Judged> &group, Diagnostics &diags);
  Status tryData(Judged &judged, OtherData other, Diagnostics &diags);
  /// Too few elements to tell one kind of data from another.
  static bool isSmall(const Judged &judged) { return elementsOf(judged.ready.arguments) < 64; }
  /// Those not much larger than the smallest: how large a case is tells most kinds of data nothing.
  static std::vector<Judged *> lightOnes(const std::vector<Judged *> &cases);

  const CaseVerificationOptions &options;
  std::map<std::string, std::vector<Judged>> groups;
  KeptChoice choice{options};
};

Status Verification::add(CaseRow row, const KernelCase &one, const PreparedCase &ready) {
  row.requireVerifiable();
  const bool failed = !row.failure.empty();
  Status done = Done{};
  if (choice.wants(failed)) {
    done = keepRow(row, one, ready, options);
    choice.choose(fmt::format("{} ({})", row.caseName, row.data), failed);
    result.kept = choice.name();
  }
  result.rows.push_back(std::move(row));
  return done;
}

Status Verification::tryData(Judged &judged, OtherData other, Diagnostics &diags) {
  auto attempt = [&]() -> Result<CaseRow> {
    replaceInputs(judged.inputs, other, judged.seed, judged.ready.arguments);
    if (auto computed = computeInputs(*judged.one, judged.ready.arguments); !computed) {
      return computed.error();
    }
    return tryCase(*judged.one, judged.ready, diags);
  };
  auto row = untilVerifiable(other.data, attempt, std::identity());
  if (!row) {
    return row.error();
  }
  row->data =
      definition::name(other.data) + (other.input.empty() ? "" : " in '" + other.input + "'");
  return add(std::move(*row), *judged.one, judged.ready);
}

Status Verification::addCase(const KernelCase &one, size_t number, Diagnostics &diags) {
  const bool isWanted = isChosen(one);
  auto ready = prepareCase(one, options.execution, diags);
  if (!ready) {
    return ready.error();
  }
  if (isWanted) {
    auto row = tryCase(one, *ready, diags);
    if (!row) {
      return row.error();
    }
    row->data = "its own";
    const bool failed = !row->failure.empty();
    if (Status added = add(std::move(*row), one, *ready); !added || failed) {
      return added;
    }
  }
  std::vector<std::string> inputs = replaceableInputs(one, ready->arguments);
  // In the interpreter and in a runner the time goes to the case's own data.
  const bool isCompiledHere = ready->kernel.compiled().entry != nullptr;
  if (one.isTest && !inputs.empty() && isCompiledHere) {
    groups[dataGroup(one, inputs, ready->arguments)].push_back(
        {&one, options.seed + number, std::move(*ready), std::move(inputs)});
  }
  return Done{};
}

Status Verification::tryOtherData(Diagnostics &diags) {
  for (auto &[name, group] : groups) {
    if (auto tried = tryGroup(group, diags); !tried) {
      return tried;
    }
  }
  return Done{};
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

Status Verification::tryGroup(std::vector<Judged> &group, Diagnostics &diags) {
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
  size_t nextSpecial = 0, nextLight = 0;
  for (const OtherData &other : otherData(group.front().inputs, rowCount, options.seed)) {
    const bool isSpecial = other.data.kind == definition::DataKind::Special;
    Judged &judged =
        isSpecial ? *cases[nextSpecial++ % cases.size()] : *light[nextLight++ % light.size()];
    if (isInterrupted()) {
      return Done{};
    }
    if ((judged.one->isFinite && isSpecial) || !isChosen(*judged.one)) {
      continue;
    }
    if (auto tried = tryData(judged, other, diags); !tried) {
      return tried;
    }
  }
  return Done{};
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
  return !isInterrupted && std::all_of(rows.begin(), rows.end(),
                                       [](const CaseRow &row) { return row.failure.empty(); });
}

Result<CaseVerification> verifyCases(const std::string &folder,
                                     const std::vector<KernelCase> &cases,
                                     const CaseVerificationOptions &options, Diagnostics &diags) {
  if (auto checked = checkChoice(cases, folder, options.onlyCase); !checked) {
    return checked.error();
  }
  Verification verification(options);
  size_t number = 0;
  for (const KernelCase &one : cases) {
    if (isInterrupted() || (!one.isTest && !verification.isChosen(one))) {
      continue;
    }
    Diagnostics own;
    auto added = verification.addCase(one, number++, own);
    if (!added && !verification.isChosen(one)) {
      continue;
    }
    if (!added) {
      diags = std::move(own);
      return added.error();
    }
    for (const Diagnostic &remark : own.all()) {
      diags.add(remark);
    }
  }
  if (auto tried = verification.tryOtherData(diags); !tried) {
    return tried.error();
  }
  verification.result.isInterrupted = isInterrupted();
  return std::move(verification.result);
}

} // namespace nereid::bench
