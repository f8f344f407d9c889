// SPDX-License-Identifier: Apache-2.0
// Verification of a folder's cases: each launched on its own data, then every kind of other data on
// one of the cases of each kernel and type, and compared with the case's float64 reference.
#pragma once

#include "lib/bench/verification/Verification.h"
#include "lib/launch/KernelCases.h"
#include "lib/launch/PreparedKernel.h"

#include <string>
#include <vector>

namespace nereid::bench {

struct CaseRow : VerifiedCase {
  std::string kernel; ///< file and function, without the folder
  /// This process has lost the device while the case ran, or another one beside it: see
  /// launch/LostDevice.h.
  bool isDeviceLost = false;
};

struct CaseVerification {
  std::vector<CaseRow> rows; ///< `data` is "its own", or what took its place
  std::string kept;          ///< name of the row whose tensors are kept as files; "" = none
  bool isInterrupted = false;
  /// Why nothing goes on in this process, "" = it does; rows that are missing were not begun.
  std::string deviceLost;

  bool passed() const;
};

struct CaseVerificationOptions : VerificationOptions {
  launch::Execution execution = {};
};

/// `folder` is where the cases are, for messages. E0016 where none is for test, or the case asked
/// for is not among them; errors of kernels are in `diags`, the first is returned.
Result<CaseVerification> verifyCases(const std::string &folder,
                                     const std::vector<launch::KernelCase> &cases,
                                     const CaseVerificationOptions &options, Diagnostics &diags);

} // namespace nereid::bench
