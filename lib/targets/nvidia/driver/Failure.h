// SPDX-License-Identifier: Apache-2.0
// What a failed tl.device_assert leaves for the host: a record in the global array `nereid_failure`
// of the module, which is there only if the kernel asserts anything. The first program that fails
// writes it; the host reads it once the stream has finished, and writes zeros over it.
//
// | bytes   | what they hold |
// |---------|----------------|
// | 0       | int32: 1 after a failure, else 0 |
// | 4 8 12  | int32: the program's id along x, y, z |
// | 16 256  | "file:line: message", cut off to fit, with a zero behind it |
#pragma once

namespace nereid::nvidia {

inline constexpr const char *failureSymbol = "nereid_failure";
inline constexpr int failureBytes = 256;
inline constexpr int failureTextAt = 16;

} // namespace nereid::nvidia
