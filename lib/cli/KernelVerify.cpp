// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/KernelVerify.h"

#include "lib/cli/KernelCases.h"
#include "lib/cli/KernelLauncher.h"
#include "lib/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

/// "" when the case passes, else what is wrong.
Result<std::string> verifyCase(const KernelCase &one, const Execution &execution,
                               const std::vector<std::string> &importPaths, Diagnostics &diags) {
  auto kernel = PreparedKernel::prepare(one.kernel, one.signature, importPaths, execution, diags);
  if (!kernel) {
    return firstError(diags);
  }
  auto arguments = makeArguments(kernel->signature(), one.arguments);
  if (!arguments) {
    return arguments.error();
  }
  if (auto computed = computeInputs(one, *arguments); !computed) {
    return computed.error();
  }
  auto grid = evaluateGrid(one.grid, *arguments);
  if (!grid) {
    return grid.error();
  }
  if (auto reset = resetOutputs(one, *arguments); !reset) {
    return reset.error();
  }
  if (!kernel->launch(*grid, *arguments, diags)) {
    return firstError(diags);
  }
  auto comparison = compareOutputs(one, *arguments);
  if (!comparison) {
    return comparison.error();
  }
  return comparison->passed() ? std::string() : comparison->text();
}

} // namespace

void runKernelVerify(const KernelVerifyOptions &options, Session &session) {
  auto cases = loadCases(options.input);
  if (!cases) {
    return session.fail(cases.error());
  }
  report::Table table({"case", "kernel", "result"});
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto &one : *cases) {
    if (!one.isTest) {
      continue;
    }
    Diagnostics diags;
    auto wrong = verifyCase(one, options.execution, session.importPaths, diags);
    if (!wrong) {
      return diags.hasErrors() ? session.fail(diags) : session.fail(wrong.error());
    }
    std::string result = wrong->empty() ? "passed" : "FAILED: " + *wrong;
    if (!wrong->empty()) {
      session.status = exitCheckFailed;
    }
    std::string kernel = one.kernel.substr(one.kernel.rfind('/') + 1);
    table.add({one.name, kernel, result});
    json.push_back({{"case", one.name}, {"kernel", kernel}, {"result", result}});
  }
  if (table.isEmpty()) {
    return session.fail(
        makeError("E0016", fmt::format("'{}' has no case for test", options.input)));
  }
  fmt::print("{}", session.json ? json.dump(2) + "\n" : table.text());
}

} // namespace nereid::cli
