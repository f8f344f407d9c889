// SPDX-License-Identifier: Apache-2.0
// The clock that launches are timed by. Shared by both runtimes; no C++ library.
#pragma once

#include <cstdint>
#include <ctime>

namespace nereid::runtime {

/// Since some fixed point; monotonic.
inline int64_t nowNanos() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

} // namespace nereid::runtime
