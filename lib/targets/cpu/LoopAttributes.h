// SPDX-License-Identifier: Apache-2.0
// What lower/ knows of a loop and loops/ asks for: unit attributes of scf.for.
#pragma once

namespace nereid::cpu {

/// A lane loop that walks all of a row but the end, in whole vectors.
constexpr const char *wholeVectors = "nereid.whole_vectors";
/// A lane loop whose carried vectors are folded across lanes and into each other, so that it does
/// not matter which elements are in which lanes.
constexpr const char *anyLaneOrder = "nereid.any_lane_order";

} // namespace nereid::cpu
