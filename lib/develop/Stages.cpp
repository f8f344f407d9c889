// SPDX-License-Identifier: Apache-2.0
// The five stages of an operator's development, each recorded in the folder's manifest.
#include "lib/develop/Develop.h"
#include "lib/develop/DocumentPlan.h"
#include "lib/develop/EditedFiles.h"
#include "lib/develop/accuracy/Compilation.h"
#include "lib/document/RooflinePicture.h"
#include "lib/generator/CompanionWriter.h"
#include "lib/support/Interrupt.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace nereid::develop {

Result<StageResult>
Development::record(const std::string &stage, bool isSkippable,
                    const std::function<Result<StageResult>(std::string &json)> &body) {
  auto clock = measure::steadyClock();
  double start = clock();
  auto &manifest = workspace.manifest;
  // A failed check is done again: its failures are what the user wants to see.
  if (isSkippable && manifest.isCurrent(stage, inputsHash()) &&
      manifest.findStage(stage)->isPassed) {
    stageShares.push_back({stage, 0, true});
    options.progress(fmt::format("{}: done before, nothing changed", stage));
    return StageResult::Passed;
  }
  options.progress(stage);
  std::string json;
  auto result = body(json);
  stageShares.push_back({stage, clock() - start, false});
  if (!result) {
    return result.error();
  }
  auto &entry = manifest.stage(stage);
  entry.isDone = *result != StageResult::Interrupted;
  if (entry.isDone) {
    entry.isPassed = *result == StageResult::Passed;
    entry.seconds = clock() - start;
    entry.inputHash = inputsHash();
    entry.resultJson = json;
  }
  if (auto saved = workspace.saveManifest(); !saved) {
    return saved.error();
  }
  return result;
}

Result<StageResult> Development::writeDefinition() {
  if (usesPresentFiles) {
    stageShares.push_back({"definition", 0, true});
    return StageResult::Passed;
  }
  return record("definition", false, [&](std::string &) -> Result<StageResult> {
    Machine chip = machine;
    chip.name += elsewhere ? " (by its description, not measured)" : "";
    const DType dtype = dtypes().front();
    const document::DocumentInput input = {op(),
                                           dtype,
                                           chip,
                                           documentPlans(generation, dtype, machine),
                                           documentRemedies(generation, dtype, machine),
                                           documentCalls(generation, dtype, machine)};
    std::vector<generator::GeneratedFile> files = {
        {op().name + "_definition.md", document::definitionDocument(input)}};
    if (auto picture = document::rooflinePicture(input)) {
      files.push_back({document::pictureName(op()), std::move(*picture)});
    }
    auto written = workspace.writeFiles(files);
    return written ? Result<StageResult>(StageResult::Passed) : written.error();
  });
}

Result<StageResult> Development::generateFiles(Diagnostics &diags) {
  if (usesPresentFiles) {
    stageShares.push_back({"generate", 0, true});
    return StageResult::Passed;
  }
  return record("generate", false, [&](std::string &) -> Result<StageResult> {
    workspace.manifest.table = generation.table;
    auto files = generator::writeFiles(generation);
    if (auto kept = keepEditedFiles(workspace, edited, files, options.progress); !kept) {
      return kept.error();
    }
    if (auto written = workspace.writeFiles(files); !written) {
      return written.error();
    }
    edited.clear();
    auto compared = compareInterfaces(diags);
    return compared ? Result<StageResult>(StageResult::Passed) : compared.error();
  });
}

Status Development::compareInterfaces(Diagnostics &diags) {
  interfaceReport = generator::checkInterfaces(workspace.directory(), generation, diags);
  return interfaceReport.agrees ? Status(Done{}) : Status(diags.all().front());
}

Result<StageResult> Development::verify(Diagnostics &diags) {
  if (auto compared = compareInterfaces(diags); !compared) {
    return compared.error();
  }
  if (noDevice) {
    return withoutDevice();
  }
  if (!options.onlyCase.empty()) {
    return verifyOne();
  }
  // Who names a seed wants its cases, whatever passed before.
  return record("verify", !options.seed, [&](std::string &json) -> Result<StageResult> {
    options.progress(fmt::format("verify: seed {}", seed));
    AccuracyOptions settings = accuracyOptions();
    settings.keepIn = options.keepIn;
    settings.command = verifyCommand();
    auto report = verifyAccuracy(generation, source(), machine, settings);
    if (!report) {
      return report.error();
    }
    accuracyReport = std::move(*report);
    json = accuracyJson(accuracyReport);
    if (accuracyReport.isInterrupted) {
      return StageResult::Interrupted;
    }
    return accuracyReport.passed() ? StageResult::Passed : StageResult::Failed;
  });
}

