// SPDX-License-Identifier: Apache-2.0
// The life of one operator: definition, generation, accuracy, performance, optimisation, record.
// Each stage is callable alone; the project folder remembers what is done, so that an interrupted
// run goes on where it stopped and nothing is done twice with the same inputs.
#pragma once

#include "lib/develop/Optimization.h"
#include "lib/develop/accuracy/Verification.h"
#include "lib/develop/performance/Autotune.h"
#include "lib/develop/performance/Prediction.h"
#include "lib/generator/InterfaceCheck.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nereid::develop {

struct DevelopOptions {
  std::string target = "cpu";
  std::string chipFile;                 ///< a descriptor to generate for instead of this machine's
  std::vector<DType> dtypes;            ///< empty: all of the definition
  std::vector<std::string> importPaths; ///< for imports that a changed kernel has
  int rounds = -1; ///< in all, those of earlier runs included; -1: as the definition says
  std::optional<uint64_t> seed; ///< of the random inputs; without one every run draws its own
  double secondsPerCase = 3;
  Mode mode = Mode::Default;
  bool isModeAsked = false;                   ///< by the user, who gets mode_log.md
  double leastSpeedup = standardLeastSpeedup; ///< see Choice
  bool isConservative = false;                ///< see OptimizationOptions
  bool isFresh = false;                       ///< forget recorded results, do every stage again
  std::string onlyCase; ///< verify this case alone, see AccuracyOptions; nothing is recorded then
  std::string keepIn;   ///< folder for the first case that fails
  /// Where optimisation begins; none: as the folder's record says, by the rule in a new one.
  std::optional<generator::Start> start;
  /// Of the files beside the kernel's; none: as the folder has them, C++ in a new one. A folder
  /// that has files in the other language keeps them.
  std::optional<generator::Language> language;
  /// One line of progress at a time; the caller decides how to show it.
  std::function<void(const std::string &)> progress = [](const std::string &) {};
};

enum class StageResult { Passed, Failed, Interrupted };

class Development {
public:
  /// From a definition file: makes or continues the project in `directory`.
  static Result<std::unique_ptr<Development>> fromDefinition(const std::string &definitionPath,
                                                             const std::string &directory,
                                                             DevelopOptions options,
                                                             Diagnostics &diags);
  /// From an existing project folder, whose files are taken as they are, edited or not.
  static Result<std::unique_ptr<Development>>
  fromProject(const std::string &directory, DevelopOptions options, Diagnostics &diags);

  /// Stages in order. Each skips itself when its recorded result is current. E-diagnostics are for
  /// what could not be done at all; a failed check is StageResult::Failed.
  Result<StageResult> writeDefinition();
  Result<StageResult> generateFiles(Diagnostics &diags);
  Result<StageResult> verify(Diagnostics &diags);
  Result<StageResult> bench();
  Result<StageResult> optimize();
  /// Measures the performance cases in the types that are wanted, those of `isWanted` alone.
  std::vector<PerformanceRow>
  measureCases(const std::function<bool(const std::string &name, DType dtype)> &isWanted);
  Status finish(); ///< final log; merges what was learned into patterns.json

  const generator::Project &project() const { return workspace; }
  const definition::Operator &op() const { return generation.op(); }
  /// As the last of these stages found them; no rows when none ran.
  const generator::InterfaceReport &interfaces() const { return interfaceReport; }
  const AccuracyReport &accuracy() const { return accuracyReport; }
  const std::vector<PerformanceRow> &performance() const { return rows; }
  /// What the mode's search came to, by case and type; none where it does not search.
  const std::vector<Tuning> &tunings() const { return tunings_; }
  const OptimizationResult &optimization() const { return optimization_; }
  /// The chip that is generated for; nothing is measured on it when it is not this machine's.
  const Machine &chip() const { return machine; }
  bool isElsewhere() const { return elsewhere; }
  /// Where kernels run and are measured; null: this processor, or nowhere for want of a device.
  const runtime::Device *device() const { return device_; }
  /// Instead of performance() when the chip is not this machine's.
  const std::vector<PredictedRow> &prediction() const { return predicted; }
  /// Of the rows that are decisive, against the definition's target; nothing without any.
  std::optional<bool> isTargetMet() const;
  /// What the rows are held against, a line each, see performance/Criteria.h.
  std::vector<std::string> criteriaTexts() const;
  /// Seconds of each stage of this run and whether it was taken from the record.
  struct StageShare {
    std::string stage;
    double seconds = 0;
    bool isFromRecord = false;
  };
  const std::vector<StageShare> &shares() const { return stageShares; }

private:
  Development(generator::Project project, DevelopOptions options);
  Status prepare(const definition::Operator &op);
  /// The chip that is generated for, where it is and what it is measured on.
  Status findMachine();
  Status findDeviceMachine();
  /// What is left to say of kernels that no device is here for: the error.
  Diagnostic withoutDevice();
  void findEditedFiles(const generator::Manifest &former);
  /// What SCHEDULES of the folder's kernel file says, edited or not, is the table.
  Status takeWrittenSchedules();
  std::vector<DType> dtypes() const;
  std::string inputsHash() const;
  KernelSource source() const;
  PerformanceOptions performanceOptions() const;
  AccuracyOptions accuracyOptions() const;
  std::vector<std::string> verifyCommand() const;
  std::string resultsJson() const; ///< performance.json
  Result<StageResult> verifyOne(); ///< the case of options.onlyCase
  /// Runs `body`, records its time and result under `stage`.
  Result<StageResult> record(const std::string &stage, bool isSkippable,
                             const std::function<Result<StageResult>(std::string &json)> &body);
  /// Tries every schedule of the space where the mode says so, and verifies what is kept.
  Status searchSchedules();
  std::string modeLog() const;       ///< mode_log.md
  std::string fusionOfCalls() const; ///< as the definition document has it
  Status writeReport() const;        ///< report.md, where all cases were verified
  void chooseAgain();                ///< the form of rows whose schedule a round has changed
  /// Enters what the mode chose into the folder's table, which its wrappers obey.
  Status enterForms();
  /// The files' interfaces against the definition's.
  Status compareInterfaces(Diagnostics &diags);

  generator::Project workspace;
  DevelopOptions options;
  uint64_t seed = 0;
  Machine machine;
  bool elsewhere = false; ///< `machine` is not the one that the program runs on
  runtime::Device *device_ = nullptr;
  std::optional<Diagnostic> noDevice; ///< why there is none, of a target that runs on one
  std::vector<PredictedRow> predicted;
  generator::Patterns patterns;
  generator::Generation generation;
  generator::InterfaceReport interfaceReport;
  AccuracyReport accuracyReport;
  std::vector<PerformanceRow> rows;
  std::vector<Tuning> tunings_;
  OptimizationResult optimization_;
  std::vector<StageShare> stageShares;
  std::vector<std::string> edited; ///< generated files changed by hand since
  bool usesPresentFiles = false;   ///< definition and files of the folder stay as they are
};

/// `patterns.json` of this user: NEREID_PATTERNS, else in the cache folder.
std::string userPatternsPath();

} // namespace nereid::develop
