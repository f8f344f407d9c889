// SPDX-License-Identifier: Apache-2.0
// Commands that only tell: explain, chips, ops, knobs, doctor.
#include "lib/cli/Command.h"
#include "lib/cli/OptionUse.h"
#include "lib/cli/sweep/OperatorList.h"
#include "lib/language/emit/builtins/BuiltinTable.h"
#include "lib/measure/peaks/ThisChip.h"
#include "lib/measure/peers/Peers.h"
#include "lib/measure/results/Environment.h"
#include "lib/pipeline/Target.h"
#include "lib/report/Table.h"
#include "lib/support/DiskCache.h"
#include "lib/support/Documents.h"
#include "lib/support/Knobs.h"
#include "lib/support/Version.h"
#include "runtime/Device.h"
#include "runtime/DeviceKinds.h"
#include "runtime/ThreadPool.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace nereid::cli {

namespace {

void explain(std::string code, Session &session) {
  std::transform(code.begin(), code.end(), code.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  auto describe = [](const CodeText &entry) {
    return nlohmann::ordered_json{
        {"code", entry.code}, {"title", entry.title}, {"meaning", withDocuments(entry.paragraph)}};
  };
  if (code.empty() && session.json) {
    auto json = nlohmann::ordered_json::array();
    for (const auto &entry : allCodes()) {
      json.push_back(describe(entry));
    }
    fmt::print("{}\n", json.dump(2));
    return;
  }
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
  if (session.json) {
    fmt::print("{}\n", describe(text).dump(2));
    return;
  }
  fmt::print("{}: {}\n\n{}\n", text.code, text.title, withDocuments(text.paragraph));
}

void showChip(bool recalibrate, Session &session) {
  auto chip = measure::thisChip(recalibrate);
  if (session.json) {
    fmt::print("{}", toJson(chip));
    return;
  }
  report::Table table({"property", "value"});
  table.add({"name", chip.name});
  table.add({"cores", std::to_string(chip.cores)});
  table.add(
      {"vector", fmt::format("{} bytes, {} registers", chip.vectorBytes, chip.vectorRegisters)});
  table.add({"memory", report::formatBytes(static_cast<double>(chip.memoryBytes))});
  for (const auto &cache : chip.caches) {
    table.add({cache.name, fmt::format("{}, {}, one thread {} (read + write)",
                                       report::formatBytes(static_cast<double>(cache.bytes)),
                                       report::formatRate(cache.allBytesPerSecond),
                                       report::formatRate(cache.bytesPerSecond))});
  }
  for (const auto &[type, rate] : chip.peakFlops) {
    auto one = chip.peakFlopsOneCore.find(type);
    table.add(
        {"peak " + type,
         fmt::format("{}, one core {}", report::formatFlops(rate),
                     report::formatFlops(one == chip.peakFlopsOneCore.end() ? 0 : one->second))});
  }
  table.add(
      {"copy", fmt::format("{}, one core {} (read + write)", report::formatRate(chip.copyBandwidth),
                           report::formatRate(chip.copyBandwidthOneCore))});
  table.add({"read, write", fmt::format("{}, {}", report::formatRate(chip.readBandwidth),
                                        report::formatRate(chip.writeBandwidth))});
  const Calibration &calibration = chip.calibration;
  table.add({"measured", fmt::format("{} times, the best counts", calibration.times)});
  fmt::print("{}{}", table.text(), measure::uncertaintyNote(chip));
}

void showLanguage(const Session &session) {
  report::Table table({"function", "arguments", "group", "state"});
  auto json = nlohmann::ordered_json::array();
  for (const auto &builtin : language::builtinTable()) {
    bool isMethod = builtin.name.find('.') != std::string::npos; // "descriptor.load"
    std::string name = (isMethod ? "" : "tl.") + builtin.name;
    table.add({name, std::string(builtin.params), std::string(builtin.category),
               builtin.isSupported ? "" : "not supported yet"});
    json.push_back({{"function", name},
                    {"arguments", builtin.params},
                    {"group", builtin.category},
                    {"is_supported", builtin.isSupported}});
  }
  fmt::print("{}", session.json ? json.dump(2) + "\n" : table.text());
}

void showKnobs(const Session &session) {
  report::Table table({"variable", "now", "meaning"});
  auto json = nlohmann::ordered_json::array();
  for (const auto &knob : allKnobs()) {
    const char *value = std::getenv(std::string(knob.variable).c_str());
    table.add(
        {std::string(knob.variable), value == nullptr ? "" : value, std::string(knob.meaning)});
    nlohmann::ordered_json entry = {{"variable", knob.variable}, {"meaning", knob.meaning}};
    entry["now"] = value == nullptr ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
    json.push_back(std::move(entry));
  }
  fmt::print("{}", session.json ? json.dump(2) + "\n" : table.text());
}

struct DeviceState {
  std::string name, state; ///< "vendor:0"; of a kind without a device its name, and why
  bool isThere = false;
};

/// Of all kinds but the host's.
std::vector<DeviceState> findDevices() {
  std::vector<DeviceState> found;
  for (const std::string &kind : runtime::deviceKinds()) {
    for (int32_t id = 0; kind != runtime::cpuDevice().kind(); ++id) {
      const std::string name = kind + ":" + std::to_string(id);
      const auto device = runtime::findDevice(name);
      if (const auto *error = std::get_if<runtime::LaunchError>(&device)) {
        if (id == 0) {
          found.push_back({kind, fmt::format("{} [{}]", error->message, error->code)});
        }
        break;
      }
      const runtime::Device &one = *std::get<runtime::Device *>(device);
      const runtime::DeviceDescription said = one.describe();
      found.push_back(
          {name,
           fmt::format("{}, {}, {}, by {}", said.model, one.architecture(),
                       report::formatBytes(static_cast<double>(said.memoryBytes)), one.compiler()),
           true});
    }
  }
  return found;
}

void doctor(const Session &session) {
  auto chip = detectMachine();
  DiskCache &cache = DiskCache::forKernels();
  report::Table table({"what", "state"});
  table.add({"nereid", fmt::format("{} ({}), {}", versionText(), revisionText(), compilerText())});
  table.add({"chip", chip.name});
  table.add({"threads", std::to_string(runtime::defaultPool().threadCount())});
  table.add({"kernel cache", cache.directory().empty() ? "none" : cache.directory()});
  (void)cache.read("doctor");
  std::string problem = cache.problem();
  table.add({"cache state", problem.empty() ? "usable" : problem});
  auto environment = measure::describeEnvironment(chip);
  const measure::SystemState &state = environment.state;
  const auto &clocks = state.clocksMegahertz;
  table.add({"clock",
             clocks.empty()
                 ? "unknown"
                 : fmt::format("{:.0f} MHz now", *std::max_element(clocks.begin(), clocks.end()))});
  table.add({"governor", state.governor.value_or("unknown")});
  table.add({"load", state.loadAverage ? fmt::format("{:.2f}", *state.loadAverage) : "unknown"});
  const std::vector<DeviceState> devices = findDevices();
  for (const DeviceState &one : devices) {
    table.add({one.name, one.state});
  }
  const std::vector<pipeline::TargetTool> tools = pipeline::targetTools();
  for (const pipeline::TargetTool &one : tools) {
    table.add({one.name, one.state});
  }
  const std::vector<measure::PeerSource> peers = measure::peerSources();
  for (const measure::PeerSource &one : peers) {
    table.add({"peer " + one.name, (one.isThere ? "" : "none: ") + one.state});
  }
  if (session.json) {
    nlohmann::ordered_json json = {{"version", versionText()},
                                   {"revision", revisionText()},
                                   {"compiler", compilerText()},
                                   {"chip", chip.name},
                                   {"threads", runtime::defaultPool().threadCount()},
                                   {"kernel_cache", cache.directory()},
                                   {"cache_problem", problem}};
    const auto states = [](const auto &all) {
      auto list = nlohmann::ordered_json::array();
      for (const auto &one : all) {
        list.push_back({{"name", one.name}, {"is_there", one.isThere}, {"state", one.state}});
      }
      return list;
    };
    json["devices"] = states(devices);
    json["tools"] = states(tools);
    json["peers"] = states(peers);
    json["environment"] = nlohmann::ordered_json::parse(measure::toJson(environment));
    fmt::print("{}\n", json.dump(2));
    return;
  }
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

  auto isLanguage = std::make_shared<bool>(false);
  auto list = std::make_shared<OperatorListOptions>();
  auto *ops = app.add_subcommand(
      "ops", "functions that definition bodies may use, and the operators that are defined");
  ops->add_option("folder", list->folder, "of definitions, instead of those that ship with nereid");
  ops->add_option("--results", list->results,
                  "summary.json of nereid develop --all; default: developed/summary.json");
  ops->add_flag("--language", *isLanguage, "functions of the kernel language instead");
  ops->callback([isLanguage, list, ops, &session] {
    if (!*isLanguage) {
      return listOperators(*list, session);
    }
    if (auto unused = unusedOption(*ops, "--language", {"--language"})) {
      return session.fail(*unused);
    }
    showLanguage(session);
  });

  app.add_subcommand("knobs", "environment variables that change behaviour")->callback([&session] {
    showKnobs(session);
  });
  app.add_subcommand("doctor", "what is there and what is missing")->callback([&session] {
    doctor(session);
  });
}

} // namespace nereid::cli