Diagnostic Development::withoutDevice() {
  options.progress("verify: no device, the kernels are compiled");
  auto compiled = compileCases(generation, source(), machine, accuracyOptions());
  if (!compiled) {
    return compiled.error();
  }
  std::vector<std::string_view> types;
  for (DType dtype : dtypes()) {
    types.push_back(torchName(dtype));
  }
  Diagnostic error = *noDevice;
  error.note(fmt::format("not run: the {} cases of '{}' in {}, and no performance case; the {} "
                         "kernels that they need compile for '{}'",
                         compiled->cases, op().name, fmt::join(types, ", "), compiled->kernels,
                         options.target));
  return error.withHelp("run the same command on a machine with the device");
}

/// A command line that verifies what this one does.
std::vector<std::string> Development::verifyCommand() const {
  std::error_code ignored;
  auto absolute = [&](const std::string &path) {
    return std::filesystem::absolute(path, ignored).lexically_normal().string();
  };
  std::vector<std::string> words = {"nereid", "verify", absolute(workspace.directory()), "--target",
                                    options.target};
  if (!options.chipFile.empty()) {
    words.insert(words.end(), {"--chip", absolute(options.chipFile)});
  }
  for (const std::string &folder : options.importPaths) {
    words.insert(words.end(), {"--import-path", absolute(folder)});
  }
  return words;
}

/// One case says nothing about the others: what is recorded stays, unless it is refuted.
Result<StageResult> Development::verifyOne() {
  AccuracyOptions settings = accuracyOptions();
  settings.onlyCase = options.onlyCase;
  settings.keepIn = options.keepIn;
  settings.command = verifyCommand();
  auto clock = measure::steadyClock();
  const double start = clock();
  options.progress(fmt::format("verify: seed {}", seed));
  auto report = verifyAccuracy(generation, source(), machine, settings);
  if (!report) {
    return report.error();
  }
  accuracyReport = std::move(*report);
  stageShares.push_back({"verify", clock() - start, false});
  if (accuracyReport.isInterrupted) {
    return StageResult::Interrupted;
  }
  if (accuracyReport.failures() > 0) {
    workspace.manifest.stage("verify").isPassed = false;
  }
  return accuracyReport.passed() ? StageResult::Passed : StageResult::Failed;
}

std::vector<PerformanceRow> Development::measureCases(
    const std::function<bool(const std::string &name, DType dtype)> &isWanted) {
  std::vector<PerformanceRow> measured;
  for (const auto &testCase : op().performanceCases) {
    for (DType dtype : dtypes()) {
      if (isInterrupted() || !isWanted(testCase.name, dtype)) {
        continue;
      }
      options.progress(fmt::format("bench: {} {}", testCase.name, torchName(dtype)));
      measured.push_back(
          measureCase(generation, testCase, dtype, nullptr, machine, performanceOptions()));
    }
  }
  return measured;
}

/// What one schedule verifies the others may break: the whole grid decides, and one that is wrong
/// takes all of them back.
Status Development::searchSchedules() {
  const generator::ScheduleTable before = generation.table;
  generator::ScheduleTable found = before;
  tunings_.clear();
  for (const auto &testCase : op().performanceCases) {
    for (DType dtype : dtypes()) {
      if (isInterrupted()) {
        return Done{};
      }
      options.progress(
          fmt::format("{}: {} {}", modeName(options.mode), testCase.name, torchName(dtype)));
      auto tuning = autotune(generation, testCase, dtype, machine, performanceOptions());
      if (!tuning) {
        return tuning.error();
      }
      if (tuning->isChanged()) {
        found.set(generation.classOf(testCase.binding, dtype), tuning->after,
                  std::string(modeName(options.mode)));
      }
      tunings_.push_back(std::move(*tuning));
    }
  }
  const bool isChanged = std::any_of(tunings_.begin(), tunings_.end(),
                                     [](const Tuning &one) { return one.isChanged(); });
  if (!isChanged || isInterrupted()) {
    return Done{};
  }
  if (Status kept =
          keepEditedFiles(workspace, edited, generator::writeFiles(generation), options.progress);
      !kept) {
    return kept;
  }
  auto enter = [&](const generator::ScheduleTable &table) {
    generation.table = table;
    workspace.manifest.table = table;
    return workspace.writeFiles(generator::writeFiles(generation));
  };
  if (Status entered = enter(found); !entered) {
    return entered;
  }
  auto report = verifyAccuracy(generation, source(), machine, accuracyOptions());
  const std::string wrong = report ? report->firstFailure() : report.error().message;
  if (!wrong.empty()) {
    for (Tuning &one : tunings_) {
      one.conclusion += one.isChanged() ? "; taken back: " + wrong : "";
      one.after = one.before;
    }
    return enter(before);
  }
  auto &stage = workspace.manifest.stage("verify");
  stage.inputHash = inputsHash();
  stage.resultJson = accuracyJson(*report);
  return Done{};
}

