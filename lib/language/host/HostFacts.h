// SPDX-License-Identifier: Apache-2.0
// What Python's libraries give a kernel's file when it is imported, as far as it is the same on
// every machine: math, versions, the platform, settings from the environment. A setting has its
// default here, and whatever asks about a device or another package has no value: it is open.
#pragma once

#include "lib/language/signature/ConstValue.h"

#include <optional>
#include <string_view>
#include <vector>

namespace nereid::language {

/// "math.pi", "sys.platform", "triton.__version__".
std::optional<ConstValue> hostConstant(std::string_view path);

/// "math.sqrt" of 2, "os.environ.get" of ("FAST", "0"). Nothing when the function is not known, its
/// result is open, or Python would raise.
std::optional<ConstValue> hostFunction(std::string_view path,
                                       const std::vector<ConstValue> &arguments);

/// A function of `math` that hostFunction evaluates.
bool isHostMath(std::string_view path);

/// A module that an import statement finds wherever kernels are compiled by upstream, although it
/// is not read here: Python's own, torch, numpy.
bool isInstalledModule(std::string_view name);

/// The release that the language follows.
inline constexpr const char *languageVersion = "3.7.0";

} // namespace nereid::language
