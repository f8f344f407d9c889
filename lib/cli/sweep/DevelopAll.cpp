// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/sweep/DevelopAll.h"

#include "lib/cli/process/ChildProcess.h"
#include "lib/cli/process/Progress.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/cli/sweep/OperatorProcess.h"
#include "lib/develop/sweep/FindDefinitions.h"
#include "lib/develop/sweep/SummaryText.h"
#include "lib/develop/sweep/SweepRecord.h"
#include "lib/document/OperatorClass.h"
#include "lib/machine/Machine.h"
#include "lib/measure/results/Environment.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/Hash.h"
#include "lib/support/Interrupt.h"
#include "lib/support/Version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace nereid::cli {

using develop::FoundDefinition;
using develop::OperatorResult;
using develop::OperatorState;
using develop::SweepRecord;

namespace {

/// An operator's process may need most of a second to end, see ChildProcess.h.
constexpr std::chrono::milliseconds grace{3000};

class Sweep {
public:
  Sweep(const DevelopAllOptions &options, std::vector<FoundDefinition> found, Session &session)
      : options(options), found(std::move(found)), session(session), progress(session.json) {}

  /// What the folder has of each operator; the others are to be done.
  Status prepare();
  Status run();
  void print() const;
  int status() const;

private:
  struct Job {
    const FoundDefinition *definition;
    std::vector<DType> dtypes; ///< of --dtype those that it has
    SweepRecord record;
    std::string folder;
  };
  Job jobOf(const FoundDefinition &definition) const;
  std::string digestOf(const Job &job) const;
  Status develop(Job &job, const std::string &place);
  Status saveSummary(bool isComplete);
  void tell(const std::string &line);

