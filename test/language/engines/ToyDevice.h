// SPDX-License-Identifier: Apache-2.0
// The device of ToyTarget.h. Its addresses are none of the host's: whoever takes one for a host
// address faults.
#pragma once

namespace nereid::conformance {

/// Makes the devices "toy" known, of which there is "toy:0".
void registerToyDevices();

} // namespace nereid::conformance
