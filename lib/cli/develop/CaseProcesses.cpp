// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/develop/CaseProcesses.h"

#include "lib/cli/process/ChildProcess.h"
#include "lib/pipeline/Target.h"
#include "lib/support/Interrupt.h"

#include <fmt/format.h>

#include <filesystem>
#include <numeric>
#include <utility>

namespace nereid::cli {

bool casesRunHere(const KernelBenchOptions &options) {
  std::error_code ignored;
  return options.isInProcess || !options.reportTo.empty() ||
         !std::filesystem::is_directory(options.given.kernel, ignored) ||
         !pipeline::runsOnDevice(options.target);
}

CaseNumbers askedCases(size_t count, const KernelBenchOptions &options) {
  CaseNumbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), size_t(0));
  if (!options.reportTo.empty()) {
    endWithParent();
    numbers = options.numbers;
    std::erase_if(numbers, [&](size_t number) { return number >= count; });
  }
  return numbers;
}

std::vector<std::string> caseWords(const std::string &command, const KernelBenchOptions &options,
                                   const CaseNumbers &numbers, const Session &session) {
  std::vector<std::string> words = {command,
                                    options.given.kernel,
                                    "--target",
                                    options.target,
                                    "--seconds-per-case",
                                    fmt::format("{}", options.secondsPerCase),
                                    "--numbers",
                                    fmt::format("{}", fmt::join(numbers, ","))};
  if (!options.chip.empty()) {
    words.insert(words.end(), {"--chip", options.chip});
  }
  if (!options.caseName.empty()) {
    words.insert(words.end(), {"--case", options.caseName});
  }
  for (const std::string &folder : session.importPaths) {
    words.insert(words.end(), {"--import-path", folder});
  }
  if (session.json) {
    words.emplace_back("--json");
  }
  return words;
}

bool CaseProcesses::run(CaseNumbers numbers) const {
  while (!numbers.empty() && !isInterrupted()) {
    const ChildResult child = runChild(caseWords(command, options, numbers, session));
    if (child.report) {
      const std::optional<size_t> taken = take(*child.report);
      if (!taken) {
        return false;
      }
      if (*taken == 0) {
        break; // interrupted
      }
      numbers.erase(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(*taken));
    } else if (child.fate.empty()) { // it has said what it could not do
      session.status = child.status;
      return false;
    } else if (numbers.size() == 1) {
      takeDead(numbers.front(), child.fate);
      numbers.clear();
    } else { // each of them alone
      for (const size_t number : std::exchange(numbers, {})) {
        if (!run({number})) {
          return false;
        }
      }
    }
  }
  return true;
}

} // namespace nereid::cli
