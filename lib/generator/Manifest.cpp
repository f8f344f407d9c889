// SPDX-License-Identifier: Apache-2.0
// JSON form of the manifest, schema 2. Keys are the members' names.
#include "lib/generator/Manifest.h"

#include "lib/generator/schedules/Bottleneck.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace nereid::generator {
namespace {

using Json = nlohmann::ordered_json;

/// Text that is JSON stays JSON in the file; anything else becomes null.
Json embedded(const std::string &text) {
  Json parsed = text.empty() ? Json() : Json::parse(text, nullptr, false);
  return parsed.is_discarded() ? Json() : parsed;
}
std::string extracted(const Json &value) { return value.is_null() ? "" : value.dump(); }

Json tableToJson(const ScheduleTable &table) {
  Json entries = Json::array();
  for (const ScheduleTable::Entry &entry : table.entries) {
    entries.push_back({{"dtype", torchName(entry.caseClass.dtype)},
                       {"sizesUpTo", entry.caseClass.sizesUpTo},
                       {"schedule", entry.schedule.text()},
                       {"origin", entry.origin}});
    if (entry.form != Form::Unasked) {
      entries.back()["form"] = formName(entry.form);
    }
  }
  return {{"entries", entries}};
}

/// Nothing when an entry's type, schedule or form is not one.
std::optional<ScheduleTable> tableFromJson(const Json &json) {
  ScheduleTable table;
  for (const Json &entry : json.at("entries")) {
    auto dtype = parseDType(entry.at("dtype").get<std::string>());
    auto schedule = parseSchedule(entry.at("schedule").get<std::string>());
    auto form = parseForm(entry.value("form", ""));
    if (!dtype || !schedule || !form) {
      return std::nullopt;
    }
    const CaseClass caseClass{*dtype, entry.at("sizesUpTo").get<std::map<std::string, int64_t>>()};
    table.set(caseClass, *schedule, entry.at("origin").get<std::string>());
    table.setForm(caseClass, *form);
  }
  return table;
}

Json stageToJson(const StageRecord &stage) {
  return {{"stage", stage.stage},         {"isDone", stage.isDone},
          {"isPassed", stage.isPassed},   {"seconds", stage.seconds},
          {"inputHash", stage.inputHash}, {"result", embedded(stage.resultJson)}};
}
StageRecord stageFromJson(const Json &json) {
  StageRecord stage;
  stage.stage = json.at("stage").get<std::string>();
  stage.isDone = json.at("isDone").get<bool>();
  stage.isPassed = json.at("isPassed").get<bool>();
  stage.seconds = json.at("seconds").get<double>();
  stage.inputHash = json.at("inputHash").get<std::string>();
  stage.resultJson = extracted(json.at("result"));
  return stage;
}

Json diagnosisToJson(const Diagnosis &diagnosis) {
  return {{"bandwidthFraction", diagnosis.bandwidthFraction},
          {"computeFraction", diagnosis.computeFraction},
          {"isBeyondCache", diagnosis.isBeyondCache},
          {"launchFraction", diagnosis.launchFraction},
          {"idleFraction", diagnosis.idleFraction},
          {"programs", diagnosis.programs},
          {"processors", diagnosis.processors},
          {"waveFraction", diagnosis.waveFraction},
          {"runBytes", diagnosis.runBytes},
          {"readsOfByte", diagnosis.readsOfByte},
          {"pressure", diagnosis.pressure},
          {"isOnDevice", diagnosis.isOnDevice},
          {"bottleneck", bottleneckName(diagnosis.bottleneck)}};
}
Diagnosis diagnosisFromJson(const Json &json) {
  Diagnosis diagnosis;
  diagnosis.bandwidthFraction = json.at("bandwidthFraction").get<double>();
  diagnosis.computeFraction = json.at("computeFraction").get<double>();
  diagnosis.isBeyondCache = json.at("isBeyondCache").get<bool>();
  diagnosis.launchFraction = json.at("launchFraction").get<double>();
  diagnosis.idleFraction = json.at("idleFraction").get<double>();
  diagnosis.programs = json.at("programs").get<int64_t>();
  // An older version did not say.
  diagnosis.processors = json.value("processors", int64_t{0});
  diagnosis.waveFraction = json.value("waveFraction", 0.0);
  diagnosis.runBytes = json.value("runBytes", 0.0);
  diagnosis.readsOfByte = json.value("readsOfByte", 0.0);
  diagnosis.pressure = json.value("pressure", 0.0);
  diagnosis.isOnDevice = json.value("isOnDevice", false);
  diagnosis.bottleneck =
      parseBottleneck(json.value("bottleneck", "")).value_or(Bottleneck::Unknown);
  return diagnosis;
}

constexpr std::array<std::pair<RoundOutcome, const char *>, 6> outcomes = {
    {{RoundOutcome::Unknown, ""},
     {RoundOutcome::Kept, "kept"},
     {RoundOutcome::Wrong, "wrong"},
     {RoundOutcome::Loss, "loss"},
     {RoundOutcome::Untold, "untold"},
     {RoundOutcome::Unconfirmed, "unconfirmed"}}};

const char *outcomeName(RoundOutcome outcome) {
  return outcomes.at(static_cast<size_t>(outcome)).second;
}
RoundOutcome parseOutcome(const std::string &name) {
  for (const auto &[outcome, known] : outcomes) {
    if (name == known) {
      return outcome;
    }
  }
  return RoundOutcome::Unknown;
}

Json roundToJson(const RoundRecord &round) {
  return {{"round", round.round},
          {"caseName", round.caseName},
          {"dtype", round.dtype},
          {"sizes", round.sizes},
          {"change", round.change},
          {"reason", round.reason},
          {"scheduleBefore", round.scheduleBefore},
          {"scheduleAfter", round.scheduleAfter},
          {"codeDifference", round.codeDifference},
          {"speedupBefore", round.speedupBefore},
          {"speedupAfter", round.speedupAfter},
          {"expectedGain", round.expectedGain},
          {"asked", diagnosisToJson(round.asked)},
          {"before", diagnosisToJson(round.before)},
          {"after", diagnosisToJson(round.after)},
          {"isVerified", round.isVerified},
          {"isKept", round.isKept},
          {"outcome", outcomeName(round.outcome)},
          {"conclusion", round.conclusion},
          {"next", round.next}};
}
RoundRecord roundFromJson(const Json &json) {
  RoundRecord round;
  round.round = json.at("round").get<int>();
  round.caseName = json.at("caseName").get<std::string>();
  round.dtype = json.at("dtype").get<std::string>();
  round.sizes = json.value("sizes", "");
  round.change = json.at("change").get<std::string>();
  round.reason = json.at("reason").get<std::string>();
  round.scheduleBefore = json.at("scheduleBefore").get<std::string>();
  round.scheduleAfter = json.at("scheduleAfter").get<std::string>();
  round.codeDifference = json.value("codeDifference", "");
  round.speedupBefore = json.at("speedupBefore").get<double>();
  round.speedupAfter = json.at("speedupAfter").get<double>();
  round.expectedGain = json.at("expectedGain").get<double>();
  if (json.contains("before")) {
    round.before = diagnosisFromJson(json.at("before"));
    round.after = diagnosisFromJson(json.at("after"));
  } else { // as an older version wrote it
    round.before.bandwidthFraction = json.at("bandwidthFraction").get<double>();
    round.before.computeFraction = json.at("computeFraction").get<double>();
  }
  round.asked = json.contains("asked") ? diagnosisFromJson(json.at("asked")) : round.before;
  round.outcome = parseOutcome(json.value("outcome", ""));
  round.isVerified = json.at("isVerified").get<bool>();
  round.isKept = json.at("isKept").get<bool>();
  round.conclusion = json.at("conclusion").get<std::string>();
  round.next = json.value("next", "");
  return round;
}

} // namespace

