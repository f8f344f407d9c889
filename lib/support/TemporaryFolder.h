// SPDX-License-Identifier: Apache-2.0
// A folder for the files of another program, below TMPDIR.
#pragma once

#include "lib/support/Diagnostics.h"

#include <string>

namespace nereid {

/// Removed with what is in it at the end of the object's life.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  /// E0003 when it could not be created.
  Status made() const;
  std::string path;

private:
  int failure = 0; ///< errno
};

} // namespace nereid
