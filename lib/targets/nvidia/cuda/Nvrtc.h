// SPDX-License-Identifier: Apache-2.0
// NVIDIA's runtime compiler as a library of this process. What is used of it is declared here, with
// the meaning that NVIDIA's "NVRTC" reference gives it, so that no toolkit is needed to build.
#pragma once

#include "lib/targets/nvidia/cuda/CudaCompiler.h"

#include <cstddef>
#include <variant>

namespace nereid::nvidia {

class Nvrtc final : public CudaCompiler {
public:
  /// A path, or a name that the system looks up; why it cannot be used. It stays loaded.
  static std::variant<std::shared_ptr<const Nvrtc>, std::string> load(const std::string &file);

  std::string name() const override;
  std::string identity() const override { return name() + " " + file; }
  Result<CompiledCuda> compile(const CudaSource &source) const override;

private:
  using Program = struct ProgramData *;
  using Status = int; ///< nvrtcResult: 0 = success, 6 = what the log says

  struct Functions {
    Status (*version)(int *major, int *minor);
    const char *(*errorText)(Status);
    Status (*create)(Program *, const char *text, const char *name, int headers,
                     const char *const *headerTexts, const char *const *headerNames);
    Status (*destroy)(Program *);
    Status (*compile)(Program, int count, const char *const *options);
    Status (*logSize)(Program, size_t *);
    Status (*log)(Program, char *);
    Status (*ptxSize)(Program, size_t *);
    Status (*ptx)(Program, char *);
  };

  /// Its text, without the zero at its end.
  static std::string textOf(Program program, Status (*size)(Program, size_t *),
                            Status (*get)(Program, char *));

  Functions api{};
  std::string file;    ///< where it is
  std::string headers; ///< the toolkit's folder for what is included; empty where it has none
  int major = 0, minor = 0;
};

} // namespace nereid::nvidia
