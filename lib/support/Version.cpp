// SPDX-License-Identifier: Apache-2.0
#include "lib/support/Version.h"

namespace nereid {

std::string versionText() { return NEREID_VERSION; }
std::string revisionText() { return NEREID_REVISION; }
std::string compilerText() { return "clang " __clang_version__ ", LLVM " NEREID_LLVM_VERSION; }
std::string flagsText() { return NEREID_FLAGS; }

} // namespace nereid
