// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/CompiledKernels.h"

namespace nereid::develop {

Result<runtime::Kernel>
CompiledKernels::get(const std::string &function, const std::string &signature,
                     const std::function<Result<runtime::Kernel>()> &compile) {
  Entry *entry = nullptr;
  {
    std::lock_guard lock(mutex);
    entry = &entries[{function, signature}];
  }
  std::lock_guard lock(entry->mutex);
  if (!entry->isCompiled) {
    auto kernel = compile();
    if (!kernel) {
      return kernel;
    }
    entry->kernel = std::move(*kernel);
    entry->isCompiled = true;
  }
  return entry->kernel;
}

} // namespace nereid::develop
