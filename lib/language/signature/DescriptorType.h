// SPDX-License-Identifier: Apache-2.0
// The type of a parameter that is a tensor descriptor made by the host, as signatures spell it:
// tensordesc<fp16[128,64]>, blocks of 128 x 64 elements.
#pragma once

#include "lib/language/signature/Signature.h"

#include <optional>

namespace nereid::language {

bool isDescriptorType(std::string_view text);
/// Fills kind, dtype and blockShape, or says what is wrong (E0207).
std::optional<Diagnostic> readDescriptorType(std::string_view text, ParamType &out);
std::string descriptorTypeText(const ParamType &param);

} // namespace nereid::language
