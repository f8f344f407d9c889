// SPDX-License-Identifier: Apache-2.0
// A target that is no CPU, for tests of what stands between targets and everything else: its code
// is tile IR as it is, and its device "toy:0", whose memory the host cannot touch, gives that to
// the interpreter.
#pragma once

namespace nereid::conformance {

/// Makes target and devices "toy" known.
void registerToy();

} // namespace nereid::conformance
