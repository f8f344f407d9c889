// SPDX-License-Identifier: Apache-2.0
// Work that calls itself once for each of the operations of a user's text, which nobody bounds: it
// gets a stack that ten thousands of them fit on.
#pragma once

#include <functional>

namespace nereid::generator {

/// Returns when `work` has: in a thread of its own with 1 GiB of stack, of which what is used takes
/// memory, or on the caller's stack where no thread can be had. `work` throws nothing.
void onDeepStack(const std::function<void()> &work);

} // namespace nereid::generator
