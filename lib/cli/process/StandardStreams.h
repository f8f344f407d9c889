// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error as a command may find them: closed, full, or with nobody at
// the other end. What cannot be printed there never decides what becomes of the work.
#pragma once

#include <string_view>

namespace nereid::cli {

/// Before anything else. A closed stream's number is taken, so that no file which is opened later
/// gets what is printed; a reader that has gone is an error of writing and no signal.
void prepareStandardStreams();

/// To standard error, or nowhere.
void printError(std::string_view text);

} // namespace nereid::cli
