// SPDX-License-Identifier: Apache-2.0
// The functions of the kernel language as a list, for `nereid ops`, docs and completion. No MLIR
// here, so that the command line may read it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nereid::language {

/// One row of the table of kernel-language functions, for documentation and completion.
struct BuiltinInfo {
  std::string name;          ///< as under `tl.`, e.g. "load"; "descriptor.load" is a method
  std::string params;        ///< "pointer, mask=None, other=None"
  std::string_view category; ///< "memory", "math", …
  bool isSupported = true;   ///< false: known upstream, refused with E0310
};

/// Every function the kernel language knows, supported or not, by category.
std::vector<BuiltinInfo> builtinTable();

} // namespace nereid::language
