// SPDX-License-Identifier: Apache-2.0
// Trying an instruction that the system may have announced and the processor still refuse: an
// emulator, a hypervisor or a process without the right to its registers. Shared by both runtimes;
// no C++ library.
#pragma once

namespace nereid::runtime {

/// Calls attempt(context); false when the processor refused an instruction of it, and then it did
/// not go on behind that. Other threads' illegal instructions stay what they were. One thread at a
/// time tries, the others wait.
bool isExecuted(void (*attempt)(void *context), void *context);

} // namespace nereid::runtime
