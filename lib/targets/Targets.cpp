// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/Targets.h"

#include "lib/targets/cpu/CpuTarget.h"

namespace nereid {

void registerTargets() {
  static const bool isRegistered = (cpu::registerCpuTarget(), true);
  (void)isRegistered;
}

} // namespace nereid
