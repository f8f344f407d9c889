// SPDX-License-Identifier: Apache-2.0
// How long the threads of all pools work on bodies: what a launch leaves idle is the rest.
#pragma once

#include <atomic>
#include <cstdint>

namespace nereid::runtime {

/// Counts while it lives, for the whole process. Of several that live at once the latest counts. No
/// body may be running when it ends.
class BusyTime {
public:
  BusyTime();
  ~BusyTime();
  BusyTime(const BusyTime &) = delete;
  BusyTime &operator=(const BusyTime &) = delete;
  /// Nanoseconds of all threads together, in calls that have returned.
  int64_t nanos() const { return total.load(std::memory_order_relaxed); }

private:
  friend class BusySpan;
  std::atomic<int64_t> total{0};
  BusyTime *outer;
};

/// A thread works while this lives. Without a BusyTime it costs reading one word.
class BusySpan {
public:
  BusySpan();
  ~BusySpan();
  BusySpan(const BusySpan &) = delete;
  BusySpan &operator=(const BusySpan &) = delete;

private:
  BusyTime *counter;
  int64_t begin = 0;
};

} // namespace nereid::runtime
