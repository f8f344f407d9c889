// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/KernelReference.h"

namespace nereid::launch {

KernelReference parseKernelReference(const std::string &text) {
  const size_t colon = text.rfind(':'), slash = text.rfind('/');
  const bool hasFunction =
      colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return hasFunction ? KernelReference{text.substr(0, colon), text.substr(colon + 1)}
                     : KernelReference{text, ""};
}

} // namespace nereid::launch
