// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/Develop.h"

#include "lib/definition/Document.h"
#include "lib/generator/InterfaceCheck.h"
#include "lib/measure/Environment.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/DiskCache.h"
#include "lib/support/Hash.h"
#include "lib/support/Interrupt.h"
#include "lib/support/Version.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

namespace nereid::develop {

using generator::Project;

std::string userPatternsPath() {
  const char *path = std::getenv("NEREID_PATTERNS");
  if (path != nullptr && *path != '\0') {
    return path;
  }
  std::string folder = cacheDirectory();
  return folder.empty() ? "" : folder + "/patterns.json";
}

Development::Development(Project project, DevelopOptions developOptions)
    : workspace(std::move(project)), options(std::move(developOptions)) {}

Result<std::unique_ptr<Development>> Development::fromDefinition(const std::string &definitionPath,
                                                                 const std::string &directory,
                                                                 DevelopOptions options,
                                                                 Diagnostics &diags) {
  auto text = readTextFile(definitionPath);
  if (!text) {
    auto error = text.error();
    error.code = "E0601";
    return error;
  }
  auto op = definition::parseOperator(definitionPath, *text, diags);
  if (!op) {
    return diags.all().front();
  }
  auto project = Project::create(directory, *op, *text);
  if (!project) {
    return project.error();
  }
  std::unique_ptr<Development> result(new Development(std::move(*project), std::move(options)));
  if (auto prepared = result->prepare(*op); !prepared) {
    return prepared.error();
  }
  return result;
}

Result<std::unique_ptr<Development>> Development::fromProject(const std::string &directory,
                                                              DevelopOptions options,
                                                              Diagnostics &diags) {
  auto project = Project::open(directory);
  if (!project) {
    return project.error();
  }
  auto op = definition::parseOperator(project->definitionFile(), project->manifest.definitionText,
                                      diags);
  if (!op) {
    return diags.all().front();
  }
  std::unique_ptr<Development> result(new Development(std::move(*project), std::move(options)));
  if (auto prepared = result->prepare(*op); !prepared) {
    return prepared.error();
  }
  return result;
}

Status Development::prepare(const definition::Operator &op) {
  for (DType dtype : options.dtypes) {
    if (auto allowed = definition::checkDtype(op, dtype); !allowed) {
      return allowed.error();
    }
  }
  if (options.chipFile.empty()) {
    machine = measure::thisChip();
  } else {
    auto chip = measure::loadChip(options.chipFile);
    if (!chip) {
      return chip.error();
    }
    machine = std::move(*chip);
  }
  summary = summarizeChip(machine);
  auto known = generator::Patterns::load(userPatternsPath());
  if (!known) {
    return known.error();
  }
  patterns = std::move(*known);
  auto generated = generator::generate(op, summary, &patterns);
  if (!generated) {
    return generated.error();
  }
  generation = std::move(*generated);
  auto &manifest = workspace.manifest;
  bool isContinued = !options.isFresh && manifest.chip == machine.fingerprint &&
                     manifest.generatorVersion == versionText() && !manifest.table.entries.empty();
  if (isContinued) {
    generation.table = manifest.table;
  } else {
    manifest.stages.clear();
    manifest.rounds.clear();
    manifest.table = generation.table;
    manifest.chip = machine.fingerprint;
    manifest.generatorVersion = versionText();
  }
  manifest.environmentJson = measure::toJson(measure::describeEnvironment(machine));
  return Done{};
}

std::vector<DType> Development::dtypes() const {
  return options.dtypes.empty() ? op().dtypes : options.dtypes;
}

/// What verify, bench and optimize depend on: definition, sources, chip, program, selection.
std::string Development::inputsHash() const {
  Sha256 hash;
  hash.field(workspace.manifest.definitionHash);
  hash.field(machine.fingerprint);
  hash.field(versionText()).field(revisionText());
  if (auto source = readTextFile(workspace.tritonFile())) {
    hash.field(*source);
  }
  for (DType dtype : dtypes()) {
    hash.field(torchName(dtype));
  }
  return toHex(hash.finish());
}

PerformanceOptions Development::performanceOptions() const {
  PerformanceOptions performance;
  performance.source = {workspace.tritonFile(), options.target};
  performance.secondsPerCase = options.secondsPerCase;
  performance.seed = options.seed;
  return performance;
}

Result<StageResult>
Development::record(const std::string &stage, bool isSkippable,
                    const std::function<Result<StageResult>(std::string &json)> &body) {
  auto clock = measure::steadyClock();
  double start = clock();
  auto &manifest = workspace.manifest;
  if (isSkippable && manifest.isCurrent(stage, inputsHash())) {
    stageShares.push_back({stage, 0, true});
    options.progress(fmt::format("{}: done before, nothing changed", stage));
    return manifest.findStage(stage)->isPassed ? StageResult::Passed : StageResult::Failed;
  }
  options.progress(stage);
  std::string json;
  auto result = body(json);
  stageShares.push_back({stage, clock() - start, false});
  if (!result) {
    return result.error();
  }
  if (*result != StageResult::Interrupted) {
    auto &entry = manifest.stage(stage);
    entry.isDone = true;
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
  return record("definition", false, [&](std::string &) -> Result<StageResult> {
    definition::ChipFigures figures;
    figures.name = machine.name;
    figures.peakFlops = machine.peakFor(DType::F32);
    figures.bandwidth = machine.copyBandwidth;
    figures.lastLevelCacheBytes = static_cast<double>(machine.lastCacheBytes());
    figures.cores = machine.cores;
    auto document = definition::definitionDocument(op(), dtypes().front(), figures);
    auto written = workspace.writeFile({op().name + "_definition.md", document});
    return written ? Result<StageResult>(StageResult::Passed) : written.error();
  });
}

Result<StageResult> Development::generateFiles() {
  return record("generate", false, [&](std::string &) -> Result<StageResult> {
    workspace.manifest.table = generation.table;
    auto written = workspace.writeFiles(generator::writeFiles(generation));
    if (!written) {
      return written.error();
    }
    Diagnostics diags;
    if (!generator::checkInterfaces(workspace.directory(), op().name, diags)) {
      return diags.all().front();
    }
    return StageResult::Passed;
  });
}

Result<StageResult> Development::verify(Diagnostics &diags) {
  if (!generator::checkInterfaces(workspace.directory(), op().name, diags)) {
    return diags.all().front();
  }
  return record("verify", true, [&](std::string &json) -> Result<StageResult> {
    accuracyReport = verifyAccuracy(generation, {workspace.tritonFile(), options.target}, summary,
                                    dtypes(), options.seed, options.progress);
    json = accuracyJson(accuracyReport);
    if (accuracyReport.isInterrupted) {
      return StageResult::Interrupted;
    }
    return accuracyReport.passed() ? StageResult::Passed : StageResult::Failed;
  });
}

Status Development::measureRows() {
  rows.clear();
  for (const auto &testCase : op().performanceCases) {
    for (DType dtype : dtypes()) {
      if (isInterrupted()) {
        return Done{};
      }
      options.progress(fmt::format("bench: {} {}", testCase.name, torchName(dtype)));
      rows.push_back(
          measureCase(generation, testCase, dtype, nullptr, machine, performanceOptions()));
    }
  }
  return Done{};
}

Result<StageResult> Development::bench() {
  const auto *accuracy = workspace.manifest.findStage("verify");
  if (accuracy == nullptr || !accuracy->isPassed || accuracy->inputHash != inputsHash()) {
    return makeError("E0702", "performance expects verified kernels, but accuracy has not passed")
        .withHelp("run nereid verify on the same folder first");
  }
  return record("bench", false, [&](std::string &json) -> Result<StageResult> {
    if (auto measured = measureRows(); !measured) {
      return measured.error();
    }
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

Result<StageResult> Development::optimize() {
  return record("optimize", false, [&](std::string &json) -> Result<StageResult> {
    OptimizationOptions settings;
    settings.performance = performanceOptions();
    settings.rounds = options.rounds >= 0 ? options.rounds : op().maxRounds;
    settings.progress = options.progress;
    auto result = develop::optimize(workspace, generation, rows, machine, patterns, settings);
    if (!result) {
      return result.error();
    }
    optimization_ = std::move(*result);
    json = performanceJson(rows);
    return optimization_.isInterrupted ? StageResult::Interrupted : StageResult::Passed;
  });
}

Status Development::finish() {
  auto log = generator::writeOptimizationLog(workspace.manifest,
                                             {op().targetSpeedup, optimization_.stopReason});
  if (auto written = workspace.writeFile({"optimization_log.md", log}); !written) {
    return written.error();
  }
  if (auto written =
          workspace.writeFile({"performance.json", performanceJson(rows) + "\n"});
      !written) {
    return written.error();
  }
  std::string own = workspace.path("patterns.json");
  if (auto saved = patterns.save(own); !saved) {
    return saved.error();
  }
  std::string shared = userPatternsPath();
  if (!shared.empty()) {
    if (auto saved = patterns.save(shared); !saved) {
      options.progress("patterns are not shared with later runs: " + saved.error().message);
    }
  }
  return workspace.saveManifest();
}

} // namespace nereid::develop
