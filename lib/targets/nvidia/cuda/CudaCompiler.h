// SPDX-License-Identifier: Apache-2.0
// A compiler of CUDA C++ on this machine: the library NVRTC, found by dlopen, or the program nvcc.
// Nothing of Nereid's own needs one: kernels in CUDA C++ are peers that users bring.
#pragma once

#include "lib/support/Diagnostics.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid::nvidia {

/// One text for one architecture.
struct CudaSource {
  std::string path; ///< in what the compiler says; its folder is searched for what is included
  std::string_view text;
  std::string architecture;                                ///< "sm_90a"
  std::vector<std::pair<std::string, std::string>> macros; ///< names and values
  std::vector<std::string> flags;                          ///< besides
};

struct CompiledCuda {
  bool isRight = false;
  std::string ptx; ///< empty unless it is right
  std::string log; ///< what the compiler says, line by line
};

class CudaCompiler {
public:
  virtual ~CudaCompiler() = default;
  /// "NVRTC 13.0": for messages.
  virtual std::string name() const = 0;
  /// Equal ones give equal code for equal sources: the version, and where it is.
  virtual std::string identity() const = 0;
  /// E0028 when it cannot be run at all.
  virtual Result<CompiledCuda> compile(const CudaSource &source) const = 0;
};

/// What NEREID_CUDA_COMPILER names, the file of a libnvrtc or of an nvcc; else the NVRTC that the
/// system or a toolkit has, which is quicker and needs no compiler for the host; else nvcc. E0028
/// when there is none, when the knob says "none" or names something else.
Result<std::shared_ptr<const CudaCompiler>> findCudaCompiler();

/// The words for both: the macros, then the flags.
std::vector<std::string> cudaOptions(const CudaSource &source);

/// Of a path without a folder it is ".".
std::string folderOfSource(const std::string &path);

} // namespace nereid::nvidia
