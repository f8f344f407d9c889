// SPDX-License-Identifier: Apache-2.0
#include "lib/lowering/math/ApproximateUnit.h"

namespace nereid::lowering {

const ApproximateUnit *approximateUnitFor(Lanes x) {
  return x.type().isF32() ? x.where().machine.approximate : nullptr;
}

} // namespace nereid::lowering
