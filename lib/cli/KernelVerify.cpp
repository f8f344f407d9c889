// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/KernelVerify.h"

#include "lib/cli/KernelData.h"
#include "lib/cli/KernelTrial.h"
#include "lib/report/Table.h"
#include "lib/verify/KeptCase.h"
#include "lib/verify/Limits.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
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

  bool isEmpty() const { return table.isEmpty(); }
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

/// Magnitudes come nearer to 1 until enough of the results can be verified.
Status tryData(const KernelCase &one, const std::vector<std::string> &inputs, OtherData other,
               uint64_t seed, Ready &ready, CaseRows &rows, Diagnostics &diags) {
  while (true) {
    const std::string chosen = replaceInputs(inputs, other, seed, ready.arguments);
    auto verdict = judge(one, ready, diags);
    if (!verdict) {
      return verdict.error();
    }
    const bool isEnough = verdict->unverifiable <= verify::mostUnverifiable;
    if (isEnough || !verdict->wrong.empty() ||
        std::fabs(other.data.range) < verify::smallestRange) {
      const std::string data =
          definition::name(other.data) + (chosen.empty() ? "" : " in '" + chosen + "'");
      return rows.add({one, data, ready}, *verdict);
    }
    other.data.range /= 2;
  }
}

/// A case that is verified.
struct Chosen {
  const KernelCase *one = nullptr;
  /// Its place among the cases for test, which share the kinds of data out; none has only its own.
  std::optional<size_t> place;
};

Result<std::vector<Chosen>> chosenCases(const std::vector<KernelCase> &cases,
                                        const KernelVerifyOptions &options) {
  std::vector<Chosen> chosen;
  std::vector<std::string> names;
  size_t tests = 0;
  for (const KernelCase &one : cases) {
    const std::optional<size_t> place = one.isTest ? std::optional(tests++) : std::nullopt;
    const bool isNamed = one.name == options.onlyCase && !one.reference.empty();
    if (options.onlyCase.empty() ? one.isTest : isNamed) {
      chosen.push_back({&one, place});
    }
    if (!one.reference.empty()) {
      names.push_back(one.name);
    }
  }
  if (chosen.empty() && !options.onlyCase.empty()) {
    return verify::unknownCase(options.input, options.onlyCase, names);
  }
  if (chosen.empty()) {
    return makeError("E0016", fmt::format("'{}' has no case for test", options.input));
  }
  return chosen;
}

/// The case on its own data, then on its share of the others.
Status verifyCase(const Chosen &chosen, size_t tests, uint64_t seed,
                  const KernelVerifyOptions &options, const std::vector<std::string> &importPaths,
                  CaseRows &rows, Diagnostics &diags) {
  const KernelCase &one = *chosen.one;
  auto ready = prepareCase(one, options.execution, importPaths, diags);
  if (!ready) {
    return ready.error();
  }
  auto verdict = judge(one, *ready, diags);
  if (!verdict) {
    return verdict.error();
  }
  if (Status added = rows.add({one, "its own", *ready}, *verdict); !added) {
    return added;
  }
  const std::vector<std::string> inputs = replaceableInputs(one, ready->arguments);
  // In the interpreter and in a runner the time goes to the case's own data.
  const bool isCompiledHere = ready->kernel.compiled().entry != nullptr;
  if (inputs.empty() || !verdict->wrong.empty() || !isCompiledHere || !chosen.place) {
    return Done{};
  }
  for (const OtherData &other : dataForCase(*chosen.place, tests, seed)) {
    if (one.isFinite && other.data.kind == definition::DataKind::Special) {
      continue;
    }
    if (auto tried = tryData(one, inputs, other, seed + *chosen.place, *ready, rows, diags);
        !tried) {
      return tried;
    }
  }
  return Done{};
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
  auto chosen = chosenCases(*cases, options);
  if (!chosen) {
    return session.fail(chosen.error());
  }
  const auto tests = static_cast<size_t>(
      std::count_if(cases->begin(), cases->end(), [](const auto &one) { return one.isTest; }));
  const uint64_t seed = options.seed.value_or(std::random_device()());
  CaseRows rows(options, seed, session);
  for (const Chosen &one : *chosen) {
    Diagnostics diags;
    auto verified = verifyCase(one, tests, seed, options, session.importPaths, rows, diags);
    if (!verified) {
      return diags.hasErrors() ? session.fail(diags) : session.fail(verified.error());
    }
  }
  rows.print();
}

} // namespace nereid::cli
