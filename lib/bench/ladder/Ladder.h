// SPDX-License-Identifier: Apache-2.0
// A ladder: kernels that do the same, each rung with one idea more than the one before, timed in
// the same turns. A rung is one launch or several one after another, whose times are added up:
//   [[case]] ladder = "1024", rung = "tiles"      cases of one ladder, in the order of the file
#pragma once

#include "lib/bench/measurement/CaseMeasurement.h"
#include "lib/pipeline/Occupation.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::bench {

/// What the code of a launch takes of a device.
struct CodeTaken {
  runtime::FunctionResources resources;
  int64_t sharedBytes = 0; ///< of a program, with what the launch asks for
  pipeline::Occupation occupation;
};

struct RungLaunch {
  std::string caseName, file;
  std::optional<KernelRow> row;  ///< none for an architecture, which has no times, or on `failure`
  std::optional<CodeTaken> code; ///< where the target tells
  std::string failure;           ///< "" = none

  bool isTimed() const {
    return failure.empty() && row && row->failure.empty() && row->kernel.summary.count > 0;
  }
};

struct Rung {
  std::string name;
  std::vector<RungLaunch> launches; ///< at least one

  bool isTimed() const;
  /// "" where all of its launches are right.
  std::string failure() const;
  /// Of all launches, one number for each turn; empty unless all are timed.
  std::vector<double> samples() const;
  double median() const;
  double bytes() const; ///< that the launches must move, and compute; 0 = one does not say
  double flops() const;
};

struct Ladder {
  std::string name;
  std::vector<Rung> rungs;

  /// How many times as fast rung `to` is as rung `from`, as the median over the turns; 0 where one
  /// of them has no times.
  double gain(size_t from, size_t to) const;
  /// Over the nearest rung above that was timed; 0 for the first one.
  double gainOverLast(size_t rung) const;
};

/// Which cases are rungs of which ladder, by their places in the list.
struct LadderPlan {
  std::string name;
  struct Step {
    std::string name;
    std::vector<size_t> cases;
  };
  std::vector<Step> steps;
};
/// Ladders and rungs in the order of their first cases. E0016 where there is none.
Result<std::vector<LadderPlan>> ladderPlans(const std::string &folder,
                                            const std::vector<launch::KernelCase> &cases);

/// All rungs in the same turns; kernels that leave configs open get the best one first. For an
/// architecture, what its code takes and no times. Errors, in `diags`, when nothing can be said.
std::optional<Ladder> measureLadder(const LadderPlan &plan,
                                    const std::vector<launch::KernelCase> &cases,
                                    const KernelMeasurement &how, const Machine &chip,
                                    Diagnostics &diags);

} // namespace nereid::bench
