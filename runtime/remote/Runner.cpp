// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/Runner.h"

#include "runtime/Device.h"
#include "runtime/remote/Arguments.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char **environ;

namespace nereid::runtime::remote {

namespace {

/// Reading waits so long; 0: as long as it takes.
void setPatience(int connection, std::chrono::seconds time) {
  const timeval limit = {.tv_sec = time.count(), .tv_usec = 0};
  (void)::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

/// How a process ended that has lost its connection. What goes on without one is killed.
int statusOf(pid_t process) {
  int status = 0;
  for (int i = 0; i < 500; ++i) {
    if (::waitpid(process, &status, WNOHANG) != 0) {
      return status;
    }
    ::usleep(10000);
  }
  ::kill(process, SIGKILL);
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

} // namespace

std::variant<std::unique_ptr<Runner>, std::string> Runner::start(const std::string &command,
                                                                 std::chrono::seconds time) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return "no socket for the runner (" + std::string(std::strerror(errno)) + ")";
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  std::string shell = "sh", option = "-c", text = command;
  char *arguments[] = {shell.data(), option.data(), text.data(), nullptr};
  std::unique_ptr<Runner> runner(new Runner);
  runner->command = command;
  runner->connection = ends[0];
  const int failure =
      ::posix_spawn(&runner->process, "/bin/sh", &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failure != 0) {
    runner->process = -1;
    return "the shell cannot be started (" + std::string(std::strerror(failure)) + ")";
  }
  setPatience(runner->connection, time);
  errno = 0;
  const std::optional<std::vector<uint8_t>> content = receiveMessage(runner->connection);
  const bool isLate = !content && (errno == EAGAIN || errno == EWOULDBLOCK);
  setPatience(runner->connection, std::chrono::seconds(0));
  if (isLate) {
    ::kill(runner->process, SIGKILL);
    return "runner '" + command + "' says nothing in " + std::to_string(time.count()) + " s";
  }
  if (!content) {
    return "runner '" + command + "' says nothing; it " + runner->fate();
  }
  MessageReader message(*content);
  const std::string first = message.text();
  runner->architectureName = message.text();
  for (uint64_t left = message.count(); left > 0 && !message.failed(); --left) {
    runner->featureNames.push_back(message.text());
  }
  if (message.failed() || first != greeting) {
    return "runner '" + command + "' expects to speak as '" + std::string(greeting) +
           "', but says '" + first.substr(0, 40) + "'";
  }
  return runner;
}

Runner::~Runner() {
  ::close(connection);
  if (process > 0) {
    (void)statusOf(process);
  }
}

std::string Runner::fate() {
  ::shutdown(connection, SHUT_RDWR);
  if (process <= 0) {
    return "has gone";
  }
  const int status = statusOf(std::exchange(process, -1));
  // A shell that waited for the command reports its signal as a status above 128.
  const int number = WIFSIGNALED(status)                              ? WTERMSIG(status)
                     : WIFEXITED(status) && WEXITSTATUS(status) > 128 ? WEXITSTATUS(status) - 128
                                                                      : 0;
  if (number != 0) {
    return "stopped with signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
  }
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

std::variant<uint64_t, LaunchError> Runner::load(const KernelInfo &info,
                                                 std::span<const uint8_t> object) {
  MessageWriter message;
  message.number(static_cast<uint64_t>(Request::Load));
  writeKernelInfo(message, info);
  message.bytes(object);
  std::optional<std::vector<uint8_t>> content;
  if (sendMessage(connection, message.content())) {
    content = receiveMessage(connection);
  }
  if (!content) {
    return LaunchError{"E0414", "runner '" + command + "' " + fate()};
  }
  MessageReader answer(*content);
  LaunchError error{answer.text(), answer.text()};
  const uint64_t number = answer.number();
  if (answer.failed()) {
    return LaunchError{"E0414", "the answer of runner '" + command + "' is damaged"};
  }
  return error ? std::variant<uint64_t, LaunchError>(error) : number;
}

LaunchError Runner::launch(uint64_t kernel, Grid grid, std::span<const ArgumentValue> arguments) {
  for (const ArgumentValue &value : arguments) {
    const Tensor *const *tensor = std::get_if<const Tensor *>(&value);
    if (tensor && *tensor && !(*tensor)->isOnHost()) {
      return {"E0416", "runner '" + command + "' expects tensors in host memory, but got one on '" +
                           (*tensor)->device().name() + "'"};
    }
  }
  const std::vector<Region> regions = regionsOf(arguments);
  MessageWriter message;
  message.number(static_cast<uint64_t>(Request::Launch));
  message.number(kernel);
  for (int64_t size : grid) {
    message.number(static_cast<uint64_t>(size));
  }
  writeArguments(message, regions, arguments);
  std::optional<std::vector<uint8_t>> content;
  if (sendMessage(connection, message.content())) {
    content = receiveMessage(connection);
  }
  if (!content) {
    return {"E0414", "runner '" + command + "' " + fate() + " during the launch"};
  }
  MessageReader answer(*content);
  LaunchError error{answer.text(), answer.text()};
  const uint64_t count = answer.number();
  for (uint64_t i = 0; i < count && i < regions.size(); ++i) {
    const std::span<const uint8_t> bytes = answer.bytes();
    if (answer.failed() || bytes.size() != regions[i].bytes) {
      return {"E0414", "the answer of runner '" + command + "' is damaged"};
    }
    std::memcpy(regions[i].data, bytes.data(), bytes.size());
  }
  return error;
}

void Runner::unload(uint64_t kernel) {
  MessageWriter message;
  message.number(static_cast<uint64_t>(Request::Unload));
  message.number(kernel);
  sendMessage(connection, message.content());
}

} // namespace nereid::runtime::remote
