// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/KernelVerify.h"

#include "lib/cli/KernelData.h"
#include "lib/cli/KernelTrial.h"
#include "lib/cli/StandardStreams.h"
#include "lib/report/Table.h"
#include "lib/support/Interrupt.h"
#include "lib/verify/KeptCase.h"
#include "lib/verify/Limits.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <random>

namespace nereid::cli {

namespace {

const Diagnostic &firstError(const Diagnostics &diags) {
  for (const Diagnostic &diagnostic : diags.all()) {
    if (diagnostic.severity == Severity::Error) {
      return diagnostic;
    }
  }
  return diags.all().front();
}

/// A case ready to launch again and again.
struct Ready {
  PreparedKernel kernel;
  KernelArguments arguments;
  runtime::Grid grid;
};

Result<Ready> prepareCase(const KernelCase &one, const Execution &execution,
                          const std::vector<std::string> &importPaths, Diagnostics &diags) {
  auto kernel = PreparedKernel::prepare(one.kernel, one.signature, importPaths, execution, diags);
  if (!kernel) {
    return firstError(diags);
  }
  auto arguments = makeArguments(kernel->signature(), one.arguments);
  if (!arguments) {
    return arguments.error();
  }
  auto grid = evaluateGrid(one.grid, *arguments);
  if (!grid) {
    return grid.error();
  }
  return Ready{std::move(*kernel), std::move(*arguments), *grid};
}

struct Verdict {
  std::string wrong;       ///< "" when it passes
  double unverifiable = 0; ///< share of the elements
};

/// One launch with the arguments as they are.
Result<Verdict> judge(const KernelCase &one, Ready &ready, Diagnostics &diags) {
  if (auto computed = computeInputs(one, ready.arguments); !computed) {
    return computed.error();
  }
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
  Verdict verdict{*wrong};
  if (!comparison->passed()) {
    verdict.wrong = comparison->text() + (wrong->empty() ? "" : "; " + *wrong);
  }
  verdict.unverifiable = static_cast<double>(comparison->unverifiable) /
                         static_cast<double>(std::max<int64_t>(1, comparison->elements));
  return verdict;
}

/// A command line that verifies the same folder in the same way.
std::vector<std::string> verifyCommand(const KernelVerifyOptions &options,
                                       const std::vector<std::string> &importPaths) {
  std::error_code ignored;
  auto absolute = [&](const std::string &path) {
    return std::filesystem::absolute(path, ignored).lexically_normal().string();
  };
  const Execution &execution = options.execution;
  std::vector<std::string> words = {"nereid", "verify", absolute(options.input), "--target",
                                    execution.target};
  if (execution.interpret) {
    words.emplace_back("--interpret");
  }
  if (!execution.runner.empty()) {
    words.insert(words.end(), {"--runner", execution.runner});
  }
  for (const std::string &folder : importPaths) {
    words.insert(words.end(), {"--import-path", absolute(folder)});
  }
  return words;
}

/// One way of trying a case.
struct Turn {
  const KernelCase &one;
  std::string data; ///< "its own", or what took its place
  const Ready &ready;
};

/// The tensors of the turn as files.
Status keepTurn(const Turn &turn, const std::string &verdict, uint64_t seed,
                const KernelVerifyOptions &options, const std::vector<std::string> &importPaths) {
  const KernelArguments &arguments = turn.ready.arguments;
  verify::KeptCase kept;
  kept.name = turn.one.name;
  kept.verdict = verdict;
  kept.command = verifyCommand(options, importPaths);
  for (const std::string &word :
       {std::string("--case"), turn.one.name, std::string("--seed"), std::to_string(seed)}) {
    kept.command.push_back(word);
  }
  kept.facts = {{"kernel", turn.one.kernel},
                {"signature", turn.one.signature},
                {"grid", fmt::format("{}", fmt::join(turn.ready.grid, ", "))},
                {"data", turn.data},
                {"seed", std::to_string(seed)}};
  for (const auto &[name, value] : arguments.integers) {
    kept.facts.emplace_back(name, std::to_string(value));
  }
  for (const auto &[name, value] : arguments.reals) {
    kept.facts.emplace_back(name, fmt::format("{}", value));
  }
  const std::set<std::string> outputs = outputNames(turn.one);
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
  auto expected = expectedOutputs(turn.one, arguments);
  if (!expected) {
    return expected.error();
  }
  for (const ExpectedOutput &output : *expected) {
    kept.addExpected(output.name, output.values, output.bounds);
  }
  return verify::keepCase(options.keepIn, kept);
}

/// Rows of the table; keeps the tensors of one of them.
class CaseRows {
public:
  CaseRows(const KernelVerifyOptions &options, uint64_t seed, Session &session)
      : options(options), seed(seed), session(session) {}

