// SPDX-License-Identifier: Apache-2.0
// The contents of the modules `triton`, `triton.language` and those below them.
#pragma once

#include "lib/language/emit/report/Reporter.h"

namespace nereid::language::emit {

class LanguageModules {
public:
  LanguageModules(const Position &position, Reporter &report)
      : position(position), report(report) {}

  /// E0201 or E0310 when the module has no such name.
  Value attribute(const std::string &path, const std::string &name);

private:
  const Position &position;
  Reporter &report;
};

/// `triton`, `triton.language` and what is below them.
bool isKnownModule(const std::string &path);
/// Whether the known module has such a name.
bool knownModuleHas(const std::string &path, const std::string &name);

} // namespace nereid::language::emit
