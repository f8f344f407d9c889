// SPDX-License-Identifier: Apache-2.0
// Attention inside of more: what comes before it and what follows become stages of their own, so
// that what is left is a chain (Chain.h).
//
//   h = x @ w;  out = softmax(h[…] @ h[…].mT) @ h[…] @ u
//
//   stage 1:  saved[…] = x @ w, as queries, keys and values have it
//   stage 2:  saved_1[…] = softmax(…) @ …
//   stage 3:  out = saved_1 @ u
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

/// Asked of a normalised program, before its chains are recognised. Stages that are chains stay.
void cutOutChains(Program &program);

} // namespace nereid::generator