  Status add(const Turn &turn, const Verdict &verdict) {
    Verdict shown = verdict;
    if (shown.wrong.empty() && shown.unverifiable > verify::mostUnverifiable) {
      shown.wrong = fmt::format("{} of the elements cannot be verified: a right kernel may leave "
                                "the range of its type there",
                                report::formatPercent(shown.unverifiable));
    }
    const bool failed = !shown.wrong.empty();
    const std::string result = failed ? "FAILED: " + shown.wrong : "passed";
    if (failed) {
      session.status = exitCheckFailed;
    }
    const std::string kernel = turn.one.kernel.substr(turn.one.kernel.rfind('/') + 1);
    table.add({turn.one.name, turn.data, kernel, result});
    json.push_back({{"case", turn.one.name},
                    {"data", turn.data},
                    {"kernel", kernel},
                    {"unverifiable", shown.unverifiable},
                    {"result", result}});
    const bool isWanted = failed || (!options.onlyCase.empty() && keptName.empty());
    if (options.keepIn.empty() || keptFailure || !isWanted) {
      return Done{};
    }
    keptFailure = failed;
    keptName = fmt::format("{} ({})", turn.one.name, turn.data);
    return keepTurn(turn, result, seed, options, session.importPaths);
  }

  void print() const {
    if (session.json) {
      fmt::print("{}\n", nlohmann::ordered_json({{"seed", seed}, {"rows", json}}).dump(2));
    } else {
      fmt::print("{}other data than the cases' own: --seed {}\n", table.text(), seed);
      printKept(options.keepIn, keptName);
    }
  }

private:
  const KernelVerifyOptions &options;
  uint64_t seed;
  Session &session;
  report::Table table = report::Table({"case", "data", "kernel", "result"});
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  bool keptFailure = false;
  std::string keptName;
};

/// A case that was right on its own data, and its inputs that other data may take the place of.
struct Judged {
  const KernelCase *one = nullptr;
  uint64_t seed = 0;
  Ready ready;
  std::vector<std::string> inputs;
};

/// Magnitudes come nearer to 1 until enough of the results can be verified.
Status tryData(Judged &judged, OtherData other, CaseRows &rows, Diagnostics &diags) {
  while (true) {
    replaceInputs(judged.inputs, other, judged.seed, judged.ready.arguments);
    auto verdict = judge(*judged.one, judged.ready, diags);
    if (!verdict) {
      return verdict.error();
    }
    const bool isEnough = verdict->unverifiable <= verify::mostUnverifiable;
    if (isEnough || !verdict->wrong.empty() ||
        std::fabs(other.data.range) < verify::smallestRange) {
      const std::string data =
          definition::name(other.data) + (other.input.empty() ? "" : " in '" + other.input + "'");
      return rows.add({*judged.one, data, judged.ready}, *verdict);
    }
    other.data.range /= 2;
  }
}

/// Cases of a folder, each on its own data; then every kind of other data on one of the cases of
/// each kernel and type.
class FolderVerification {
public:
  FolderVerification(const KernelVerifyOptions &options, uint64_t seed, Session &session)
      : options(options), seed(seed), session(session), rows(options, seed, session) {}

  /// `number` among the cases for test. Of one case alone, the others only say what its share is.
  Status addCase(const KernelCase &one, size_t number, Diagnostics &diags) {
    const bool isWanted = isChosen(one);
    auto ready = prepareCase(one, options.execution, session.importPaths, diags);
    if (!ready) {
      return ready.error();
    }
    if (isWanted) {
      auto verdict = judge(one, *ready, diags);
      if (!verdict) {
        return verdict.error();
      }
      if (Status added = rows.add({one, "its own", *ready}, *verdict); !added) {
        return added;
      }
      if (!verdict->wrong.empty()) {
        return Done{};
      }
    }
    std::vector<std::string> inputs = replaceableInputs(one, ready->arguments);
    // In the interpreter and in a runner the time goes to the case's own data.
    const bool isCompiledHere = ready->kernel.compiled().entry != nullptr;
    if (one.isTest && !inputs.empty() && isCompiledHere) {
      groups[dataGroup(one, inputs, ready->arguments)].push_back(
          {&one, seed + number, std::move(*ready), std::move(inputs)});
    }
    return Done{};
  }

