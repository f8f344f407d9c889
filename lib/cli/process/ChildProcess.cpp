// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/process/ChildProcess.h"

#include "lib/support/AtomicFile.h"
#include "lib/support/TemporaryFolder.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>

extern char **environ;

namespace nereid::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The program's file, also where another one has its name by now.
constexpr const char *thisProgram = "/proc/self/exe";

std::string fateOf(int status) {
  return WIFSIGNALED(status) ? fmt::format("its process was ended by signal {} ({})",
                                           WTERMSIG(status), ::strsignal(WTERMSIG(status)))
                             : std::string();
}

} // namespace

ChildResult runChild(std::vector<std::string> words) {
  const TemporaryFolder folder;
  if (const Status made = folder.made(); !made) {
    return {.status = 1, .fate = made.error().message};
  }
  const std::string file = folder.path + "/report.json";
  words.insert(words.begin(), "nereid");
  words.insert(words.end(), {reportOption, file});
  std::vector<char *> arguments;
  for (std::string &word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int failure =
          ::posix_spawn(&child, thisProgram, nullptr, nullptr, arguments.data(), environ)) {
    return {.status = 1, .fate = fmt::format("no process: {}", std::strerror(failure))};
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ChildResult result;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  result.fate = fateOf(status);
  if (auto text = readTextFile(file)) {
    Json report = Json::parse(*text, nullptr, false);
    if (!report.is_discarded()) {
      result.report = std::move(report);
    }
  }
  return result;
}

void endWithParent() { ::prctl(PR_SET_PDEATHSIG, SIGTERM); }

bool leaveReport(const std::string &path, const Json &report) {
  return bool(writeFileAtomically(path, report.dump()));
}

} // namespace nereid::cli
