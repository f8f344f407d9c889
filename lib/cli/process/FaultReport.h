// SPDX-License-Identifier: Apache-2.0
// Hardware faults as messages: a compiled kernel may be told to read where no tensor is, or to
// divide by zero, and the process cannot go on after it. Says so and ends with exit status 2; a
// fault outside of kernels is our own bug and ends with 70. Memory that ends where no exception can
// be handled is said in the same way (E0506).
#pragma once

#include <system_error>

namespace nereid::cli {

/// Installs the handlers; once, at the start of the program.
void reportFaults();

/// The system lacked memory, or room for a thread.
bool isNoMemory(const std::system_error &error);

} // namespace nereid::cli
