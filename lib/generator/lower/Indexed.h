// SPDX-License-Identifier: Apache-2.0
// Reads and writes at indices from tensors as lazy tensors (definition/operations/Indexing.h). A
// read composes: where a value was asked at an iterator, it is asked at an index from memory. A
// write has two forms:
//
//   in memory         a stage copies the table, the next one stores or adds at the indices, with
//                     atomics where values may meet; as long as there are points. Of floats the
//                     largest and smallest meet as integers (Types.h), which knows of NaN
//   by the elements   each element looks through all points for those that lead to it and joins
//                     them in one order: the same sum in every run, elements times points
#pragma once

#include "lib/definition/operations/indices/Indexing.h"
#include "lib/generator/lower/Lazy.h"

namespace nereid::generator {

struct IndexedOperands {
  definition::Indexing indexing;
  Lazy table;
  std::vector<Lazy> indices;        ///< of int32 or int64
  std::vector<bool> areNonNegative; ///< promised: none counts from the end
  Lazy values;                      ///< of a write
};

Lazy readIndexed(Program &program, const Tensors &make, const IndexedOperands &operands);

/// Whether values can be joined where they lie, in whatever order.
bool canMeetInMemory(const IndexedOperands &operands, bool isDeterministic);
/// The type in which they are: what has no atomics is joined in a wider one.
DType meetingType(definition::Meeting meeting, DType storage);
/// Maxima and minima of floats that are joined in float32: what meets in memory are the ordinals of
/// the values, of a minimum those of the negated ones.
bool meetAsOrdinals(const IndexedOperands &operands);
/// Table and values as ordinals of which the largest one counts; a table that is not included is
/// less than all.
IndexedOperands asOrdinals(Program &program, const Tensors &make, IndexedOperands operands);
/// The numbers of `met`, those of the table where nothing was met. `operands` as they were.
Lazy ofOrdinals(Program &program, const Tensors &make, const IndexedOperands &operands,
                const Lazy &met);
/// `results`: buffers of the table's shape that the stages fill, for a mean the sum and the count.
/// The table and the values have the first one's type.
void writeInMemory(Program &program, const Tensors &make, const IndexedOperands &operands,
                   const std::string &stage, const std::vector<BufferId> &results);
/// Table and values have the type in which they are joined.
Lazy writeByElements(Program &program, const Tensors &make, const IndexedOperands &operands);

} // namespace nereid::generator
