// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/OutOfMemory.h"

#include "llvm/Support/ErrorHandling.h"

namespace nereid::pipeline {

static void (*reportTo)() = nullptr;

void onOutOfMemory(void (*report)()) {
  if (reportTo == nullptr) {
    llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { reportTo(); });
  }
  reportTo = report;
}

} // namespace nereid::pipeline
