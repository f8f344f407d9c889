// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/Develop.h"

#include "lib/develop/EditedFiles.h"
#include "lib/develop/Sources.h"
#include "lib/develop/edits/FolderDiff.h"
#include "lib/generator/python/Steps.h"
#include "lib/generator/schedules/WrittenSchedules.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "lib/measure/peaks/ThisChip.h"
#include "lib/measure/results/Environment.h"
#include "lib/pipeline/Target.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/DiskCache.h"
#include "lib/support/Hash.h"
#include "lib/support/Version.h"
#include "runtime/cpu/CpuFeatures.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>

namespace nereid::develop {

using generator::Language;
using generator::Project;

std::string userPatternsPath() {
  const char *path = std::getenv("NEREID_PATTERNS");
  if (path != nullptr && *path != '\0') {
    return path;
  }
  std::string folder = cacheDirectory();
  return folder.empty() ? "" : folder + "/patterns.json";
}

namespace {

/// What a definition cannot be developed with, before anything is written.
Status checkOptions(const definition::Operator &op, const DevelopOptions &options) {
  if (auto target = pipeline::findTarget(options.target); !target) {
    return target.error();
  }
  for (DType dtype : options.dtypes) {
    if (auto allowed = definition::checkDtype(op, dtype); !allowed) {
      return allowed;
    }
  }
  return Done{};
}

/// The folder's project: continued when it was made from the same text, else begun anew. `former`
/// receives what the manifest said before.
Result<Project> openOrCreate(const std::string &directory, const definition::Operator &op,
                             const std::string &text, std::optional<generator::Manifest> &former) {
  if (!Project::isProject(directory)) {
    return Project::create(directory, op, text);
  }
  auto present = Project::open(directory);
  if (!present) {
    return present.error();
  }
  const auto &manifest = present->manifest;
  if (manifest.operatorName != op.name) {
    return makeError("E0613", fmt::format("folder '{}' belongs to operator '{}', not to '{}'",
                                          directory, manifest.operatorName, op.name))
        .withHelp("choose another folder with --out");
  }
  former = manifest;
  if (manifest.definitionHash != toHex(sha256(text))) {
    return Project::create(directory, op, text);
  }
  if (auto written = present->writeFile({op.name + ".toml", text}); !written) {
    return written.error();
  }
  return present;
}

/// Classes a definition that took the place of another in its folder, says so, and adds to
/// change_log.md.
Status logChange(const Project &project, const generator::Manifest &former,
                 const definition::Operator &now,
                 const std::function<void(const std::string &)> &tell) {
  Diagnostics ignored;
  auto before = definition::parseOperator(former.definitionPath, former.definitionText, ignored);
  if (!before) {
    return Done{}; // another version of the program wrote it
  }
  const DefinitionChange change = classify(*before, now);
  if (change.editClass == EditClass::None) {
    return Done{};
  }
  const auto followers = followersOf(former, *before, now);
  tell(fmt::format("the definition changed, class {}: {}", editClassName(change.editClass),
                   fmt::join(change.reasons, "; ")));
  auto log = readTextFile(project.path("change_log.md"));
  return project.writeFile({"change_log.md", (log ? *log : "# Changes of " + now.name + "\n\n") +
                                                 changeLogEntry(change, followers)});
}

} // namespace

Development::Development(Project project, DevelopOptions developOptions)
    : workspace(std::move(project)), options(std::move(developOptions)),
      seed(options.seed.value_or(std::random_device()())) {}

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
  if (auto allowed = checkOptions(*op, options); !allowed) {
    return allowed.error();
  }
  std::optional<generator::Manifest> former;
  auto project = openOrCreate(directory, *op, *text, former);
  if (!project) {
    return project.error();
  }
  const auto present = former ? former->language : options.language.value_or(Language::Cpp);
  project->manifest.language = generator::together(present, options.language.value_or(present));
  std::unique_ptr<Development> result(new Development(std::move(*project), std::move(options)));
  if (auto prepared = result->prepare(*op); !prepared) {
    return prepared.error();
  }
  if (former) {
    const auto &tell = result->options.progress;
    if (Status logged = logChange(result->workspace, *former, *op, tell); !logged) {
      return logged.error();
    }
    result->findEditedFiles(*former);
  }
  return result;
}

/// That the folder's definition is the one its files were generated from; E0610.
static Status checkDefinition(const Project &project) {
  const std::string file = project.definitionFile();
  auto text = readTextFile(file);
  if (!text || *text == project.manifest.definitionText) {
    return Done{};
  }
  return makeError("E0610", fmt::format("'{}' was edited behind the files that were generated from "
                                        "it",
                                        file))
      .withHelp(
          fmt::format("write them anew: nereid generate {} --out {}", file, project.directory()));
}

