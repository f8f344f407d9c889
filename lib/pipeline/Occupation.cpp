// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/Occupation.h"

namespace nereid::pipeline {

std::string Occupation::limitedBy() const {
  std::string names;
  for (const Limit &limit : limits) {
    if (limit.programs == programs) {
      names += (names.empty() ? "" : " and ") + limit.resource;
    }
  }
  return names;
}

} // namespace nereid::pipeline
