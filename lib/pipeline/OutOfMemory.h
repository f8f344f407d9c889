// SPDX-License-Identifier: Apache-2.0
// What the compiler's libraries do when memory ends: by themselves they abort the process. This
// header knows no MLIR.
#pragma once

namespace nereid::pipeline {

/// `report` is called by any thread, in the middle of anything, and must not return.
void onOutOfMemory(void (*report)());

} // namespace nereid::pipeline