Result<std::unique_ptr<Development>>
Development::fromProject(const std::string &directory, DevelopOptions options, Diagnostics &diags) {
  auto project = Project::open(directory);
  if (!project) {
    return project.error();
  }
  if (auto checked = checkDefinition(*project); !checked) {
    return checked.error();
  }
  auto op =
      definition::parseOperator(project->definitionFile(), project->manifest.definitionText, diags);
  if (!op) {
    return diags.all().front();
  }
  if (auto allowed = checkOptions(*op, options); !allowed) {
    return allowed.error();
  }
  generator::Manifest former = project->manifest;
  const auto *generated = former.findStage("generate");
  bool isUsable = generated != nullptr && generated->isDone && !former.table.entries.empty() &&
                  former.generatorVersion == versionText();
  std::unique_ptr<Development> result(new Development(std::move(*project), std::move(options)));
  result->usesPresentFiles = isUsable && !result->options.isFresh;
  if (auto prepared = result->prepare(*op); !prepared) {
    return prepared.error();
  }
  result->findEditedFiles(former);
  return result;
}

/// Compares the folder with what the former run wrote. What another version wrote cannot be written
/// again here, so all of its files count as edited.
void Development::findEditedFiles(const generator::Manifest &former) {
  Diagnostics ignored;
  auto op = definition::parseOperator(former.definitionPath, former.definitionText, ignored);
  auto written = op ? generator::generate(*op, machine, &patterns)
                    : Result<generator::Generation>(makeError("E0601", ""));
  bool isSameVersion = former.generatorVersion == versionText();
  if (!written || !isSameVersion || former.table.entries.empty()) {
    edited = editedFiles(workspace, generator::writeFiles(generation));
    return;
  }
  written->table = former.table;
  written->language = former.language;
  auto files = generator::writeFiles(*written);
  // A file of another language that is here already was not written by a run.
  for (generator::GeneratedFile &file : generator::writeFiles(generation)) {
    const bool isKnown = std::any_of(files.begin(), files.end(),
                                     [&](const auto &one) { return one.name == file.name; });
    if (!isKnown) {
      files.push_back(std::move(file));
    }
  }
  edited = editedFiles(workspace, files);
}

Status Development::takeWrittenSchedules() {
  const std::string path = workspace.tritonFile();
  auto text = readTextFile(path);
  if (!text) {
    return Done{}; // whoever needs the file says so
  }
  auto written = generator::writtenSchedules(path, *text, generation.program);
  if (!written) {
    return written.error();
  }
  generator::ScheduleTable &table = generation.table;
  auto take = [&](const generator::CaseClass &caseClass, const generator::Schedule &schedule) {
    options.progress(fmt::format("SCHEDULES was edited by hand: {}: {}", caseClass.text(),
                                 schedule.constants.empty() ? "by rule" : schedule.text()));
    table.set(caseClass, schedule, schedule.constants.empty() ? "rule" : "hand");
  };
  for (const generator::WrittenSchedule &one : *written) {
    const generator::ScheduleTable::Entry *known = table.find(one.caseClass);
    if (known ? known->schedule != one.schedule : !one.schedule.constants.empty()) {
      take(one.caseClass, one.schedule);
    }
  }
  for (const generator::ScheduleTable::Entry &entry : std::vector(table.entries)) {
    const bool isWritten =
        std::any_of(written->begin(), written->end(), [&](const generator::WrittenSchedule &one) {
          return one.caseClass == entry.caseClass;
        });
    if (!isWritten && !entry.schedule.constants.empty()) {
      take(entry.caseClass, {});
    }
  }
  return Done{};
}

Status Development::findMachine() {
  if (pipeline::runsOnDevice(options.target)) {
    return findDeviceMachine();
  }
  if (options.mode == Mode::ReduceOverhead) {
    return makeError("E0013", fmt::format("--mode reduce-overhead expects a target that runs on a "
                                          "device, but got '{}': launches there wait for no queue "
                                          "that a graph would shorten",
                                          options.target))
        .withHelp("use default, or max-autotune-no-graphs");
  }
  if (options.mode == Mode::MaxAutotune) {
    options.mode = Mode::MaxAutotuneNoGraphs;
    options.progress(fmt::format("'{}' has no graphs: max-autotune is max-autotune-no-graphs there",
                                 options.target));
  }
  if (options.chipFile.empty()) {
    machine = measure::thisChip();
    return Done{};
  }
  auto chip = loadMachine(options.chipFile);
  if (!chip) {
    return chip.error();
  }
  machine = std::move(*chip);
  elsewhere = machine.fingerprint != detectMachine().fingerprint;
  return Done{};
}

