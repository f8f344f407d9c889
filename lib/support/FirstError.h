// SPDX-License-Identifier: Apache-2.0
// One diagnostic for who passes on no more than one.
#pragma once

#include "lib/support/Diagnostics.h"

#include <algorithm>

namespace nereid {

/// The first error, which warnings and remarks may precede; the first of all where there is none.
/// `diags` must not be empty.
inline const Diagnostic &firstError(const Diagnostics &diags) {
  const auto found =
      std::find_if(diags.all().begin(), diags.all().end(),
                   [](const Diagnostic &one) { return one.severity == Severity::Error; });
  return found == diags.all().end() ? diags.all().front() : *found;
}

} // namespace nereid
