// SPDX-License-Identifier: Apache-2.0
// `<op>_kernel.hpp` but for the launches: head, class Launch up to its arguments, and the function
// that makes results and launches.
#pragma once

#include "lib/generator/CompanionWriter.h"

namespace nereid::generator {

class LauncherText {
public:
  explicit LauncherText(const CalledOperator &called) : called(called), names(called) {}

protected:
  /// Up to the end of class Launch, with `members` beside its constructor.
  void beginning(const std::string &members);
  /// Of Launch's constructor, up to the way out for a call that computes nothing.
  void launchBeginning();
  /// The function that makes results and launches; `shortcut` stands between.
  void wrapper(const std::string &shortcut = "");

  void line(const std::string &content) { text += "  " + content + "\n"; }
  std::string leadName() const; ///< the input whose type is the operator's

  const CalledOperator &called;
  SizeNames names;
  std::string text;

private:
  std::vector<std::string> launchParameters() const;
  std::string typeOf(const Operand &operand) const;
};

} // namespace nereid::generator
