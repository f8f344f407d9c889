// SPDX-License-Identifier: Apache-2.0
// Ctrl-C as a request that long work looks at between its steps: what is done stays, and the same
// command goes on from there. A second Ctrl-C ends the process at once.
#pragma once

namespace nereid {

/// Installs the handler; idempotent.
void watchInterrupt();
bool isInterrupted();

} // namespace nereid