  Status tryOtherData(Diagnostics &diags) {
    for (auto &[name, group] : groups) {
      if (auto tried = tryGroup(group, diags); !tried) {
        return tried;
      }
    }
    return Done{};
  }

  bool isChosen(const KernelCase &one) const {
    return options.onlyCase.empty() ? one.isTest
                                    : one.name == options.onlyCase && !one.reference.empty();
  }
  const CaseRows &table() const { return rows; }

private:
  Status tryGroup(std::vector<Judged> &group, Diagnostics &diags) {
    std::vector<Judged *> cases;
    int64_t rowCount = std::numeric_limits<int64_t>::max();
    const bool areSmall = std::all_of(group.begin(), group.end(), isSmall);
    for (Judged &judged : group) {
      if (areSmall || !isSmall(judged)) {
        cases.push_back(&judged);
        rowCount = std::min(rowCount, fewestRows(judged.inputs, judged.ready.arguments));
      }
    }
    size_t next = 0;
    for (const OtherData &other : otherData(group.front().inputs, rowCount, seed)) {
      Judged &judged = *cases[next++ % cases.size()];
      const bool isForOthers =
          judged.one->isFinite && other.data.kind == definition::DataKind::Special;
      if (isInterrupted()) {
        return Done{};
      }
      if (isForOthers || !isChosen(*judged.one)) {
        continue;
      }
      if (auto tried = tryData(judged, other, rows, diags); !tried) {
        return tried;
      }
    }
    return Done{};
  }

  /// Too few elements to tell one kind of data from another.
  static bool isSmall(const Judged &judged) { return elementsOf(judged.ready.arguments) < 64; }

  const KernelVerifyOptions &options;
  uint64_t seed;
  Session &session;
  CaseRows rows;
  std::map<std::string, std::vector<Judged>> groups;
};

/// E0016, or which names there are.
Status checkChoice(const std::vector<KernelCase> &cases, const KernelVerifyOptions &options) {
  std::vector<std::string> names;
  bool hasTest = false;
  for (const KernelCase &one : cases) {
    hasTest |= one.isTest;
    if (!one.reference.empty()) {
      names.push_back(one.name);
    }
  }
  if (options.onlyCase.empty()) {
    return hasTest ? Status(Done{})
                   : makeError("E0016", fmt::format("'{}' has no case for test", options.input));
  }
  const bool isKnown = std::find(names.begin(), names.end(), options.onlyCase) != names.end();
  return isKnown ? Status(Done{}) : verify::unknownCase(options.input, options.onlyCase, names);
}

} // namespace

void printKept(const std::string &folder, const std::string &name) {
  if (folder.empty()) {
    return;
  }
  if (name.empty()) {
    fmt::print("No case failed: nothing is kept in {}\n", folder);
  } else {
    fmt::print("Kept in {}: {}; case.txt says how to run it again\n", folder, name);
  }
}

void runKernelVerify(const KernelVerifyOptions &options, Session &session) {
  auto cases = loadCases(options.input);
  if (!cases) {
    return session.fail(cases.error());
  }
  if (auto checked = checkChoice(*cases, options); !checked) {
    return session.fail(checked.error());
  }
  watchInterrupt();
  FolderVerification folder(options, options.seed.value_or(std::random_device()()), session);
  size_t number = 0;
  for (const KernelCase &one : *cases) {
    if (isInterrupted() || (!one.isTest && !folder.isChosen(one))) {
      continue;
    }
    Diagnostics diags;
    auto added = folder.addCase(one, number++, diags);
    if (!added && folder.isChosen(one)) {
      return diags.hasErrors() ? session.fail(diags) : session.fail(added.error());
    }
  }
  Diagnostics diags;
  if (auto tried = folder.tryOtherData(diags); !tried) {
    return diags.hasErrors() ? session.fail(diags) : session.fail(tried.error());
  }
  folder.table().print();
  if (isInterrupted()) {
    session.status = interruptStatus();
    printError("interrupted: the cases above are verified, the others are not\n");
  }
}

} // namespace nereid::cli
