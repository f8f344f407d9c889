// SPDX-License-Identifier: Apache-2.0
// What kinds of devices this process knows, for those who tell of all of them.
#pragma once

#include <string>
#include <vector>

namespace nereid::runtime {

/// Names for findDevice, "cpu" among them, in order; a kind may have no device on this machine.
std::vector<std::string> deviceKinds();

} // namespace nereid::runtime
