// SPDX-License-Identifier: Apache-2.0
// The laws of index-space programs. Every pass keeps them; each check names its law, and
// unittests/generator/program/verify_test.cpp has a program that breaks it.
//
//   L1 closed     a) a store's value and guard depend on iterators of its index only (one that
//   accumulates
//                 has others too)  b) a node binds an iterator once; Scan and Order bind one
//                 c) positions belong to Scan, Order's Pick and Random, one each
//   L2 shape      a) Load, Ref and Store have an index for each dimension b) a buffer has as many
//   strides as
//                 sizes, and a view lies inside of its base
//   L3 validity   every index lies in [0, size), by bounds or by the conditions around the access
//   L4 one write  a) a store's index is injective, unless it accumulates or scatters through Data
//   b) two
//                 stores of a stage write different elements of a buffer, or both accumulate alike
//                 c) what accumulates is a monoid that may, see Monoids.h
//   L5 order      a) a stage that stores to a buffer reads it only where it stores  b) outputs and
//   temporaries
//                 are read after a stage has written them  c) inputs are not written
//   L6 types      see Types.h; loads have the type of their buffer, stores never turn floats into
//   integers L7 monoids    the one named exists and has as many components as inputs L8 empty
//   extents are not negative, and positive for monoids without result for nothing L9 size       no
//   coefficient, size or offset needs more than 63 bits, as far as numbers tell; what
//                 symbols decide, `checkSizes` asks when they are known
//   X3            divisors are positive, and what they divide is not negative
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

/// E0619 with the law and the place of the first breach.
Status verify(const Program &program);

/// E0619 when the values of the sizes (see Symbols::bind) do not fit, or a buffer has more bytes
/// than 63 bits can count.
Status checkSizes(const Program &program, const std::vector<int64_t> &values);

} // namespace nereid::generator
