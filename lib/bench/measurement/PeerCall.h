// SPDX-License-Identifier: Apache-2.0
// A case's reference or `peer` expression as the call of one operation, where it is one.
#pragma once

#include "lib/measure/peers/Peers.h"

#include <optional>
#include <string>

namespace nereid::bench {

/// "softmax(x, dim=-1)", "torch.matmul(a, b)", "a @ b"; nothing for any other expression. Names are
/// tensors; numbers and booleans by keyword are attributes.
std::optional<measure::PeerCall> parsePeerCall(const std::string &expression);

} // namespace nereid::bench
