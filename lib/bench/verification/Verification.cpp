// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/verification/Verification.h"

#include "lib/support/Interrupt.h"

#include "runtime/ThreadPool.h"
#include "runtime/core/CpuCount.h"

#include <algorithm>
#include <atomic>

namespace nereid::bench {

void VerifiedCase::requireVerifiable() {
  if (failure.empty() && !isVerifiable()) {
    failure = comparison.unverifiableText();
  }
}

bool KeptChoice::wants(bool failed) const {
  return options.mayKeep(failed) && !isFailure && (failed || kept.empty());
}

void KeptChoice::choose(std::string name, bool failed) {
  kept = std::move(name);
  isFailure = failed;
}

void forEachAtOnce(size_t count, const std::function<bool(size_t)> &verify) {
  // Each has a case's tensors, and launches that use every thread of the machine besides.
  constexpr int mostThreads = 4;
  static runtime::ThreadPool threads(std::min(runtime::usableCpuCount(), mostThreads));
  std::atomic<bool> isOver = false;
  threads.parallelFor(static_cast<int64_t>(count), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end && !isOver && !isInterrupted(); ++i) {
      if (!verify(static_cast<size_t>(i))) {
        isOver = true;
      }
    }
  });
}

Result<verify::TrialResult> inspectLaunch(std::span<const verify::TrialTensor> tensors,
                                          const verify::Launch &launch,
                                          const verify::TrialOptions &options,
                                          const LaunchCheck &check) {
  int64_t elements = 0;
  for (const verify::TrialTensor &tensor : tensors) {
    elements += tensor.isWorkspace ? 0 : tensor.content.elementCount();
  }
  const bool isLooked = elements <= check.largest && !check.isDone;
  if (isLooked) {
    auto found = check.run();
    if (!found) {
      return found.error();
    }
    if (!found->empty()) {
      verify::TrialResult result;
      result.fault = verify::Fault::Found;
      result.text = std::move(*found);
      return result;
    }
  }
  auto tried = verify::runTrial(tensors, launch, options);
  if (!tried || tried->fault != verify::Fault::Outside || isLooked) {
    return tried;
  }
  auto found = check.run();
  if (!found) {
    return found.error();
  }
  tried->text += (found->empty() ? "" : "; ") + *found;
  return tried;
}

} // namespace nereid::bench
