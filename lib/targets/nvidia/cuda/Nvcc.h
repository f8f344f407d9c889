// SPDX-License-Identifier: Apache-2.0
// NVIDIA's compiler driver as a program, which wants a C++ compiler for the host beside it.
#pragma once

#include "lib/targets/nvidia/cuda/CudaCompiler.h"

namespace nereid::nvidia {

class Nvcc final : public CudaCompiler {
public:
  explicit Nvcc(std::string program);

  std::string name() const override { return "'" + program + "'"; }
  /// With the size and the time of the file: its version would cost a process.
  std::string identity() const override;
  Result<CompiledCuda> compile(const CudaSource &source) const override;

private:
  std::string program;
};

} // namespace nereid::nvidia
