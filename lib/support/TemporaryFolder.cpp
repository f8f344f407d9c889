// SPDX-License-Identifier: Apache-2.0
#include "lib/support/TemporaryFolder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace nereid {

TemporaryFolder::TemporaryFolder() {
  const char *parent = std::getenv("TMPDIR");
  path = std::string(parent && *parent ? parent : "/tmp") + "/nereid-XXXXXX";
  failure = ::mkdtemp(path.data()) ? 0 : errno;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (failure == 0) {
    std::filesystem::remove_all(path, ignored);
  }
}

Status TemporaryFolder::made() const {
  if (failure == 0) {
    return Done{};
  }
  return makeError("E0003",
                   "cannot create a folder '" + path + "': " + std::string(std::strerror(failure)));
}

} // namespace nereid
