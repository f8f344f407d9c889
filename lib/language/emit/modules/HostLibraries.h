// SPDX-License-Identifier: Apache-2.0
// What kernels take from Python's libraries at the top level of a file, without those libraries:
// torch's types and the limits of numbers, and settings from the environment, which have their
// defaults here so that a kernel means the same on every machine.
#pragma once

#include "lib/language/emit/Emitter.h"
#include "lib/language/host/HostPython.h"

namespace nereid::language::emit {

class Imports;

class HostLibraries {
public:
  HostLibraries(Emitter &emitter, Imports &imports) : emitter(emitter), imports(imports) {}

  /// A call of a library's function with constants, when its result is known.
  std::optional<Value> call(const Value &callee, const std::vector<Argument> &arguments);

private:
  Emitter &emitter;
  Imports &imports;
};

/// Of a library of Python that is not read: torch.float32, torch.finfo(torch.float32).max.
std::optional<Value> hostAttribute(const Value &base, const std::string &name);
/// A literal's value; the same back, when the value is one.
Value valueOf(const ConstValue &constant);
std::optional<ConstValue> constantOf(const Value &value);
std::optional<ConstValue> constantOf(const HostValue &value);

} // namespace nereid::language::emit
