// SPDX-License-Identifier: Apache-2.0
// A roofline as a picture: both ceilings on logarithmic axes, and the operator's cases under them,
// as one kernel (full) and operation by operation (hollow).
#pragma once

#include "lib/document/Document.h"

#include <optional>

namespace nereid::document {

/// SVG; nothing for a chip without rates, or an operator that computes nothing.
std::optional<std::string> rooflinePicture(const DocumentInput &input);

} // namespace nereid::document
