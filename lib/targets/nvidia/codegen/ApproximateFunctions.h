// SPDX-License-Identifier: Apache-2.0
// The instructions of NVIDIA's multifunction unit as lib/lowering/math uses them.
#pragma once

namespace nereid::lowering {
class ApproximateUnit;
}

namespace nereid::nvidia {

/// Lives as long as the program.
const lowering::ApproximateUnit &approximateFunctions();

} // namespace nereid::nvidia
