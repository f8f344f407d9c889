// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM as a request that long work looks at between its steps: what is done stays,
// and the same command goes on from there. A step that takes longer than most of a second is not
// waited for: the process then ends as it is, as it does at a second request. Files are replaced
// as a whole, so that none is left half written.
#pragma once

#include <chrono>

namespace nereid {

/// Installs the handler; idempotent. `grace`: how long a step is waited for.
void watchInterrupt(std::chrono::milliseconds grace = std::chrono::milliseconds(700));
bool isInterrupted();
/// The exit status that shells know for work that a signal ended: 130 for Ctrl-C, 143 for SIGTERM.
int interruptStatus();

} // namespace nereid
