// SPDX-License-Identifier: Apache-2.0
// A variable of the environment for the time of a test, and a program in the place of nvcc.
#pragma once

#include "lib/support/AtomicFile.h"
#include "lib/support/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace nereid::nvidia::test {

class Environment {
public:
  Environment(const char *name, const std::string &value) : name(name) {
    if (const char *old = std::getenv(name)) {
      before = old;
    }
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { before ? ::setenv(name, before->c_str(), 1) : ::unsetenv(name); }

private:
  const char *name;
  std::optional<std::string> before;
};

/// It notes its words in a file and does what its source says: what stands behind a line PTX
/// becomes the output; a line "LOG text" is printed with the source's path in front, and it fails.
class WithFakeNvcc : public testing::Test {
protected:
  WithFakeNvcc()
      : program(folder.path + "/nvcc"), knob("NEREID_CUDA_COMPILER", program),
        cache("NEREID_CACHE_DIR", folder.path + "/cache") {
    write(program, "#!/bin/sh\n"
                   "echo \"$@\" >> " +
                       folder.path +
                       "/words\n"
                       "for last; do :; done\n"
                       "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n"
                       "if grep -q LOG $last; then sed -n \"s|^LOG |$last|p\" $last; exit 2; fi\n"
                       "sed -n '/PTX/,$p' $last | sed 1d > $out\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  static void write(const std::string &path, const std::string &text) {
    EXPECT_TRUE(bool(writeFileAtomically(path, text)));
  }
  std::string words() const { return *readTextFile(folder.path + "/words"); }

  const TemporaryFolder folder;
  const std::string program;
  const Environment knob, cache;
};

} // namespace nereid::nvidia::test
