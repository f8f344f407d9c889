// SPDX-License-Identifier: Apache-2.0
// The function that a kernel becomes: its arguments by the signature, what is promised of them, and
// the values that the kernel's parameters start with.
#pragma once

#include "lib/language/emit/Emitter.h"
#include "lib/language/signature/Signature.h"

namespace nereid::language::emit {

class Globals;

class KernelFunction {
public:
  KernelFunction(Emitter &emitter, Globals &globals, const SourceModule &module)
      : emitter(emitter), globals(globals), module(module) {}

  /// Adds the function where the builder stands, gives the frame its parameters, and returns the
  /// empty body.
  mlir::Block *add(const FunctionDef &kernel, const Signature &signature);

private:
  mlir::Block *addArguments(const FunctionDef &kernel, const Signature &signature);
  Value parameterValue(const ParamType &param, bool isConst, mlir::Block &body, unsigned &next);
  Value constantValue(const ConstValue &constant);
  Value valueNamed(const std::string &name);

  Emitter &emitter;
  Globals &globals;
  const SourceModule &module;
};

} // namespace nereid::language::emit
