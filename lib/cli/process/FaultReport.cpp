// SPDX-License-Identifier: Apache-2.0
// The handler may only call what is safe in a signal: write and _exit on text made beforehand.
#include "lib/cli/process/FaultReport.h"

#include "lib/cli/Command.h"
#include "lib/launch/KernelRunning.h"
#include "lib/pipeline/OutOfMemory.h"

#include <array>
#include <csignal>
#include <cstdint>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

namespace nereid::cli {

namespace {

constexpr std::string_view accessMessage =
    "error: the kernel accessed memory outside of its tensors [E0403]\n"
    "  help: run it with --interpret, which names the access\n";
constexpr std::string_view internalMessage =
    "error: nereid itself accessed memory it may not [E0390]\n"
    "  help: this is a bug in nereid; please report it with the command line\n";

constexpr std::string_view memoryMessage =
    "error: no memory is left [E0506]\n"
    "  help: use smaller shapes, or raise the limit of memory; what is done is kept\n";
constexpr std::string_view exceptionMessage =
    "error: an exception was thrown where none can be handled [E0390]\n"
    "  help: this is a bug in nereid; please report it with the command line\n";

/// A stack overflow leaves no room for the handler on the thread's own stack.
std::array<char, 64 * 1024> alternateStack;

[[noreturn]] void endWith(std::string_view text, ExitStatus status) {
  const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  (void)ignored;
  ::_exit(status);
}

/// Libraries that take what an allocation gives them without a look write to address 0 when no
/// memory is left, here MLIR when it loads its dialects.
bool isFailedAllocation(const siginfo_t *info) {
  constexpr uintptr_t nearNull = 4096;
  constexpr size_t tried = size_t{2} << 20;
  if (reinterpret_cast<uintptr_t>(info->si_addr) >= nearNull) {
    return false;
  }
  void *memory = ::mmap(nullptr, tried, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED;
}

void onFault(int, siginfo_t *info, void *) {
  if (isFailedAllocation(info)) {
    endWith(memoryMessage, exitBadInput);
  }
  const bool isKernel = launch::isKernelRunning();
  endWith(isKernel ? accessMessage : internalMessage, isKernel ? exitBadInput : exitInternal);
}

void onNoMemory() { endWith(memoryMessage, exitBadInput); }

/// An exception that no handler takes: in a thread's function, or in code that may not throw.
void onTerminate() {
  try {
    if (auto exception = std::current_exception()) {
      std::rethrow_exception(exception);
    }
  } catch (const std::bad_alloc &) {
    onNoMemory();
  } catch (const std::system_error &error) {
    if (isNoMemory(error)) { // a thread that cannot be started
      onNoMemory();
    }
  } catch (...) {
  }
  endWith(exceptionMessage, exitInternal);
}

} // namespace

bool isNoMemory(const std::system_error &error) {
  return error.code() == std::errc::resource_unavailable_try_again ||
         error.code() == std::errc::not_enough_memory;
}

void reportFaults() {
  std::set_terminate(onTerminate);
  pipeline::onOutOfMemory(onNoMemory);
  stack_t stack{};
  stack.ss_sp = alternateStack.data();
  stack.ss_size = alternateStack.size();
  ::sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  for (int signal : {SIGSEGV, SIGBUS}) {
    ::sigaction(signal, &action, nullptr);
  }
}

} // namespace nereid::cli
