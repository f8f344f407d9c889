// SPDX-License-Identifier: Apache-2.0
// The folder of one operator under development: generated files plus `nereid.json`, which says
// from which definition they came, which schedules are chosen and which stages are done, so that
// verify, bench, optimize and a second develop go on where the last run stopped.
#pragma once

#include "lib/generator/Generator.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::generator {

struct StageRecord {
  std::string stage;
  bool isDone = false, isPassed = false;
  double seconds = 0;
  std::string inputHash;  ///< what the result depends on: definition, sources, chip
  std::string resultJson; ///< the stage's own figures, any JSON value as text; "" = none
};

/// Unknown: of a record that does not say. Unconfirmed: a second comparison did not say the same.
enum class RoundOutcome { Unknown, Kept, Wrong, Loss, Untold, Unconfirmed };

/// One optimisation round, as the log tells it.
struct RoundRecord {
  int round = 0;
  std::string caseName, dtype;
  std::string sizes; ///< of the case: "D = 4096, ... = 8x2048"
  std::string change, reason;
  std::string scheduleBefore, scheduleAfter;
  std::string codeDifference = {}; ///< of the kernel's file, as a diff with marks in front of lines
  double speedupBefore = 0, speedupAfter = 0, expectedGain = 1;
  Diagnosis asked;         ///< what was found before, which the change answers
  Diagnosis before, after; ///< beside each other; after: only where it was timed
  bool isVerified = false, isKept = false;
  RoundOutcome outcome = RoundOutcome::Unknown;
  std::string conclusion;
  std::string next = {}; ///< what is left to try in this case
};

struct Manifest {
  static constexpr int schemaVersion = 2;
  std::string operatorName, definitionPath, definitionText, definitionHash;
  std::string generatorVersion, chip;
  Start start = Start::Rule;         ///< where optimisation began
  Language language = Language::Cpp; ///< of the files beside the kernel's
  ScheduleTable table;
  std::vector<StageRecord> stages;
  std::vector<RoundRecord> rounds;
  std::string environmentJson; ///< any JSON value as text

  StageRecord &stage(const std::string &name);
  const StageRecord *findStage(const std::string &name) const;
  /// Done with the same inputs: nothing to do again.
  bool isCurrent(const std::string &name, const std::string &inputHash) const;
};

class Project {
public:
  /// Makes the folder if needed. E0002, E0003 or E0005 when it cannot be made or written.
  static Result<Project> create(const std::string &directory, const definition::Operator &op,
                                std::string definitionText);
  /// Opens an existing folder. E0005 where nereid.json is a link, E0611 without a readable
  /// nereid.json of this schema.
  static Result<Project> open(const std::string &directory);
  static bool isProject(const std::string &directory);

  const std::string &directory() const { return folder; }
  std::string path(const std::string &fileName) const;
  /// Copy of the definition inside the folder, "<op>.toml".
  std::string definitionFile() const;
  std::string tritonFile() const;

  /// Writes atomically, and only what differs; E0002 on failure, E0005 at a link.
  Status writeFile(const GeneratedFile &file) const;
  Status writeFiles(const std::vector<GeneratedFile> &files) const;
  Status saveManifest() const;

  Manifest manifest;

private:
  std::string folder;
};

} // namespace nereid::generator
