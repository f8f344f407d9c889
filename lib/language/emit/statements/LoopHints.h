// SPDX-License-Identifier: Apache-2.0
// The hints of tl.range: read where the range is made, and put on the loop that runs over it, for
// targets that make use of them.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

/// The constants of all hints, a tuple: None for those that are not given. Poison after E0203 or
/// E0229.
Value readLoopHints(Emitter &emitter, const Bound &args);
void setLoopHints(mlir::scf::ForOp loop, const Value &hints);

} // namespace nereid::language::emit
