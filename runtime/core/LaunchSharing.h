// SPDX-License-Identifier: Apache-2.0
// Whether a launch is worth other threads, and how its programs are divided among them. Shared by
// both runtimes; no C++ library.
#pragma once

#include "runtime/core/Clock.h"

#include <atomic>
#include <cstdint>

namespace nereid::runtime {

/// Nanoseconds a whole launch must be worth before sleeping threads are called: waking one takes
/// about this long.
constexpr int64_t wakeNanos = 8000;
/// The same for threads that look for work anyway.
constexpr int64_t shareNanos = 2000;
/// Launches that last less meet what the launches before them left in the threads' own caches, if
/// each thread runs the same programs again; longer ones gain more from caches that are shared.
constexpr int64_t cachedNanos = 100'000;
/// A range should last this long at least: taking one costs about a tenth of it, and threads finish
/// within one of each other.
constexpr int64_t rangeNanos = 1000;

/// What one program takes, in sixteenths of a nanosecond, after `programs` took `nanos`; 0 =
/// unknown.
inline int64_t estimateCost(int64_t known, int64_t nanos, int64_t programs) {
  const int64_t sample = nanos * 16 / programs + 1;
  return known ? (known * 3 + sample) / 4 : sample;
}

/// Small launches one after the other, each too short to wake a thread for.
class Streak {
public:
  /// True when it has lasted so long that a woken thread would have paid.
  bool pays(int64_t nanos) {
    const int64_t now = nowNanos();
    const bool follows = now - last.exchange(now, std::memory_order_relaxed) < nanos + longestGap;
    const int64_t sum = follows ? total.load(std::memory_order_relaxed) + nanos : nanos;
    total.store(sum < enough ? sum : 0, std::memory_order_relaxed);
    return sum >= enough;
  }

private:
  static constexpr int64_t longestGap = 2 * shareNanos, enough = 2 * wakeNanos;
  std::atomic<int64_t> last{0}, total{0};
};

struct LaunchSharing {
  bool isShared = true; ///< else the calling thread runs all programs
  bool inParts = false; ///< each thread begins in a part of its own
  int64_t grain = 1;    ///< programs of a range, at least
};

/// For a launch of `programs` of this cost. `hasAwakeWorker()` says whether another thread looks
/// for work just now; it is asked only where that matters.
template <class HasAwakeWorker>
LaunchSharing shareLaunch(int64_t cost, int64_t programs, HasAwakeWorker hasAwakeWorker,
                          Streak &streak) {
  if (cost == 0) {
    return {};
  }
  // No product of cost and programs: it may not fit.
  auto lastsLessThan = [&](int64_t nanos) { return programs < nanos * 16 / cost; };
  LaunchSharing sharing;
  sharing.isShared = !lastsLessThan(shareNanos) && (!lastsLessThan(wakeNanos) || hasAwakeWorker() ||
                                                    streak.pays(cost * programs / 16));
  sharing.inParts = lastsLessThan(cachedNanos);
  sharing.grain = rangeNanos * 16 / cost + 1;
  return sharing;
}

} // namespace nereid::runtime
