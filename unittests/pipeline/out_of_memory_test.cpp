// SPDX-License-Identifier: Apache-2.0
// Memory that ends while a kernel is compiled ends the process with a report, elsewhere it throws.
#include "lib/pipeline/OutOfMemory.h"

#include <gtest/gtest.h>

#include <new>

#include <unistd.h>

namespace nereid::pipeline {
namespace {

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) // they end it themselves

void allocateTooMuch() {
  volatile size_t bytes = size_t{1} << 60;
  ::operator delete(::operator new(bytes));
}

TEST(OutOfMemoryDeathTest, IsReportedWhileAskedFor) {
  EXPECT_EXIT(
      {
        onOutOfMemory([] { ::_exit(7); });
        const ReportingNew reporting;
        allocateTooMuch();
      },
      testing::ExitedWithCode(7), "");
  EXPECT_EXIT(
      {
        onOutOfMemory([] { ::_exit(7); });
        {
          const ReportingNew reporting;
        }
        try {
          allocateTooMuch();
        } catch (const std::bad_alloc &) {
          ::_exit(8);
        }
      },
      testing::ExitedWithCode(8), "");
}

TEST(OutOfMemory, ThrowsWithoutAReport) {
  const ReportingNew reporting;
  EXPECT_THROW(allocateTooMuch(), std::bad_alloc);
}

#endif

} // namespace
} // namespace nereid::pipeline
