// SPDX-License-Identifier: Apache-2.0
// What verifying a generated operator and verifying a folder of kernels have in common: launches
// that nobody trusts, data that a case's type can bear, and which case is kept as files.
#pragma once

#include "lib/definition/cases/CaseData.h"
#include "lib/eager/Comparison.h"
#include "lib/verify/Limits.h"
#include "lib/verify/Trial.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace nereid::bench {

/// What one case came to on one kind of data.
struct VerifiedCase {
  std::string caseName, data;
  eager::Comparison comparison; ///< of the outputs with the reference; no elements without one
  std::string failure;          ///< what was wrong; empty when all is well
  std::string skipped;          ///< why it was not run

  bool isVerifiable() const { return comparison.unverifiableShare() <= verify::mostUnverifiable; }
  /// Fails it when too much may leave the range of its type.
  void requireVerifiable();
};

struct VerificationOptions {
  uint64_t seed = 0;         ///< of what is drawn: cases and data
  std::string onlyCase = {}; ///< by the name that its row has; "" = all
  /// Folder for the first case that fails, see verify/KeptCase.h; one that is chosen by name is
  /// kept if it passes, too. "" = none.
  std::string keepIn = {};
  /// Words of a command line that verifies the same; what names one case is added to it.
  std::vector<std::string> command = {};

  /// Whether a case of that outcome may be kept.
  bool mayKeep(bool failed) const { return !keepIn.empty() && (failed || !onlyCase.empty()); }
};

/// Which of the cases is kept.
class KeptChoice {
public:
  explicit KeptChoice(const VerificationOptions &options) : options(options) {}

  /// This one is to be kept now, in the place of what may be kept already.
  bool wants(bool failed) const;
  void choose(std::string name, bool failed);
  /// Of the case that is kept, "" = none.
  const std::string &name() const { return kept; }

private:
  const VerificationOptions &options;
  std::string kept;
  bool isFailure = false;
};

/// What looks at a launch before it is made.
struct LaunchCheck {
  /// The first finding of `nereid check`, "" = none.
  std::function<Result<std::string>()> run;
  bool isDone = false; ///< for a launch that touches the same places; it found nothing
  /// Elements of all tensors, workspaces apart, of a launch that is looked at.
  int64_t largest = verify::largestChecked;
};

/// Looks at the launch where it is small, and makes no launch in which something is found: what is
/// stored outside of all tensors may end the process. Else verify::runTrial; when that went outside
/// of its tensors the check says where, and the result's text has both.
Result<verify::TrialResult> inspectLaunch(std::span<const verify::TrialTensor> tensors,
                                          const verify::Launch &launch,
                                          const verify::TrialOptions &options,
                                          const LaunchCheck &check);

/// Calls `verify` with 0 to count - 1, on a few threads at the same time; in any order, the first
/// ones first. After one that returns false, and after an interruption, none is begun.
void forEachAtOnce(size_t count, const std::function<bool(size_t)> &verify);

/// Magnitudes come nearer to 1, and special numbers meet others, until what can be verified is
/// enough: `attempt` tries a case on `data` as it is then, with numbers drawn for the n-th time,
/// and returns a Result, in which `rowOf` finds the VerifiedCase.
template <class Attempt, class RowOf>
auto untilVerifiable(definition::Data &data, const Attempt &attempt, const RowOf &rowOf) {
  const bool isSpecial = data.kind == definition::DataKind::Special;
  for (int drawn = 0;; drawn += isSpecial ? 1 : 0) {
    auto tried = attempt(drawn);
    if (!tried) {
      return tried;
    }
    const VerifiedCase &row = std::invoke(rowOf, *tried);
    const bool isLast =
        isSpecial ? drawn + 1 == verify::mostDraws : std::fabs(data.range) < verify::smallestRange;
    if (row.isVerifiable() || !row.failure.empty() || isLast) {
      return tried;
    }
    data.range /= 2; // special numbers have none
  }
}

/// The seed of data that is drawn for the n-th time, from 0 on.
constexpr uint64_t seedOf(uint64_t seed, int drawn) {
  return seed + static_cast<uint64_t>(drawn) * 1'000'003;
}

} // namespace nereid::bench
