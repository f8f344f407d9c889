// SPDX-License-Identifier: Apache-2.0
// What a name means where elaboration stands: a local, a variable of the function around, something
// at the top level of the file, or a Python function.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

class Globals;

class Scope {
public:
  Scope(Emitter &emitter, Globals &globals) : emitter(emitter), globals(globals) {}

  /// E0202 when the name means nothing.
  Value lookup(const std::string &name);

private:
  std::vector<std::string> visibleNames() const;

  Emitter &emitter;
  Globals &globals;
};

} // namespace nereid::language::emit
