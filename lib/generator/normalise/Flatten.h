// SPDX-License-Identifier: Apache-2.0
// Two dimensions of a buffer that lie one after another, accessed as one of a view:
// x[i, j] of x[N, M] is x_flat[M*i + j].
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

using IndexedBuffer = std::pair<BufferId, std::vector<Affine>>;

/// Two dimensions of an access become one: `outer`'s index times `inner`'s size and `inner`'s
/// index.
struct Flattening {
  size_t outer = 0, inner = 0;
};

/// Whether one step along `outer` is as many along `inner` as that one has.
bool areDense(const Buffer &buffer, const Flattening &dims);
/// The index of both.
Affine flatIndex(const Buffer &buffer, const std::vector<Affine> &indices, const Flattening &dims);
/// Every load, reference and store of the plan's accesses takes a view.
void flatten(Program &program, const std::map<IndexedBuffer, Flattening> &plan);
/// All loads, references and stores.
std::vector<IndexedBuffer> indexedBuffers(const Program &program);
/// Quotients and remainders, those inside of others included.
size_t divisionsIn(const Affine &index);

} // namespace nereid::generator
