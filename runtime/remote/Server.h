// SPDX-License-Identifier: Apache-2.0
// The runner's side: loads objects, launches them on tensors that it is sent, and sends these back.
#pragma once

namespace nereid::runtime::remote {

/// Answers requests until the other side closes `input`. The program's exit status: 0, or 1 when
/// the other side did not speak this protocol.
int serve(int input, int output);

} // namespace nereid::runtime::remote
