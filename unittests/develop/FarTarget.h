// SPDX-License-Identifier: Apache-2.0
// A target whose code is the CPU's and runs on the tests' device (unittests/FarDevice.h): what is
// done for targets of devices can be tried with kernels that compute.
#pragma once

namespace nereid::develop::test {

/// Makes the target "far" known, "far:0" being the one of the device of that name.
void registerFarTarget();

} // namespace nereid::develop::test
