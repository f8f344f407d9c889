// SPDX-License-Identifier: Apache-2.0
// LLVM's SHA-256 behind a header that knows no LLVM.
#include "lib/support/Hash.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

namespace nereid {

Sha256 &Sha256::field(std::string_view text) {
  for (int shift = 0; shift < 64; shift += 8) {
    pending += static_cast<char>(uint64_t{text.size()} >> shift);
  }
  pending += text;
  return *this;
}

Digest Sha256::finish() const { return sha256(pending); }

Digest sha256(std::span<const uint8_t> bytes) {
  return llvm::SHA256::hash({bytes.data(), bytes.size()});
}

Digest sha256(std::string_view text) {
  return sha256(std::span(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
}

std::string toHex(const Digest &digest) { return llvm::toHex(digest, /*LowerCase=*/true); }

} // namespace nereid
