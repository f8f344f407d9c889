// SPDX-License-Identifier: Apache-2.0
// nereid.json: the manifest as text and back.
#pragma once

#include "lib/generator/Project.h"

namespace nereid::generator {

std::string manifestText(const Manifest &manifest);
/// E0611 when the text is damaged or of another schema; `path` is for the message.
Result<Manifest> readManifest(const std::string &path, const std::string &text);

} // namespace nereid::generator
