// SPDX-License-Identifier: Apache-2.0
// Functions of f32 whose results are only rounded to 16 bits, with an approximate unit: within
// 2^-16 of themselves, which moves one rounded result in some dozens by a unit in its last place.
// They cost a third of the forms that are within a unit of f32.
#pragma once

#include "lib/lowering/math/Lanes.h"

namespace nereid::lowering {

Lanes log10ToHalf(Lanes x);
Lanes sinhToHalf(Lanes x);
Lanes coshToHalf(Lanes x);
Lanes tanToHalf(Lanes x);
Lanes asinToHalf(Lanes x);
Lanes acosToHalf(Lanes x);

} // namespace nereid::lowering
