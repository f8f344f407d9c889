// SPDX-License-Identifier: Apache-2.0
// The target "nvidia:sm_90a" and its likes: kernels as PTX; and the devices "nvidia:0" and its
// neighbours.
#pragma once

namespace nereid::nvidia {

/// Makes the target "nvidia" known, and its devices, of which none is looked for before one is
/// asked for.
void registerNvidiaTarget();

} // namespace nereid::nvidia
