// SPDX-License-Identifier: Apache-2.0
// A target for tests of the phase list, with phases of its own: `calls` is tile IR with one
// attribute more, `echoes` that module's text and `silence` the bytes of that text. It can be told
// to misbehave.
#pragma once

#include "lib/pipeline/Compiler.h"

#include <optional>
#include <string>

namespace nereid::pipeline::test {

struct EchoControl {
  bool lowerFailsSilently = false;
  bool lowerMakesInvalidIr = false;
  bool lowerLeavesTooLittle = false; ///< so that the phase's own verifier refuses it
  const char *features = "+echo";    ///< what the host must have
  std::optional<runtime::LaunchError> loadError = {}; ///< of its device
  int lowered = 0;                                    ///< how often `lower` ran
};

/// Shared by all echo targets.
EchoControl &echoControl();
/// Makes "echo" and "echo:loud" known, with the option `echo_times` from 1 to 8, and "deaf", the
/// same without it.
void registerEchoTarget();

/// A folder for one test, removed with what is in it.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string write(const std::string &name, const std::string &text) const;
  std::string read(const std::string &name) const;
  bool has(const std::string &name) const;
  const std::string &path() const { return folder; }

private:
  std::string folder;
};

} // namespace nereid::pipeline::test