Result<StageResult> Development::bench() {
  const auto *accuracy = workspace.manifest.findStage("verify");
  if (accuracy == nullptr || !accuracy->isPassed || accuracy->inputHash != inputsHash()) {
    return makeError("E0702", "performance expects verified kernels, but accuracy has not passed")
        .withHelp("run nereid verify on the same folder first");
  }
  return record("bench", false, [&](std::string &json) -> Result<StageResult> {
    if (elsewhere) {
      predicted = predictPerformance(generation, dtypes(), machine);
      json = predictionJson(predicted);
      return StageResult::Passed;
    }
    if (searchesSchedules(options.mode)) {
      if (Status searched = searchSchedules(); !searched) {
        return searched.error();
      }
    }
    rows = measureCases([](const std::string &, DType) { return true; });
    json = performanceJson(rows);
    if (isInterrupted()) {
      return StageResult::Interrupted;
    }
    for (const auto &row : rows) {
      if (!row.failure.empty()) {
        return StageResult::Failed;
      }
    }
    return StageResult::Passed;
  });
}

/// A round that was kept has compared schedules, and not forms.
void Development::chooseAgain() {
  for (PerformanceRow &row : rows) {
    if (row.choice || !row.failure.empty() || !row.skipped.empty() || isInterrupted()) {
      continue;
    }
    for (const definition::Case &testCase : op().performanceCases) {
      if (testCase.name == row.caseName) {
        options.progress(fmt::format("forms: {} {}", row.caseName, torchName(row.dtype)));
        row = measureCase(generation, testCase, row.dtype, nullptr, machine, performanceOptions());
        break;
      }
    }
  }
}

Result<StageResult> Development::optimize() {
  return record("optimize", false, [&](std::string &json) -> Result<StageResult> {
    const int most = options.rounds >= 0 ? options.rounds : op().maxRounds;
    if (elsewhere) { // what is quicker here says nothing of there
      optimization_.most = most;
      optimization_.stopReason = fmt::format(
          "none is made: rounds are measured, and '{}' is not this machine", machine.name);
      return StageResult::Passed;
    }
    // Rounds are written from the generated kernel, not from one edited by hand.
    if (auto kept =
            keepEditedFiles(workspace, edited, generator::writeFiles(generation), options.progress);
        !kept) {
      return kept.error();
    }
    OptimizationOptions settings;
    settings.performance = performanceOptions();
    settings.rounds = most;
    settings.progress = options.progress;
    settings.isConservative = options.isConservative;
    settings.fusion = fusionOfCalls();
    std::optional<AccuracyReport> verified; // of the last round that is kept
    settings.verifyAll = [&] {
      auto report = verifyAccuracy(generation, source(), machine, accuracyOptions());
      if (!report) {
        return report.error().message;
      }
      std::string failure = report->firstFailure();
      if (failure.empty()) {
        verified = std::move(*report);
      }
      return failure;
    };
    auto result = develop::optimize(workspace, generation, rows, machine, patterns, settings);
    if (!result) {
      return result.error();
    }
    optimization_ = std::move(*result);
    if (options.isModeAsked) {
      chooseAgain();
    }
    json = performanceJson(rows);
    if (verified) {
      // The files of now are the ones that it is about.
      accuracyReport = std::move(*verified);
      auto &stage = workspace.manifest.stage("verify");
      stage.inputHash = inputsHash();
      stage.resultJson = accuracyJson(accuracyReport);
    }
    return optimization_.isInterrupted ? StageResult::Interrupted : StageResult::Passed;
  });
}

std::optional<bool> Development::isTargetMet() const {
  const auto speedup = overallSpeedup(rows);
  return speedup ? std::optional(*speedup >= op().targetSpeedup) : std::nullopt;
}

} // namespace nereid::develop
