// SPDX-License-Identifier: Apache-2.0
// How a user names a kernel: a file, and which of its functions.
#pragma once

#include <string>

namespace nereid::launch {

/// "file.py:function" taken apart; the function may be missing.
struct KernelReference {
  std::string path, function;
};
KernelReference parseKernelReference(const std::string &text);

} // namespace nereid::launch
