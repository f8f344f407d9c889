// SPDX-License-Identifier: Apache-2.0
// Kernel, stride and padding that a text says, against those of a definition's pooling, windows or
// convolution: they are numbers of its body, each with its own meaning, so that having the number
// is not enough.
#pragma once

#include "lib/words/Facts.h"
#include "lib/words/Shipped.h"

namespace nereid::words {

/// Whether a word of a text means this argument: "stride", "kernel" of "kernel_size", the 长 of
/// 步长.
bool isArgumentCalled(const std::string &argument, const std::string &word);

/// Whether what the text says of windows ("2x2", "kernel 3", "stride 2", 步长2) is so in the
/// definition; true of a text that says nothing of them.
bool hasWindowsOf(const Shipped &shipped, const Facts &facts);

} // namespace nereid::words
