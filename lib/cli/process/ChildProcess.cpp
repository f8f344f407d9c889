// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/process/ChildProcess.h"

#include "lib/support/AtomicFile.h"
#include "lib/support/Interrupt.h"
#include "lib/support/TemporaryFolder.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

/// Whether this program is what started this process; who takes over orphans is another one.
bool isParentThere() {
  struct stat own, parents;
  const std::string parent = fmt::format("/proc/{}/exe", ::getppid());
  if (::stat(thisProgram, &own) != 0 || ::stat(parent.c_str(), &parents) != 0) {
    return ::getppid() != 1; // not to be known
  }
  return own.st_dev == parents.st_dev && own.st_ino == parents.st_ino;
}

/// Until it ends.
int waitFor(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// Asks the child to end when the user does or its time is over, and does not ask a second time.
int lookAfter(pid_t child, const ChildOptions &options, bool &isOutOfTime) {
  using Clock = std::chrono::steady_clock;
  constexpr auto betweenLooks = std::chrono::milliseconds(50);
  constexpr std::chrono::seconds grace(2);
  const Clock::time_point begin = Clock::now();
  std::optional<Clock::time_point> asked;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      return status;
    }
    const std::chrono::duration<double> taken = Clock::now() - begin;
    if (!asked &&
        (isInterrupted() || (options.mostSeconds > 0 && taken.count() > options.mostSeconds))) {
      isOutOfTime = !isInterrupted();
      asked = Clock::now();
      ::kill(child, SIGTERM);
    } else if (asked && Clock::now() > *asked + grace) {
      ::kill(-child, SIGKILL);
      return waitFor(child);
    }
    options.whileItRuns();
    std::this_thread::sleep_for(betweenLooks);
  }
}

/// How a child is started: in this process's group and streams, or as `options` say.
class Spawning {
public:
  explicit Spawning(const ChildOptions *options) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    if (options == nullptr) {
      return;
    }
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    if (!options->log.empty()) {
      constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
      ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, options->log.c_str(), flags,
                                         0666);
      ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    }
  }
  ~Spawning() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  Spawning(const Spawning &) = delete;
  Spawning &operator=(const Spawning &) = delete;

  int spawn(pid_t &child, char *const *arguments) const {
    return ::posix_spawn(&child, thisProgram, &actions, &attributes, arguments, environ);
  }

private:
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

ChildResult start(std::vector<std::string> words, const ChildOptions *options) {
  const TemporaryFolder folder;
  if (const Status made = folder.made(); !made) {
    return {.status = 1, .fate = made.error().message};
  }
  const std::string file = folder.path + "/report.json";
  words.insert(words.begin(), "nereid");
  words.insert(words.end(), {reportOption, file});
  std::vector<char *> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string &word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int failure = Spawning(options).spawn(child, arguments.data())) {
    return {.status = 1, .fate = fmt::format("no process: {}", std::strerror(failure))};
  }
  ChildResult result;
  const int status =
      options == nullptr ? waitFor(child) : lookAfter(child, *options, result.isOutOfTime);
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

} // namespace

ChildResult runChild(std::vector<std::string> words) { return start(std::move(words), nullptr); }

ChildResult runChild(std::vector<std::string> words, const ChildOptions &options) {
  return start(std::move(words), &options);
}

void endWithParent() {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (!isParentThere()) { // it was gone before that was said
    std::raise(SIGTERM);
  }
}

bool leaveReport(const std::string &path, const Json &report) {
  return bool(writeFileAtomically(path, report.dump()));
}

} // namespace nereid::cli
