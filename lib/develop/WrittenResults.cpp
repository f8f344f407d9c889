// SPDX-License-Identifier: Apache-2.0
// What a run leaves in the operator's folder when it ends: report.md, the log of its rounds,
// performance.json, the forms that a mode chose, and patterns.
#include "lib/develop/Develop.h"
#include "lib/develop/DocumentPlan.h"
#include "lib/develop/OperatorReport.h"
#include "lib/develop/PatternText.h"
#include "lib/develop/performance/Criteria.h"
#include "lib/generator/CompanionWriter.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "lib/measure/results/Environment.h"
#include "lib/pipeline/Target.h"
#include "lib/support/AtomicFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace nereid::develop {

std::string Development::resultsJson() const {
  nlohmann::ordered_json json;
  json["schema"] = 1;
  json["operator"] = op().name;
  const auto speedup = overallSpeedup(rows);
  json["speedup"] = speedup ? nlohmann::ordered_json(*speedup) : nullptr;
  json["seed"] = seed;
  if (device_ != nullptr) {
    json["device"] = {{"name", device_->name()},
                      {"chip", measure::describeDevice(*device_).name},
                      {"roofline_of", machine.name},
                      {"rates_calibrated", machine.isCalibrated}};
  }
  const auto target = pipeline::findTarget(options.target, source().chip);
  json["measured_with"] = {{"target", target ? (*target)->name() : options.target},
                           {"chip_file", source().chip},
                           {"seconds_per_case", options.secondsPerCase}};
  json["mode"] = modeName(options.mode);
  json["min_speedup"] = options.leastSpeedup;
  for (const Tuning &one : tunings_) {
    json["tuning"].push_back({{"case", one.caseName},
                              {"dtype", torchName(one.dtype)},
                              {"tried", one.tried},
                              {"refused", one.refused},
                              {"before", one.before.text()},
                              {"after", one.after.text()},
                              {"conclusion", one.conclusion}});
  }
  json["environment"] = nlohmann::ordered_json::parse(workspace.manifest.environmentJson);
  json["rows"] = nlohmann::ordered_json::parse(performanceJson(rows));
  return json.dump(2) + "\n";
}

std::vector<std::string> Development::criteriaTexts() const {
  std::vector<std::string> texts;
  for (const Criterion &one : criteriaOf(rows, op().targetSpeedup)) {
    texts.push_back(one.text());
  }
  return texts;
}

std::string Development::modeLog() const {
  std::string text =
      fmt::format("# Form of {}, by mode {}\n\nThe compiled form takes the place of "
                  "the eager one from {:.2f}x on. {}, {}.\n\n",
                  op().name, modeName(options.mode), options.leastSpeedup,
                  device_ != nullptr ? device_->name() : std::string("this processor"),
                  measure::describeEnvironment(machine).date);
  text += "| case | type | form |\n|---|---|---|\n";
  for (const PerformanceRow &row : rows) {
    text += fmt::format("| {} | {} | {} |\n", row.caseName, torchName(row.dtype),
                        row.choice             ? row.choice->text()
                        : !row.skipped.empty() ? "skipped: " + row.skipped
                                               : "none: " + row.failure);
  }
  for (const Tuning &one : tunings_) {
    text += fmt::format("\n{} {}: {} schedules timed, {} do not compile; {}", one.caseName,
                        torchName(one.dtype), one.tried, one.refused, one.conclusion);
  }
  return text + "\n";
}

/// Cases of one class that disagree leave it at launches: a wrapper cannot tell them apart.
Status Development::enterForms() {
  generator::ScheduleTable table = generation.table;
  std::vector<std::pair<generator::CaseClass, generator::Form>> entered;
  for (const PerformanceRow &row : rows) {
    const auto &cases = op().performanceCases;
    const auto testCase = std::find_if(cases.begin(), cases.end(),
                                       [&](const auto &one) { return one.name == row.caseName; });
    if (!row.choice || row.choice->form() == generator::Form::Unasked || testCase == cases.end()) {
      continue;
    }
    const auto caseClass = generation.classOf(testCase->binding, row.dtype);
    generator::Form form = row.choice->form();
    for (const auto &[known, before] : entered) {
      form = known == caseClass && before != form ? generator::Form::Launches : form;
    }
    entered.emplace_back(caseClass, form);
    table.setForm(caseClass, form);
  }
  if (table.forms() == generation.table.forms()) {
    return Done{};
  }
  for (const char *ending : {"_triton.py", "_kernel.hpp"}) {
    const std::string file = op().name + ending;
    if (std::find(edited.begin(), edited.end(), file) != edited.end()) {
      options.progress(fmt::format("'{}' was edited by hand: the forms that were chosen are in "
                                   "performance.json alone",
                                   file));
      return Done{};
    }
  }
  const std::string before = inputsHash();
  generation.table = table;
  workspace.manifest.table = table;
  for (const generator::GeneratedFile &file :
       {generator::GeneratedFile{op().name + "_triton.py", generator::writeTriton(generation)},
        generator::GeneratedFile{op().name + "_kernel.hpp",
                                 generator::writeKernelHeader(generation)}}) {
    if (Status written = workspace.writeFile(file); !written) {
      return written;
    }
  }
  // The kernels are what they were.
  for (generator::StageRecord &stage : workspace.manifest.stages) {
    stage.inputHash = stage.inputHash == before ? inputsHash() : stage.inputHash;
  }
  return Done{};
}

