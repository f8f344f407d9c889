// SPDX-License-Identifier: Apache-2.0
// The descriptor of a device: what it says of itself, and the rates that `nereid calibrate` has
// measured on one like it. The processor that the program runs on has ThisChip.h.
#pragma once

#include "lib/machine/Machine.h"
#include "runtime/Device.h"

namespace nereid::measure {

/// Without rates. The fingerprint is of model and processors, so that devices alike are one chip.
Machine describeDevice(const runtime::Device &device);

/// The same with the rates that are kept in the user's cache folder, if there are any.
Machine deviceChip(const runtime::Device &device);

/// Keeps the rates of a descriptor for deviceChip: the file's name. E0002 without a folder that can
/// be written.
Result<std::string> keepDeviceChip(const Machine &chip);

} // namespace nereid::measure