Status Development::findDeviceMachine() {
  auto found = pipeline::deviceFor(options.target);
  if (found) {
    device_ = *found;
  } else {
    noDevice = found.error();
    elsewhere = true;
  }
  if (!options.chipFile.empty()) {
    // Refuses a chip of another architecture.
    auto target = pipeline::findTarget(options.target, options.chipFile);
    auto chip = target ? loadMachine(options.chipFile) : Result<Machine>(target.error());
    if (!chip) {
      return chip.error();
    }
    machine = std::move(*chip);
  } else if (device_ != nullptr) {
    machine = measure::deviceChip(*device_);
  } else {
    machine = genericMachine();
    machine.name = fmt::format("a device of '{}'", options.target);
    machine.fingerprint = machine.name;
  }
  machine.isDevice = true;
  return Done{};
}

Status Development::prepare(const definition::Operator &op) {
  if (Status found = findMachine(); !found) {
    return found;
  }
  auto known = generator::Patterns::load(userPatternsPath());
  if (!known) {
    return known.error();
  }
  patterns = std::move(*known);
  auto &manifest = workspace.manifest;
  bool isContinued =
      usesPresentFiles ||
      (!options.isFresh && manifest.chip == machine.fingerprint &&
       manifest.generatorVersion == versionText() && !manifest.table.entries.empty());
  if (isContinued && options.start && *options.start != manifest.start) {
    return makeError("E0614", fmt::format("folder '{}' began with --start {}, not with {}",
                                          workspace.directory(), startName(manifest.start),
                                          startName(*options.start)))
        .withHelp("begin anew with --fresh, or choose another folder with --out");
  }
  const bool isForgotten = options.isFresh && !isContinued;
  if (!isContinued && !options.isFresh && !manifest.table.entries.empty()) {
    options.progress(fmt::format("the schedules in '{}', and their rounds, were made {} and are "
                                 "made anew for '{}'",
                                 workspace.directory(),
                                 manifest.chip == machine.fingerprint
                                     ? "by another version of the program"
                                     : fmt::format("for another chip, '{}',", manifest.chip),
                                 machine.fingerprint));
  }
  manifest.start = options.start.value_or(isForgotten ? generator::Start::Rule : manifest.start);
  auto generated = generator::generate(op, machine, &patterns, manifest.start);
  if (!generated) {
    return generated.error();
  }
  if (generator::hasPython(manifest.language)) {
    if (auto steps = generator::stepsOf(op); !steps) { // what the accuracy program judges by
      return steps.error();
    }
  }
  generation = std::move(*generated);
  generation.language = manifest.language;
  if (isContinued) {
    if (manifest.chip != machine.fingerprint) {
      options.progress(
          fmt::format("the schedules in '{}' were made for another chip, not for '{}': "
                      "--fresh makes them anew",
                      workspace.directory(), machine.name));
    }
    generation.table = manifest.table;
    if (Status taken = usesPresentFiles ? takeWrittenSchedules() : Done{}; !taken) {
      return taken;
    }
    manifest.table = generation.table;
    manifest.chip = machine.fingerprint;
  } else {
    manifest.stages.clear();
    manifest.rounds.clear();
    manifest.table = generation.table;
    manifest.chip = machine.fingerprint;
    manifest.generatorVersion = versionText();
  }
  manifest.environmentJson =
      measure::toJson(measure::describeEnvironment(elsewhere ? detectMachine() : machine));
  return Done{};
}

std::vector<DType> Development::dtypes() const {
  return options.dtypes.empty() ? op().dtypes : options.dtypes;
}

/// What verify, bench and optimize depend on: definition, sources, chip, target, program,
/// selection.
std::string Development::inputsHash() const {
  Sha256 hash;
  hash.field(workspace.manifest.definitionHash);
  hash.field(machine.fingerprint);
  hash.field(options.target);
  if (!source().chip.empty()) {
    auto target = pipeline::findTarget(options.target, source().chip);
    hash.field(target ? (*target)->name() : "");
  }
  hash.field(versionText()).field(revisionText());
  hash.field(digestOfSources(source(), generation, machine, dtypes().front()));
  for (const std::string &folder : options.importPaths) {
    hash.field(folder);
  }
  for (DType dtype : dtypes()) {
    hash.field(torchName(dtype));
  }
  return toHex(hash.finish());
}

KernelSource Development::source() const {
  // A chip of another architecture is generated for; what is verified here runs here.
  const bool isLikeHere = machine.isDevice || machine.architecture == runtime::cpuArchitecture();
  return {workspace.tritonFile(), options.target, options.importPaths,
          isLikeHere ? options.chipFile : std::string()};
}

PerformanceOptions Development::performanceOptions() const {
  PerformanceOptions performance;
  performance.source = source();
  performance.secondsPerCase = options.secondsPerCase;
  performance.seed = seed;
  performance.device = device_;
  performance.mode = options.mode;
  performance.leastSpeedup = options.leastSpeedup;
  performance.progress = options.progress;
  return performance;
}

AccuracyOptions Development::accuracyOptions() const {
  AccuracyOptions accuracy;
  accuracy.dtypes = dtypes();
  accuracy.seed = seed;
  accuracy.progress = options.progress;
  return accuracy;
}

} // namespace nereid::develop