Status Development::writeReport() const {
  const generator::Manifest &manifest = workspace.manifest;
  const bool isVerified =
      std::any_of(stageShares.begin(), stageShares.end(),
                  [](const StageShare &share) { return share.stage == "verify"; });
  const auto *verified = manifest.findStage("verify");
  const std::string now = isVerified ? inputsHash() : "";
  if (!isVerified || !options.onlyCase.empty() || !manifest.isCurrent("verify", now) ||
      verified->resultJson.empty()) {
    return Done{};
  }
  using Json = nlohmann::ordered_json;
  const Json environment = Json::parse(manifest.environmentJson);
  ReportedOperator reported = {op().name,
                               options.target,
                               device_ != nullptr ? device_->name() : machine.name,
                               environment.value("date", ""),
                               op().targetSpeedup,
                               Json::parse(verified->resultJson),
                               nullptr,
                               {}};
  if (!rows.empty()) {
    reported.performance = Json::parse(performanceJson(rows));
    reported.criteria = criteriaTexts();
  } else if (!elsewhere) {
    for (const char *stage : {"optimize", "bench"}) { // an earlier run's, of the same files
      if (!reported.performance.is_array() && manifest.isCurrent(stage, now)) {
        reported.performance = Json::parse(manifest.findStage(stage)->resultJson);
      }
    }
  }
  return workspace.writeFile({"report.md", operatorReport(reported)});
}

std::string Development::fusionOfCalls() const {
  return document::fusionText(op(), documentCalls(generation, dtypes().front(), machine));
}

Status Development::finish() {
  if (Status written = writeReport(); !written) {
    return written;
  }
  // What an earlier run measured stays until this one has measured again.
  if (!optimization_.stopReason.empty() && !elsewhere) {
    auto log = generator::writeOptimizationLog(
        workspace.manifest, {op().targetSpeedup, overallSpeedup(rows), optimization_.stopReason,
                             optimization_.next, criteriaTexts(), fusionOfCalls()});
    if (auto written = workspace.writeFile({"optimization_log.md", log}); !written) {
      return written.error();
    }
  }
  if (!predicted.empty()) {
    nlohmann::ordered_json json;
    json["schema"] = 1;
    json["operator"] = op().name;
    json["measured"] = false;
    json["predicted_for"] = {{"chip", machine.name}, {"fingerprint", machine.fingerprint}};
    json["environment"] = nlohmann::ordered_json::parse(workspace.manifest.environmentJson);
    json["rows"] = nlohmann::ordered_json::parse(predictionJson(predicted));
    if (auto written = workspace.writeFile({"prediction.json", json.dump(2) + "\n"}); !written) {
      return written;
    }
  }
  if (!rows.empty()) {
    if (options.isModeAsked) {
      if (Status entered = enterForms(); !entered) {
        return entered;
      }
    }
    auto written = workspace.writeFile({"performance.json", resultsJson()});
    if (written && options.isModeAsked) {
      written = workspace.writeFile({"mode_log.md", modeLog()});
    }
    if (!written) {
      return written.error();
    }
  }
  std::string own = workspace.path("patterns.json");
  if (auto isOwn = refuseLink(own); !isOwn) {
    return isOwn;
  }
  if (auto saved = patterns.save(own); !saved) {
    return saved.error();
  }
  if (auto learned = generator::Patterns::load(own)) {
    if (auto page = workspace.writeFile({"patterns.md", patternsPage(op().name, *learned)});
        !page) {
      return page;
    }
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
