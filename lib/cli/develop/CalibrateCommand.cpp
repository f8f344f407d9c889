// SPDX-License-Identifier: Apache-2.0
// `nereid calibrate`: what a device can do, measured and kept for `bench`, `profile` and `develop`.
#include "lib/bench/calibration/DeviceCalibration.h"
#include "lib/cli/Command.h"
#include "lib/cli/process/Progress.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "lib/pipeline/Target.h"
#include "lib/report/Table.h"
#include "lib/support/AtomicFile.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace nereid::cli {
namespace {

struct Options {
  std::string target, out;
};

void print(const Machine &chip, const std::string &path) {
  report::Table table({"property", "value"});
  table.add({"name", chip.name});
  table.add({"processors", std::to_string(chip.cores)});
  table.add({"memory", report::formatBytes(static_cast<double>(chip.memoryBytes))});
  table.add({"copy", report::formatRate(chip.copyBandwidth) + " (read + write)"});
  table.add({"read, write", fmt::format("{}, {}", report::formatRate(chip.readBandwidth),
                                        report::formatRate(chip.writeBandwidth))});
  for (const CacheLevel &cache : chip.caches) {
    if (cache.allBytesPerSecond > 0) {
      table.add({cache.name,
                 fmt::format("{}, {} (read)", report::formatBytes(static_cast<double>(cache.bytes)),
                             report::formatRate(cache.allBytesPerSecond))});
    }
  }
  for (const auto &[type, rate] : chip.peakFlops) {
    table.add({"peak " + type, report::formatFlops(rate)});
  }
  table.add({"launch", fmt::format("{} until it is done, {} each of many",
                                   report::formatSeconds(chip.launchSeconds),
                                   report::formatSeconds(chip.queuedLaunchSeconds))});
  table.add({"by", chip.calibratedBy});
  const std::string &why = chip.calibration.uncertainty;
  fmt::print("{}{}kept in {}\n", table.text(), why.empty() ? "" : "uncertain: " + why + "\n", path);
}

void calibrate(const Options &options, Session &session) {
  if (!pipeline::runsOnDevice(options.target)) {
    return session.fail(makeError("E0013", fmt::format("calibrate expects a target that runs on a "
                                                       "device, but got '{}'",
                                                       options.target))
                            .withHelp("nereid chips --recalibrate measures this processor"));
  }
  auto device = pipeline::deviceFor(options.target);
  if (!device) {
    return session.fail(device.error());
  }
  Progress progress(session.json);
  bench::CalibrationOptions settings;
  settings.target = options.target;
  settings.progress = [&progress](const std::string &line) { progress.show(line); };
  auto chip = bench::calibrateDevice(**device, settings);
  progress.end();
  if (!chip) {
    return session.fail(chip.error());
  }
  Result<std::string> path = options.out;
  if (options.out.empty()) {
    path = measure::keepDeviceChip(*chip);
  } else if (Status written = writeFileAtomically(options.out, toJson(*chip)); !written) {
    path = written.error();
  }
  if (!path) {
    return session.fail(path.error());
  }
  if (session.json) {
    fmt::print("{}", toJson(*chip));
  } else {
    print(*chip, *path);
  }
}

} // namespace

void addCalibrate(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "calibrate", "what a device can do: its memory's and cache's rates, its peaks, its launches");
  command->add_option("--target", options->target, "the device, nvidia:0")->required();
  command->add_option("--out", options->out,
                      "file for the descriptor; default: kept in the cache folder, where bench, "
                      "profile and develop find it");
  command->callback([options, &session] { calibrate(*options, session); });
}

} // namespace nereid::cli
