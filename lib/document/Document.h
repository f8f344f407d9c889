// SPDX-License-Identifier: Apache-2.0
// The definition document, <op>_definition.md: what is asked for, the analysis of it, the strategy
// that follows with what each part of it should gain, and what to do when the target is missed.
// Each figure is counted on the graph, planned by the generator or follows from the chip's
// descriptor. The first stage's output, with <op>_roofline.svg beside it.
#pragma once

#include "lib/document/CostModel.h"

#include <string>
#include <vector>

namespace nereid::document {

/// One performance case, as it is launched, and as it would be otherwise.
struct CasePlan {
  LaunchOutline chosen;
  LaunchOutline draft; ///< as one would write it first, the same for all sizes
  /// With the schedule of the definition's first case.
  LaunchOutline shared;
};

/// All launches of one performance case.
struct CallOutline {
  struct Launch {
    std::string kernel, blocks; ///< "BLOCK_X=4, BLOCK_Y=1024"
    int64_t programs = 0;
    std::string computes = {}; ///< "h = conv2d, gelu"
    /// What needs another reduction is made in the walk over the row that makes that one.
    bool isOnline = false;
    /// Of the tensors that it reads and writes, and of those of its operations one by one.
    double bytes = 0, unfusedBytes = 0;
  };
  /// Memory between two launches, and why they are not one.
  struct Boundary {
    std::string from, to, memory, why;
    double bytes = 0;
  };
  std::vector<Launch> launches; ///< in order
  std::vector<Boundary> boundaries = {};
};

/// Which operations are one kernel, and why others are not, in Markdown; calls of the same kernels
/// once. `calls`: one for each performance case.
std::string fusionText(const definition::Operator &op, const std::vector<CallOutline> &calls);

/// What would be changed next when a measurement finds something.
struct Remedy {
  std::string finding, caseName, change, reason;
  double expectedGain = 1; ///< old time by new time
};

struct DocumentInput {
  const definition::Operator &op;
  DType dtype; ///< of the figures that are for one type
  const Machine &chip;
  std::vector<CasePlan> plans; ///< one for each performance case, or none
  std::vector<Remedy> remedies;
  std::vector<CallOutline> calls = {}; ///< as many
};

/// Markdown. What the chip's descriptor does not say is left out, and the document says so.
std::string definitionDocument(const DocumentInput &input);
/// Name of the picture, which the document shows when the chip has rates.
std::string pictureName(const definition::Operator &op);

} // namespace nereid::document
