// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/Recognisers.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

#include <array>
#include <atomic>

namespace nereid::cpu {

namespace {
struct Names {
  std::string_view name, what;
};
constexpr Names names[] = {
#define NEREID_RECOGNISER(identifier, name, what) {name, what},
#include "lib/targets/cpu/lower/Recognisers.def"
#undef NEREID_RECOGNISER
};

struct Counters {
  std::atomic<uint64_t> fired, declined;
};
std::array<Counters, std::size(names)> counters;

Counters &countersOf(Recogniser recogniser) { return counters[static_cast<size_t>(recogniser)]; }
} // namespace

std::vector<RecogniserCount> recogniserCounts() {
  std::vector<RecogniserCount> result;
  for (size_t i = 0; i < counters.size(); ++i) {
    result.push_back({names[i].name, names[i].what, counters[i].fired, counters[i].declined});
  }
  return result;
}

void resetRecogniserCounts() {
  for (Counters &each : counters) {
    each.fired = each.declined = 0;
  }
}

void countFired(Recogniser recogniser) {
  countersOf(recogniser).fired.fetch_add(1, std::memory_order_relaxed);
}

void countDeclined(Recogniser recogniser) {
  countersOf(recogniser).declined.fetch_add(1, std::memory_order_relaxed);
}

bool tally(Recogniser recogniser, bool fires) {
  fires ? countFired(recogniser) : countDeclined(recogniser);
  return fires;
}

void decline(Recogniser recogniser, mlir::Operation *op, std::string_view why) {
  countDeclined(recogniser);
  // At the location alone: a remark of the operation would print all of it as a note.
  mlir::emitRemark(op->getLoc()) << "not recognised as "
                                 << llvm::StringRef(names[static_cast<size_t>(recogniser)].what)
                                 << ": " << llvm::StringRef(why);
}

} // namespace nereid::cpu
