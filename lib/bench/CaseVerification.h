// SPDX-License-Identifier: Apache-2.0
// Verification of a folder's cases: each launched on its own data, then every kind of other data on
// one of the cases of each kernel and type, and compared with the case's float64 reference.
#pragma once

#include "lib/launch/KernelCases.h"
#include "lib/launch/PreparedKernel.h"

#include <string>
#include <vector>

namespace nereid::bench {

/// One way of trying a case, and what came of it.
struct CaseRow {
  std::string caseName, kernel; ///< kernel: file and function, without the folder
  std::string data;             ///< "its own", or what took its place
  double unverifiable = 0;      ///< share of the elements
  std::string failure;          ///< "" when it passed
};

struct CaseVerification {
  std::vector<CaseRow> rows;
  std::string kept; ///< name of the row whose tensors are kept as files; "" = none
  bool isInterrupted = false;

  bool passed() const;
};

struct CaseVerificationOptions {
  launch::Execution execution;
  uint64_t seed = 0;         ///< of the data that cases are tried on besides their own
  std::string onlyCase = {}; ///< "" = all that are for test
  /// Folder for the first case that fails; one that is chosen by name is kept if it passes, too.
  std::string keepIn = {};
  /// Words of a command line that verifies the same cases; what names one case is added to it.
  std::vector<std::string> command = {};
};

/// `folder` is where the cases are, for messages. E0016 where none is for test, or the case asked
/// for is not among them; errors of kernels are in `diags`, the first is returned.
Result<CaseVerification> verifyCases(const std::string &folder,
                                     const std::vector<launch::KernelCase> &cases,
                                     const CaseVerificationOptions &options, Diagnostics &diags);

} // namespace nereid::bench
