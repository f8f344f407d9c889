// SPDX-License-Identifier: Apache-2.0
// The target "nvidia:sm_90a" and its likes: kernels as PTX.
#pragma once

namespace nereid::nvidia {

/// Makes the target "nvidia" known.
void registerNvidiaTarget();

} // namespace nereid::nvidia
