// SPDX-License-Identifier: Apache-2.0
// Commands that only tell: explain, chips, knobs, doctor.
#include "lib/cli/Command.h"
#include "lib/measure/Chip.h"
#include "lib/report/Table.h"
#include "lib/support/DiskCache.h"
#include "lib/support/Knobs.h"
#include "lib/support/Version.h"
#include "runtime/ThreadPool.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdlib>

namespace nereid::cli {

namespace {

void explain(const std::string &code, Session &session) {
  if (code.empty()) {
    report::Table table({"code", "meaning"});
    for (const auto &entry : allCodes()) {
      table.add({std::string(entry.code), std::string(entry.title)});
    }
    fmt::print("{}", table.text());
    return;
  }
  auto text = explainCode(code);
  if (text.title.empty()) {
    std::vector<std::string> known;
    for (const auto &entry : allCodes()) {
      known.emplace_back(entry.code);
    }
    auto error = makeError("E0015", fmt::format("there is no diagnostic code '{}'", code));
    auto near = nearestNames(code, known);
    if (!near.empty()) {
      error.note(fmt::format("nearest codes: {}", fmt::join(near, ", ")));
    }
    return session.fail(error.withHelp("nereid explain lists all codes"));
  }
  fmt::print("{}: {}\n\n{}\n", text.code, text.title, text.paragraph);
}

void showChip(bool recalibrate, Session &session) {
  auto chip = measure::thisChip(recalibrate);
  if (session.json) {
    fmt::print("{}", measure::toJson(chip));
    return;
  }
  report::Table table({"property", "value"});
  table.add({"name", chip.name});
  table.add({"cores", std::to_string(chip.cores)});
  table.add({"vector", fmt::format("{} bytes, {} registers", chip.vectorBytes,
                                   chip.vectorRegisters)});
  table.add({"memory", report::formatBytes(static_cast<double>(chip.memoryBytes))});
  for (const auto &cache : chip.caches) {
    table.add({cache.name, fmt::format("{}, {} by one thread (read + write)",
                                       report::formatBytes(static_cast<double>(cache.bytes)),
                                       report::formatRate(cache.bytesPerSecond))});
  }
  for (const auto &[type, rate] : chip.peakFlops) {
    auto one = chip.peakFlopsOneCore.find(type);
    table.add({"peak " + type,
               fmt::format("{}, one core {}", report::formatFlops(rate),
                           report::formatFlops(one == chip.peakFlopsOneCore.end() ? 0
                                                                                   : one->second))});
  }
  table.add({"copy", fmt::format("{}, one core {} (read + write)",
                                 report::formatRate(chip.copyBandwidth),
                                 report::formatRate(chip.copyBandwidthOneCore))});
  table.add({"read, write", fmt::format("{}, {}", report::formatRate(chip.readBandwidth),
                                        report::formatRate(chip.writeBandwidth))});
  fmt::print("{}", table.text());
}

void showKnobs() {
  report::Table table({"variable", "now", "meaning"});
  for (const auto &knob : allKnobs()) {
    const char *value = std::getenv(std::string(knob.variable).c_str());
    table.add({std::string(knob.variable), value == nullptr ? "" : value,
               std::string(knob.meaning)});
  }
  fmt::print("{}", table.text());
}

void doctor() {
  auto chip = measure::detectChip();
  DiskCache &cache = DiskCache::forKernels();
  report::Table table({"what", "state"});
  table.add({"nereid", fmt::format("{} ({}), {}", versionText(), revisionText(), compilerText())});
  table.add({"chip", chip.name});
  table.add({"threads", std::to_string(runtime::defaultPool().threadCount())});
  table.add({"kernel cache", cache.directory().empty() ? "none" : cache.directory()});
  (void)cache.read("doctor");
  std::string problem = cache.problem();
  table.add({"cache state", problem.empty() ? "usable" : problem});
  fmt::print("{}", table.text());
}

} // namespace

void addInformation(CLI::App &app, Session &session) {
  auto code = std::make_shared<std::string>();
  auto *explainCommand = app.add_subcommand("explain", "what a diagnostic code means");
  explainCommand->add_option("code", *code, "e.g. E0214; none lists all");
  explainCommand->callback([code, &session] { explain(*code, session); });

  auto recalibrate = std::make_shared<bool>(false);
  auto *chips = app.add_subcommand("chips", "this machine's descriptor, measured at first use");
  chips->add_flag("--recalibrate", *recalibrate, "measure again");
  chips->callback([recalibrate, &session] { showChip(*recalibrate, session); });

  app.add_subcommand("knobs", "environment variables that change behaviour")->callback(showKnobs);
  app.add_subcommand("doctor", "what is there and what is missing")->callback(doctor);
}

} // namespace nereid::cli
