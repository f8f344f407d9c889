// SPDX-License-Identifier: Apache-2.0
// The handler may only call what is safe in a signal: write and _exit on text made beforehand.
#include "lib/cli/FaultReport.h"

#include "lib/cli/Command.h"

#include <array>
#include <atomic>
#include <csignal>
#include <string_view>

#include <unistd.h>

namespace nereid::cli {

namespace {

std::atomic<int> runningKernels{0};

constexpr std::string_view accessMessage =
    "error: the kernel accessed memory outside of its tensors [E0403]\n"
    "  help: run it with --interpret, which names the access\n";
constexpr std::string_view internalMessage =
    "error: nereid itself accessed memory it may not [E0390]\n"
    "  help: this is a bug in nereid; please report it with the command line\n";

/// A stack overflow leaves no room for the handler on the thread's own stack.
std::array<char, 64 * 1024> alternateStack;

void onFault(int) {
  bool isKernel = runningKernels.load() > 0;
  std::string_view text = isKernel ? accessMessage : internalMessage;
  ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  (void)ignored;
  ::_exit(isKernel ? exitBadInput : exitInternal);
}

} // namespace

void reportFaults() {
  stack_t stack{};
  stack.ss_sp = alternateStack.data();
  stack.ss_size = alternateStack.size();
  ::sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_handler = onFault;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS}) {
    ::sigaction(signal, &action, nullptr);
  }
}

KernelRunning::KernelRunning() { ++runningKernels; }
KernelRunning::~KernelRunning() { --runningKernels; }

} // namespace nereid::cli
