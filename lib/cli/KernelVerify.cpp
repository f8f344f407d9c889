// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/KernelVerify.h"

#include "lib/cli/KernelData.h"
#include "lib/cli/KernelTrial.h"
#include "lib/report/Table.h"
#include "lib/verify/Limits.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
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

/// The case's own data first, `data` after it; rows of the table.
class CaseRows {
public:
  explicit CaseRows(Session &session) : session(session) {}

  void add(const KernelCase &one, const std::string &data, const Verdict &verdict) {
    Verdict shown = verdict;
    if (shown.wrong.empty() && shown.unverifiable > verify::mostUnverifiable) {
      shown.wrong = fmt::format("{} of the elements cannot be verified: a right kernel may leave "
                                "the range of its type there",
                                report::formatPercent(shown.unverifiable));
    }
    const std::string result = shown.wrong.empty() ? "passed" : "FAILED: " + shown.wrong;
    if (!shown.wrong.empty()) {
      session.status = exitCheckFailed;
    }
    const std::string kernel = one.kernel.substr(one.kernel.rfind('/') + 1);
    table.add({one.name, data, kernel, result});
    json.push_back({{"case", one.name},
                    {"data", data},
                    {"kernel", kernel},
                    {"unverifiable", shown.unverifiable},
                    {"result", result}});
  }

  bool isEmpty() const { return table.isEmpty(); }
  void print(uint64_t seed) const {
    if (session.json) {
      fmt::print("{}\n", nlohmann::ordered_json({{"seed", seed}, {"rows", json}}).dump(2));
    } else {
      fmt::print("{}other data than the cases' own: --seed {}\n", table.text(), seed);
    }
  }

private:
  Session &session;
  report::Table table = report::Table({"case", "data", "kernel", "result"});
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
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
      rows.add(one, definition::name(other.data) + (chosen.empty() ? "" : " in '" + chosen + "'"),
               *verdict);
      return Done{};
    }
    other.data.range /= 2;
  }
}

} // namespace

void runKernelVerify(const KernelVerifyOptions &options, Session &session) {
  auto cases = loadCases(options.input);
  if (!cases) {
    return session.fail(cases.error());
  }
  const uint64_t seed = options.seed.value_or(std::random_device()());
  std::vector<const KernelCase *> tests;
  for (const KernelCase &one : *cases) {
    if (one.isTest) {
      tests.push_back(&one);
    }
  }
  CaseRows rows(session);
  for (size_t i = 0; i < tests.size(); ++i) {
    const KernelCase &one = *tests[i];
    Diagnostics diags;
    auto fail = [&](const Diagnostic &error) {
      return diags.hasErrors() ? session.fail(diags) : session.fail(error);
    };
    auto ready = prepareCase(one, options.execution, session.importPaths, diags);
    if (!ready) {
      return fail(ready.error());
    }
    auto verdict = judge(one, *ready, diags);
    if (!verdict) {
      return fail(verdict.error());
    }
    rows.add(one, "its own", *verdict);
    const std::vector<std::string> inputs = replaceableInputs(one, ready->arguments);
    // In the interpreter and in a runner the time goes to the case's own data.
    const bool isCompiledHere = ready->kernel.compiled().entry != nullptr;
    if (inputs.empty() || !verdict->wrong.empty() || !isCompiledHere) {
      continue;
    }
    for (const OtherData &other : dataForCase(i, tests.size(), seed)) {
      if (one.isFinite && other.data.kind == definition::DataKind::Special) {
        continue;
      }
      if (auto tried = tryData(one, inputs, other, seed + i, *ready, rows, diags); !tried) {
        return fail(tried.error());
      }
    }
  }
  if (rows.isEmpty()) {
    return session.fail(
        makeError("E0016", fmt::format("'{}' has no case for test", options.input)));
  }
  rows.print(seed);
}

} // namespace nereid::cli
