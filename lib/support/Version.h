// SPDX-License-Identifier: Apache-2.0
// Which program this is: for --version, result files and cache keys.
#pragma once

#include <string>

namespace nereid {

std::string versionText();  ///< "0.1.0"
std::string revisionText(); ///< short git revision at configure time, or "unknown"
std::string compilerText(); ///< the C++ compiler this was built with, and LLVM's version
std::string flagsText();    ///< of that compiler: "-O2 -DNDEBUG …"

} // namespace nereid
