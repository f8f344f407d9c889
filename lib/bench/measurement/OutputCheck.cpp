// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/measurement/OutputCheck.h"

#include "lib/verify/Digest.h"

namespace nereid::bench {

Status OutputCheck::surround(std::vector<verify::Canaries::Named> tensors) {
  return canaries.surround(std::move(tensors));
}

void OutputCheck::watch(std::vector<runtime::Tensor> watched, std::vector<runtime::Tensor> written,
                        Judge compare) {
  inputs = std::move(watched);
  outputs = std::move(written);
  judge = std::move(compare);
  inputsDigest = verify::digestOf(inputs);
}

std::string OutputCheck::verify() {
  if (std::string outside = canaries.violation(); !outside.empty()) {
    return outside;
  }
  if (verify::digestOf(inputs) != inputsDigest) {
    return "an input is changed: nereid verify says which";
  }
  if (!judge) {
    return "";
  }
  const uint64_t digest = verify::digestOf(outputs);
  if (agreedDigest == digest) {
    return "";
  }
  std::string wrong = judge();
  if (wrong.empty()) {
    agreedDigest = digest;
  }
  return wrong;
}

} // namespace nereid::bench
