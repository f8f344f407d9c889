// SPDX-License-Identifier: Apache-2.0
// The launcher of a library as LLVM IR text: the table of runtime/aot/Table.h, the grid of each
// specialization (GridCode.h), and two functions, NAME and NAME_select, that put their arguments
// into slots and call the runtime; for devices also NAME_wait, and the code as data. Which
// instruction set and entry a call takes is a table that the runtime interprets, not code, and the
// text is LLVM IR, so that no C compiler makes a library.
#pragma once

#include "lib/aot/Interface.h"

#include <string>
#include <vector>

namespace nereid::aot {

struct LauncherVariant {
  std::string entry; ///< symbol of the code
  uint64_t scratchBytes = 0;
  bool isBlocking = false;
  bool takesRanges = false;
};

/// Code for a device, which the object carries as data: runtime/aot/DeviceTable.h.
struct DeviceCode {
  std::string entry; ///< the kernel's name in the code
  std::vector<uint8_t> portable, native;
  uint64_t threads = 0, blocks = 1, memoryBytes = 0;
  bool waits = false; ///< as KernelInfo::waits
};

struct LauncherContent {
  std::string name, kernel;
  const Interface &interface;
  std::vector<std::string> grids; ///< by specialization, see GridCode.h; none: the caller gives it
  std::vector<std::vector<LauncherVariant>> variants;       ///< by specialization and target
  std::vector<std::pair<std::string, std::string>> targets; ///< name and features
  std::string deviceRuntime = {}; ///< whose functions launch it; empty: the host runs the code
  std::vector<std::vector<DeviceCode>> deviceVariants = {}; ///< in the place of `variants`
};

std::string launcherText(const LauncherContent &content);

} // namespace nereid::aot
