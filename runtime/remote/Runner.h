// SPDX-License-Identifier: Apache-2.0
// Kernels for another machine, run there: starts a command that speaks the protocol of Message.h on
// its standard input and output, such as "ssh board ./nereid-runner" or "qemu-aarch64
// ./nereid-runner", and launches kernels through it. The runner is a static program of runtime/
// alone, and over standard input and output qemu, ssh and a debugger are the same to the tests.
#pragma once

#include "runtime/Kernel.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace nereid::runtime::remote {

/// Not for use by several threads at once.
class Runner {
public:
  /// `command` is for the shell. Error text when it does not greet in time, which has to be enough
  /// for a connection to another machine.
  static std::variant<std::unique_ptr<Runner>, std::string>
  start(const std::string &command, std::chrono::seconds time = std::chrono::seconds(60));
  ~Runner();
  Runner(const Runner &) = delete;
  Runner &operator=(const Runner &) = delete;

  const std::string &architecture() const { return architectureName; }
  const std::vector<std::string> &features() const { return featureNames; }

  /// The kernel's number there, or E0305 for features it lacks, E0408 for an object it cannot load,
  /// E0414 when the runner stops meanwhile.
  std::variant<uint64_t, LaunchError> load(const KernelInfo &info, std::span<const uint8_t> object);
  /// As runtime::launch; the tensors' memory is sent there and back. Addresses inside tensors mean
  /// nothing there. E0414 when the runner stops meanwhile.
  LaunchError launch(uint64_t kernel, Grid grid, std::span<const ArgumentValue> arguments);
  void unload(uint64_t kernel);

private:
  Runner() = default;
  /// What became of the process, in words.
  std::string fate();

  int connection = -1, process = -1;
  std::string command, architectureName;
  std::vector<std::string> featureNames;
};

} // namespace nereid::runtime::remote
