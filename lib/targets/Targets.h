// SPDX-License-Identifier: Apache-2.0
// The one place that knows which targets this program has. Whoever compiles calls it first; all
// else asks through lib/pipeline/Target.h.
#pragma once

namespace nereid {

/// Makes every target that is linked in known to pipeline::findTarget. May be called more than
/// once, from any thread.
void registerTargets();

} // namespace nereid
