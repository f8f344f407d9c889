// SPDX-License-Identifier: Apache-2.0
// Options that LLVM has for the whole process alone, given to one emission: other targets of the
// same process see the values they find without it.
#pragma once

#include <span>

namespace nereid::codegen {

/// An option of LLVM's command line with an unsigned value, and the one it shall have.
struct LlvmOption {
  const char *name;
  unsigned value;
};

/// Holds the options at these values while it lives and then gives them back those they had. Scopes
/// of equal options hold at once; one of other options, or of none, waits until they have ended, in
/// the order in which they came. So whoever runs LLVM's code generator holds one, and never a
/// second one in the same thread.
class OptionScope {
public:
  /// A name that LLVM does not know, or of an option of another
  /// type, is a mistake in this program.
  explicit OptionScope(std::span<const LlvmOption> options);
  ~OptionScope();
  OptionScope(const OptionScope &) = delete;
  OptionScope &operator=(const OptionScope &) = delete;
};

} // namespace nereid::codegen
