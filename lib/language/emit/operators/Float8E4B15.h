// SPDX-License-Identifier: Apache-2.0
// The 8-bit float `fp8e4b15` has no type in MLIR: tile IR carries its bytes as i8, and what depends
// on the number they stand for is made of integer operations here. runtime/elements/Float8.h has
// the format.
#pragma once

#include "lib/language/emit/tiles/TileBuilder.h"

namespace nereid::language::emit {

/// float16 holds every number of the format; exact.
Value halfOfE4B15(TileBuilder &tiles, const Value &source);
/// Of any other float, rounded as upstream rounds it.
Value e4b15Of(TileBuilder &tiles, const Value &source);
/// The sign alone changes: through a wider type 1.875 would become 1.75.
Value magnitudeOfE4B15(TileBuilder &tiles, const Value &source);
Value negativeOfE4B15(TileBuilder &tiles, const Value &source);

} // namespace nereid::language::emit
