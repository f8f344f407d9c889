// SPDX-License-Identifier: Apache-2.0
// The kernels of one source for one target, each compiled once, also when several threads ask for
// it at the same time.
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/Kernel.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace nereid::develop {

class CompiledKernels {
public:
  /// The kernel of that function and signature. `compile` is called unless it succeeded before.
  Result<runtime::Kernel> get(const std::string &function, const std::string &signature,
                              const std::function<Result<runtime::Kernel>()> &compile);

private:
  struct Entry {
    std::mutex mutex;
    runtime::Kernel kernel;
    bool isCompiled = false;
  };
  std::mutex mutex; ///< of the map; its entries stay where they are
  std::map<std::pair<std::string, std::string>, Entry> entries;
};

} // namespace nereid::develop