std::string manifestText(const Manifest &manifest) {
  Json stages = Json::array(), rounds = Json::array();
  for (const StageRecord &stage : manifest.stages) {
    stages.push_back(stageToJson(stage));
  }
  for (const RoundRecord &round : manifest.rounds) {
    rounds.push_back(roundToJson(round));
  }
  Json json = {{"schema", Manifest::schemaVersion},
               {"operatorName", manifest.operatorName},
               {"generatorVersion", manifest.generatorVersion},
               {"chip", manifest.chip},
               {"definitionPath", manifest.definitionPath},
               {"definitionHash", manifest.definitionHash},
               {"definition", manifest.definitionText},
               {"start", startName(manifest.start)},
               {"language", languageName(manifest.language)},
               {"schedules", tableToJson(manifest.table)},
               {"stages", stages},
               {"rounds", rounds},
               {"environment", embedded(manifest.environmentJson)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Manifest> readManifest(const std::string &path, const std::string &text) {
  auto damaged = [&](const std::string &reason) {
    Diagnostic error = makeError("E0611", fmt::format("'{}' cannot be used: {}", path, reason));
    error.file = path;
    return std::move(error.withHelp("remove the file and run 'nereid develop' again"));
  };
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return damaged("it is not JSON");
  }
  try {
    if (int found = json.at("schema").get<int>(); found != Manifest::schemaVersion) {
      return damaged(fmt::format("expects schema {}, but got {}", Manifest::schemaVersion, found));
    }
    Manifest manifest;
    manifest.operatorName = json.at("operatorName").get<std::string>();
    manifest.generatorVersion = json.at("generatorVersion").get<std::string>();
    manifest.chip = json.at("chip").get<std::string>();
    manifest.definitionPath = json.at("definitionPath").get<std::string>();
    manifest.definitionHash = json.at("definitionHash").get<std::string>();
    manifest.definitionText = json.at("definition").get<std::string>();
    const std::string startText = json.value("start", std::string(startName(Start::Rule)));
    auto start = parseStart(startText);
    if (!start) {
      return damaged(fmt::format("'{}' is no start", startText));
    }
    manifest.start = *start;
    const std::string languageText =
        json.value("language", std::string(languageName(Language::Cpp)));
    auto language = parseLanguage(languageText);
    if (!language) {
      return damaged(fmt::format("'{}' is no language", languageText));
    }
    manifest.language = *language;
    auto table = tableFromJson(json.at("schedules"));
    if (!table) {
      return damaged("a schedule is not one");
    }
    manifest.table = std::move(*table);
    for (const Json &stage : json.at("stages")) {
      manifest.stages.push_back(stageFromJson(stage));
    }
    for (const Json &round : json.at("rounds")) {
      manifest.rounds.push_back(roundFromJson(round));
    }
    manifest.environmentJson = extracted(json.at("environment"));
    return manifest;
  } catch (const Json::exception &problem) {
    return damaged(problem.what());
  }
}

} // namespace nereid::generator
