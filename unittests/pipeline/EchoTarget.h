// SPDX-License-Identifier: Apache-2.0
// A target for tests of the phase list: its loops are tile IR with one attribute more, its code is
// that module's text and its object the bytes of that text. It can be told to misbehave.
#pragma once

#include "lib/pipeline/Compiler.h"

#include <string>

namespace nereid::pipeline::test {

struct EchoControl {
  bool lowerFailsSilently = false;
  bool lowerMakesInvalidIr = false;
  const char *features = "+echo"; ///< what the host must have
  int lowered = 0;                ///< how often `lower` ran
};

/// Shared by all echo targets.
EchoControl &echoControl();
/// Makes "echo" and "echo:loud" known.
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
