// SPDX-License-Identifier: Apache-2.0
// How often each recogniser of the lowering took what it was shown and how often it declined, for
// tests and fuzzing: a recogniser that never fires is not tested, one that never declines was shown
// no near miss. What is declined at a line is also a remark of MLIR's diagnostics there, which is
// dropped where nobody listens.
//
//   resetRecogniserCounts();
//   … compile …
//   for (const RecogniserCount &count : recogniserCounts()) {
//     fmt::print("{}: {} fired, {} declined\n", count.name, count.fired, count.declined);
//   }
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mlir {
class Operation;
}

namespace nereid::cpu {

enum class Recogniser : uint8_t {
#define NEREID_RECOGNISER(identifier, name, what) identifier,
#include "lib/targets/cpu/lower/Recognisers.def"
#undef NEREID_RECOGNISER
};

struct RecogniserCount {
  std::string_view name, what;
  uint64_t fired = 0, declined = 0;
};

/// One entry per line of Recognisers.def, of all threads since the last reset. A product that is
/// lowered again without packed-panel cache counts twice.
std::vector<RecogniserCount> recogniserCounts();
void resetRecogniserCounts();

// ---- for the recognisers ----
void countFired(Recogniser recogniser);
void countDeclined(Recogniser recogniser);
/// Counts, and says why in a remark at the operation.
void decline(Recogniser recogniser, mlir::Operation *op, std::string_view why);
/// Counts one or the other, and returns `fires`.
bool tally(Recogniser recogniser, bool fires);

} // namespace nereid::cpu
