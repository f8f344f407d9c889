// SPDX-License-Identifier: Apache-2.0
#include "runtime/LaunchError.h"

namespace nereid::runtime {

LaunchError assertionError(std::string_view kernel, std::span<const int32_t, 3> id,
                           std::string_view message) {
  std::string program;
  for (int32_t number : id) {
    program += (program.empty() ? "(" : ", ") + std::to_string(number);
  }
  return {"E0407", "device assertion failed in kernel '" + std::string(kernel) + "', program " +
                       program + "): " + std::string(message)};
}

} // namespace nereid::runtime
