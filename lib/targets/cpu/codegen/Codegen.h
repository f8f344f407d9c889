// SPDX-License-Identifier: Apache-2.0
// LLVM dialect to optimised LLVM IR to machine code for one CpuMachine. The target machine is built
// once and kept: a further kernel in the same process takes a few milliseconds.
#pragma once

#include "lib/pipeline/Target.h"
#include "lib/targets/cpu/codegen/CpuMachine.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mlir {
class ModuleOp;
}

namespace nereid::cpu {

class CodeGenerator {
public:
  explicit CodeGenerator(CpuMachine machine);
  ~CodeGenerator();

  const CpuMachine &machine() const;

  /// Translates a module in the LLVM dialect and runs the scalar optimisations. Null with a
  /// diagnostic on failure.
  std::unique_ptr<pipeline::CodeModule> translate(mlir::ModuleOp module, Diagnostics &diags);
  /// Reads LLVM IR text back.
  std::unique_ptr<pipeline::CodeModule> parse(std::string_view text, const std::string &path,
                                              Diagnostics &diags);
  /// A relocatable ELF object; E0390 when it would need a symbol the runtime does not provide.
  bool emitObject(pipeline::CodeModule &code, std::vector<uint8_t> &object, Diagnostics &diags);
  bool emitAssembly(pipeline::CodeModule &code, std::string &text, Diagnostics &diags);
  /// An object from IR text without triple; it may need any symbol.
  bool assemble(std::string_view text, std::vector<uint8_t> &object, Diagnostics &diags);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Names of the symbols that an object needs but does not define; nothing when it is not ELF64.
std::vector<std::string> undefinedSymbols(const std::vector<uint8_t> &object);

} // namespace nereid::cpu
