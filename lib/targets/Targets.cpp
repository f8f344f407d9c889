// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/Targets.h"

#include "lib/targets/cpu/CpuTarget.h"
#include "lib/targets/nvidia/NvidiaTarget.h"

namespace nereid {

void registerTargets() {
  static const bool isRegistered = (cpu::registerCpuTarget(), nvidia::registerNvidiaTarget(), true);
  (void)isRegistered;
}

} // namespace nereid
