// SPDX-License-Identifier: Apache-2.0
// `nereid profile`: what kernels take of a device, and what they reach there.
#include "lib/bench/profile/ProfileReport.h"
#include "lib/cli/develop/KernelBench.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/support/Interrupt.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace nereid::cli {
namespace {

void runProfile(const KernelBenchOptions &options, Session &session) {
  auto cases = benchCases(options);
  if (!cases) {
    return session.fail(cases.error());
  }
  watchInterrupt();
  nlohmann::ordered_json all = {{"schema", 1}, {"profiles", nlohmann::ordered_json::array()}};
  for (const launch::KernelCase &one : *cases) {
    if (isInterrupted()) {
      session.status = interruptStatus();
      break;
    }
    Diagnostics diags;
    const launch::Execution execution{
        .target = options.target, .chip = options.chip, .importPaths = session.importPaths};
    auto profile = bench::profileKernel(one, {execution, options.secondsPerCase}, diags);
    if (!profile) {
      return session.fail(diags);
    }
    printWarnings(diags);
    if (profile->measured && !profile->measured->failure.empty()) {
      session.status = exitCheckFailed;
    }
    if (session.json) {
      all["profiles"].push_back(bench::profileJson(*profile));
    } else {
      fmt::print("{}", bench::profileText(*profile));
    }
  }
  if (session.json) {
    fmt::print("{}\n", all.dump(2));
  }
}

} // namespace

void addProfile(CLI::App &app, Session &session) {
  auto options = std::make_shared<KernelBenchOptions>();
  CLI::App *command = app.add_subcommand(
      "profile", "what a kernel takes of a device and what it reaches: time, registers, shared "
                 "memory, occupancy, waves");
  command->add_option("kernel", options->given.kernel, "kernels/OP or FILE.py[:function]")
      ->required();
  command
      ->add_option("--target", options->target,
                   "a device, nvidia:0; or an architecture, nvidia:sm_90a, for all but the time")
      ->required();
  command->add_option("--chip", options->chip,
                      "descriptor of the device: its rates and processors");
  command->add_option("--seconds-per-case", options->secondsPerCase, "timing budget")
      ->check(CLI::Range(0.001, 3600.0));
  addKernelBenchOptions(*command, *options);
  addImportPaths(*command, session);
  command->callback([options, command, &session] {
    const std::string &input = options->given.kernel;
    if (!isKernelBench(input)) {
      return session.fail(makeError("E0013", "profile expects kernels/OP with cases.toml or "
                                             "FILE.py, but got '" +
                                                 input + "'"));
    }
    if (auto unused = unusedBenchOption(*command, input)) {
      return session.fail(*unused);
    }
    runProfile(*options, session);
  });
}

} // namespace nereid::cli
