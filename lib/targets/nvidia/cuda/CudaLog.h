// SPDX-License-Identifier: Apache-2.0
// What NVRTC and nvcc print of a source that does not compile, as our own error with the place in
// the text:
//   gelu.cu(9): error: identifier "tanhff" is undefined
//         float t = tanhff(u);
//                   ^
#pragma once

#include "lib/support/Diagnostics.h"

#include <string>
#include <string_view>

namespace nereid::nvidia {

/// E0314 at the first error in `path`, whose text is given, with the other errors as notes. A log
/// without any line of that form is the note as it is.
Diagnostic errorOfLog(std::string_view log, const std::string &path, std::string_view text,
                      const std::string &compiler);

} // namespace nereid::nvidia
