// SPDX-License-Identifier: Apache-2.0
// A kernel file ready to launch, compiled or interpreted: the two ways behind one call, so that
// run, bench and verify do not care which it is.
#pragma once

#include "lib/cli/Arguments.h"
#include "lib/pipeline/Compiler.h"

namespace nereid::cli {

class PreparedKernel {
public:
  /// Parses the file, matches the signature and compiles. Nothing when diags has errors.
  static std::optional<PreparedKernel> prepare(const std::string &reference,
                                               const std::string &signatureText,
                                               const std::vector<std::string> &importPaths,
                                               const std::string &target, bool useCache,
                                               bool interpret, Diagnostics &diags);

  const language::Signature &signature() const { return matchedSignature; }
  const runtime::KernelInfo &info() const { return kernel.info; }
  const runtime::Kernel &compiled() const { return kernel; }
  const pipeline::CompileInput &compileInput() const { return input; }

  bool launch(runtime::Grid grid, const KernelArguments &arguments, Diagnostics &diags) const;

private:
  pipeline::CompileInput input;
  language::Signature matchedSignature;
  runtime::Kernel kernel;
  bool interpreted = false;
};

} // namespace nereid::cli
