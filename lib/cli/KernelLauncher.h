// SPDX-License-Identifier: Apache-2.0
// A kernel file ready to launch: compiled, interpreted or in a runner on another machine, behind
// one call, so that run, bench and verify do not care which it is.
#pragma once

#include "lib/cli/Arguments.h"
#include "lib/language/Ast.h"
#include "lib/pipeline/Compiler.h"
#include "runtime/remote/Runner.h"

#include <memory>

namespace nereid::cli {

/// The named kernel, or the file's only one; E0014.
const language::FunctionDef *findKernel(const language::SourceModule &module,
                                        const std::string &function, Diagnostics &diags);

/// What a kernel runs on.
struct Execution {
  std::string target = "cpu";
  std::string runner = {}; ///< command of a nereid-runner; "cpu" is then the machine it runs on
  bool useCache = true, interpret = false;
};

class PreparedKernel {
public:
  /// Parses the file, matches the signature and compiles. Nothing when diags has errors.
  static std::optional<PreparedKernel> prepare(const std::string &reference,
                                               const std::string &signatureText,
                                               const std::vector<std::string> &importPaths,
                                               const Execution &execution, Diagnostics &diags);

  const language::Signature &signature() const { return matchedSignature; }
  const runtime::KernelInfo &info() const { return kernel.info; }
  const runtime::Kernel &compiled() const { return kernel; }
  const pipeline::CompileInput &compileInput() const { return input; }

  bool launch(runtime::Grid grid, const KernelArguments &arguments, Diagnostics &diags) const;

private:
  bool compileHere(const Execution &execution, Diagnostics &diags);
  bool compileForRunner(const Execution &execution, Diagnostics &diags);

  pipeline::CompileInput input;
  language::Signature matchedSignature;
  runtime::Kernel kernel;
  bool interpreted = false;
  std::shared_ptr<runtime::remote::Runner> runner; ///< null = this process
  uint64_t remoteKernel = 0;
};

} // namespace nereid::cli
