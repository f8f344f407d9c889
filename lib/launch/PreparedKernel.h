// SPDX-License-Identifier: Apache-2.0
// A kernel file ready to launch: compiled, interpreted or in a runner on another machine, behind
// one call, so that run, bench and verify do not care which it is.
#pragma once

#include "lib/launch/Arguments.h"
#include "lib/pipeline/Compiler.h"
#include "lib/pipeline/SourceKernel.h"
#include "runtime/remote/Runner.h"

#include <memory>

namespace nereid::launch {

/// What a kernel runs on.
struct Execution {
  std::string target = "cpu";
  std::string chip = {}; ///< see pipeline::CompileOptions
  std::string runner =
      {}; ///< command of a nereid-runner; a vendor alone is then the machine it runs on
  bool useCache = true, interpret = false;
  std::vector<std::string> importPaths = {}; ///< see pipeline::CompileInput
};

class PreparedKernel {
public:
  /// Parses the file, matches the signature and compiles. Nothing when diags has errors.
  static std::optional<PreparedKernel> prepare(const std::string &reference,
                                               const std::string &signatureText,
                                               const Execution &execution, Diagnostics &diags);

  const language::Signature &signature() const { return input.kernel->signature; }
  const runtime::KernelInfo &info() const { return kernel.info; }
  const runtime::Kernel &compiled() const { return kernel; }
  const pipeline::CompileInput &compileInput() const { return input; }

  bool launch(runtime::Grid grid, const KernelArguments &arguments, Diagnostics &diags) const;

private:
  bool compileHere(const Execution &execution, Diagnostics &diags);
  bool compileForRunner(const Execution &execution, Diagnostics &diags);

  pipeline::CompileInput input;
  runtime::Kernel kernel;
  bool interpreted = false;
  std::shared_ptr<runtime::remote::Runner> runner; ///< null = this process
  uint64_t remoteKernel = 0;
};

} // namespace nereid::launch
