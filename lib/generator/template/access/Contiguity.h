// SPDX-License-Identifier: Apache-2.0
// Along which iterators a stage's memory lies contiguous: what templates choose tiles by.
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

struct Access {
  const Buffer *buffer = nullptr;
  const std::vector<Affine> *index = nullptr;
  int64_t weight = 0; ///< bytes of an element; of a store twice as many
};

std::vector<Access> accessesOf(const Program &program, const std::vector<Store> &stores);

/// How far the access steps along each of its iterators, where that is always as far.
std::map<IteratorId, Polynomial> stepsOf(const Access &access);

/// The iterator of `among` along which most bytes are contiguous, of those that accesses step along
/// `also`. Accesses of more iterators decide alone: a value for each channel is little beside one
/// for each pixel of it. The later one of equals, which lies further inside of the result. None
/// without a vote.
std::optional<IteratorId> mostContiguous(const Program &program,
                                         const std::vector<Access> &accesses,
                                         const std::vector<IteratorId> &among,
                                         std::optional<IteratorId> also);

/// The stores' iterators, in the order in which the first one's index names them.
std::vector<IteratorId> orderOf(const Program &program, const std::vector<Store> &stores);
/// Some of them in that order, so that neighbours in memory are neighbours in a tile.
std::vector<IteratorId> inOrder(const std::vector<IteratorId> &order,
                                const std::vector<IteratorId> &some);

} // namespace nereid::generator
