// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/OutOfMemory.h"

#include "llvm/Support/ErrorHandling.h"

#include <new>

namespace nereid::pipeline {

static void (*reportTo)() = nullptr;
static thread_local int reporting = 0; ///< how many ReportingNew live on this thread

void onOutOfMemory(void (*report)()) {
  if (reportTo == nullptr) {
    llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { reportTo(); });
    std::set_new_handler([] {
      if (reporting > 0) {
        reportTo();
      }
      throw std::bad_alloc();
    });
  }
  reportTo = report;
}

ReportingNew::ReportingNew() { ++reporting; }
ReportingNew::~ReportingNew() { --reporting; }

} // namespace nereid::pipeline