  const DevelopAllOptions &options;
  std::vector<FoundDefinition> found;
  Session &session;
  mutable Progress progress;
  std::string chipText;
  std::vector<Job> jobs;
  develop::Summary summary;
};

std::vector<DType> askedTypes(const std::vector<DType> &asked, const FoundDefinition &definition) {
  std::vector<DType> types;
  for (DType dtype : asked) {
    const auto &own = definition.op->dtypes;
    if (std::find(own.begin(), own.end(), dtype) != own.end()) {
      types.push_back(dtype);
    }
  }
  return types;
}

/// What a definition that is refused has to say.
void takeProblems(OperatorResult &result, const FoundDefinition &definition) {
  for (const Diagnostic &problem : definition.problems.all()) {
    if (problem.severity == Severity::Error) {
      result.state = OperatorState::Malformed;
      result.code = problem.code;
      result.message = problem.range.line > 0
                           ? fmt::format("line {}: {}", problem.range.line, problem.message)
                           : problem.message;
      return;
    }
  }
}

void Sweep::tell(const std::string &line) {
  if (!session.json) {
    progress.end();
    printError(line + "\n");
  }
}

/// Of everything that the result depends on.
std::string Sweep::digestOf(const Job &job) const {
  Sha256 hash;
  hash.field(job.definition->text).field(chipText);
  for (const std::string &word : options.words) {
    hash.field(word);
  }
  for (DType dtype : job.dtypes) {
    hash.field(torchName(dtype));
  }
  hash.field(versionText()).field(revisionText()).field(compilerText());
  hash.field(detectMachine().fingerprint);
  return toHex(hash.finish());
}

Sweep::Job Sweep::jobOf(const FoundDefinition &definition) const {
  Job job{&definition, {}, {}, options.out + "/" + definition.name};
  OperatorResult fresh;
  fresh.name = definition.name;
  fresh.definition = definition.path;
  fresh.definitionHash = toHex(sha256(definition.text));
  fresh.folder = job.folder;
  if (definition.op) {
    fresh.operatorClass = document::operatorClass(*definition.op);
    fresh.target = definition.op->targetSpeedup;
    job.dtypes = askedTypes(options.dtypes, definition);
    if (job.dtypes.empty() && !options.dtypes.empty()) {
      fresh.state = OperatorState::LeftOut;
      job.record.result = fresh;
      return job;
    }
  }
  const std::string digest = digestOf(job);
  const auto former = develop::readSweepRecord(job.folder);
  const bool isSame = former && former->digest == digest && !options.isFresh;
  job.record.digest = digest;
  if (isSame && former->isFinished(digest)) {
    job.record = *former;
    job.record.result.definition = definition.path; // it may have been moved
    job.record.result.folder = job.folder;
    job.record.result.isKept = true;
    return job;
  }
  job.record.result = fresh;
  // What another definition, program or set of options left in the folder is of no use.
  const bool isOfUse = isSame && (!former->isFresh || develop::isTakenUp(job.folder));
  job.record.isFresh = options.isFresh || (former && !isOfUse);
  return job;
}

Status Sweep::prepare() {
  if (!options.chip.empty()) {
    auto text = readTextFile(options.chip);
    if (!text) {
      return text.error();
    }
    chipText = std::move(*text);
  }
  summary.definitions = options.folder;
  summary.target = options.target;
  summary.words = options.words;
  for (DType dtype : options.dtypes) {
    summary.words.insert(summary.words.end(), {"--dtype", std::string(torchName(dtype))});
  }
  summary.environmentJson = measure::toJson(measure::describeEnvironment(detectMachine()));
  for (const FoundDefinition &definition : found) {
    jobs.push_back(jobOf(definition));
  }
  return saveSummary(false);
}

Status Sweep::saveSummary(bool isComplete) {
  summary.isComplete = isComplete;
  summary.results.clear();
  for (const Job &job : jobs) {
    summary.results.push_back(job.record.result);
  }
  Status written = writeOwnFile(options.out + "/summary.json", develop::summaryJson(summary));
  return written ? writeOwnFile(options.out + "/summary.md", develop::summaryMarkdown(summary))
                 : written;
}

/// "softmax: right, 54/54 correct, 1.42x, 12.3 s".
std::string finishedLine(const OperatorResult &result) {
  std::string text = fmt::format("{}: {}", result.name, develop::stateName(result.state));
  if (result.cases().total > 0) {
    text += fmt::format(", {} correct", develop::correctText(result));
  }
  if (result.timedCases > 0) {
    text += ", " + develop::speedupText(result);
  }
  text += fmt::format(", {:.1f} s", result.seconds);
  if (!result.message.empty()) {
    text += fmt::format("\n    {}{}", result.code.empty() ? "" : result.code + ": ",
                        result.message.substr(0, result.message.find('\n')));
  }
  return text;
}

Status Sweep::develop(Job &job, const std::string &place) {
  OperatorResult &result = job.record.result;
  const std::string log = job.folder + "/" + developLog;
  if (Status begun = develop::writeSweepRecord(job.folder, job.record); !begun) {
    return begun;
  }
  if (!job.definition->op) {
    takeProblems(result, *job.definition);
    if (Status kept = writeOwnFile(log, job.definition->problems.render()); !kept) {
      return kept;
    }
  } else {
    if (Status removed = refuseLink(log); !removed) {
      return removed;
    }
    OperatorProcess process = {job.definition->path, job.folder,
                               options.words,        job.dtypes,
                               job.record.isFresh,   options.secondsPerOperator};
    process.show = [&](const std::string &line) {
      progress.showPassing(fmt::format("{} {}: {}", place, job.definition->name, line));
    };
    process.run(result);
  }
  if (result.state == OperatorState::Pending) {
    return Done{}; // interrupted: its record says that it is begun
  }
  tell(fmt::format("{} {}", place, finishedLine(result)));
  if (Status finished = develop::writeSweepRecord(job.folder, job.record); !finished) {
    return finished;
  }
  return saveSummary(false);
}

Status Sweep::run() {
  for (size_t i = 0; i < jobs.size() && !isInterrupted(); ++i) {
    Job &job = jobs[i];
    const std::string place = fmt::format("[{}/{}]", i + 1, jobs.size());
    if (job.record.result.isKept) {
      tell(fmt::format("{} {}: done before, nothing changed", place, job.definition->name));
    } else if (job.record.result.isCounted()) {
      if (Status done = develop(job, place); !done) {
        return done;
      }
    }
  }
  progress.end();
  return saveSummary(!isInterrupted());
}

void Sweep::print() const {
  if (session.json) {
    fmt::print("{}", develop::summaryJson(summary));
    return;
  }
  fmt::print("\nOperators of {}\n{}\n{}", options.folder, develop::summaryTable(summary.results),
             develop::totalsText(summary.results));
  const bool hasFailures = develop::totalsOf(summary.results).failed > 0;
  if (isInterrupted()) {
    fmt::print("interrupted: what is done is kept; run the same command again to go on\n");
  }
  fmt::print("Folder: {} (summary.md, summary.json{})\n", options.out,
             hasFailures ? fmt::format("; what went wrong: OPERATOR/{}", developLog) : "");
}

int Sweep::status() const {
  if (isInterrupted()) {
    return interruptStatus();
  }
  bool isGood = true;
  for (const OperatorResult &one : summary.results) {
    isGood &= !one.isCounted() || one.state == OperatorState::Right;
    isGood &= !one.isCounted() || !options.requiresTarget || one.isTargetMet.value_or(false);
  }
  return isGood ? exitDone : exitCheckFailed;
}

} // namespace

void runDevelopAll(const DevelopAllOptions &given, Session &session) {
  DevelopAllOptions options = given;
  options.folder = options.folder.empty() ? develop::shippedDefinitions() : options.folder;
  options.out = options.out.empty() ? sweepFolder : options.out;
  if (options.folder.empty()) {
    return session.fail(makeError("E0625", "no definitions lie beside this program")
                            .withHelp("name a folder of them: nereid develop --all FOLDER"));
  }
  watchInterrupt(grace);
  Diagnostics diags;
  auto found = develop::findDefinitions(options.folder, diags);
  if (!found) {
    return session.fail(diags);
  }
  if (Status made = createFolders(options.out); !made) {
    return session.fail(made.error());
  }
  auto lock = develop::SweepLock::take(options.out);
  if (!lock) {
    return session.fail(lock.error());
  }
  Sweep sweep(options, std::move(*found), session);
  if (Status prepared = sweep.prepare(); !prepared) {
    return session.fail(prepared.error());
  }
  if (Status done = sweep.run(); !done) {
    return session.fail(done.error());
  }
  sweep.print();
  session.status = sweep.status();
}

} // namespace nereid::cli
