// SPDX-License-Identifier: Apache-2.0
// How far verification goes, the same for generated operators and for folders of kernels.
#pragma once

#include <cstdint>

namespace nereid::verify {

/// Elements of all tensors up to which `nereid check` looks at a launch as well.
constexpr int64_t largestChecked = 65536;
/// The same for the smallest of a kernel's cases with tensors of the same types, so that of each
/// one at least is looked at.
constexpr int64_t largestCheckedOnce = 4194304;
/// Elements between the kernels of a call up to which each type is looked at: of more, one is.
constexpr int64_t largestCheckedOfEachType = 1048576;
/// Share of a case's elements that may leave their type's range: more, and the case says little.
constexpr double mostUnverifiable = 0.05;
/// Magnitudes (see definition::Data) are halved down to this for enough to be verified: a fifth
/// above ordinary numbers in float32, since one element that all share may decide about a whole
/// case.
constexpr double smallestRange = 0.002;

/// How often infinities and NaN are drawn anew for that: beside a factor that rounds to 0 or does
/// not, an infinity says nothing.
constexpr int mostDraws = 8;

} // namespace nereid::verify
