// SPDX-License-Identifier: Apache-2.0
// `nereid ops`: the functions that bodies of definitions may use, and the operators that are
// defined, each with what can be made of it.
#pragma once

#include "lib/cli/Command.h"

#include <string>

namespace nereid::cli {

struct OperatorListOptions {
  std::string folder;  ///< of definitions; "" = those that ship with the program
  std::string results; ///< summary.json of a sweep; "" = the one in the default folder, if any
};

void listOperators(const OperatorListOptions &options, Session &session);

} // namespace nereid::cli
