// SPDX-License-Identifier: Apache-2.0
#include "runtime/BusyTime.h"

#include "runtime/core/Clock.h"

namespace nereid::runtime {
namespace {

std::atomic<BusyTime *> present{nullptr};

} // namespace

BusyTime::BusyTime() : outer(present.exchange(this)) {}
BusyTime::~BusyTime() { present.store(outer); }

BusySpan::BusySpan() : counter(present.load(std::memory_order_relaxed)) {
  if (counter) {
    begin = nowNanos();
  }
}

BusySpan::~BusySpan() {
  if (counter) {
    counter->total.fetch_add(nowNanos() - begin, std::memory_order_relaxed);
  }
}

} // namespace nereid::runtime
