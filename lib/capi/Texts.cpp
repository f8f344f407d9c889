// SPDX-License-Identifier: Apache-2.0
#include "lib/capi/Texts.h"

#include "lib/language/syntax/Characters.h"

#include <cstring>
#include <string_view>

namespace nereid::capi {

std::string problemOfText(const char *what, const char *text, size_t limit) {
  if (!text) {
    return std::string("expects ") + what + ", but got a null pointer";
  }
  const std::string_view bytes(text, ::strnlen(text, limit + 1));
  if (bytes.size() > limit) {
    return std::string("expects ") + what + " of at most " + std::to_string(limit) +
           " bytes, but got more";
  }
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = language::decodeUtf8(bytes, at).bytes;
    if (length == 0) {
      return std::string("expects ") + what + " in UTF-8, but byte " + std::to_string(at) + " is " +
             std::to_string(static_cast<unsigned char>(bytes[at]));
    }
    at += length;
  }
  return {};
}

std::string problemOfOptionalText(const char *what, const char *text, size_t limit) {
  return text ? problemOfText(what, text, limit) : std::string();
}

} // namespace nereid::capi
