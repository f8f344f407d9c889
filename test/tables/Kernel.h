// SPDX-License-Identifier: Apache-2.0
// Many expressions over the same operands as one kernel, run on an engine and compared with what
// the tables say, bit for bit, result types included.
#pragma once

#include "test/language/engines/Engine.h"
#include "test/tables/Scalar.h"

namespace nereid::tables {

/// An operand: a row of values, a tile of which each program loads; or one value that holds for
/// the program's whole tile.
struct Operand {
  std::string name;
  DType type;
  std::vector<Scalar> rows;
  bool isScalar = false;
};

struct Column {
  std::string expression; ///< over the operands' names
  DType type;
  /// One per row; nothing where the language leaves the result open.
  std::vector<std::optional<Scalar>> expected;
};

/// Elements of one program's tile.
inline constexpr size_t tileSize = 16;

/// A file of one kernel with this body, and of a function `larger` that passes NaN on.
std::string kernelText(const std::string &parameters, const std::string &body);
/// Empty, or the first differences in words. Rows are a multiple of tileSize.
std::string runColumns(conformance::Engine &engine, const std::vector<Operand> &operands,
                       const std::vector<Column> &columns);
/// Empty, or the expressions that the front end does not refuse although they should be.
std::string runRefused(const std::vector<Operand> &operands,
                       const std::vector<std::string> &expressions);

/// The engines of this run: the interpreter and the CPU, unless --engines says otherwise.
std::vector<std::unique_ptr<conformance::Engine>> &engines();

/// Rows of all pairs of two lists, `a` running fast, filled up to whole tiles: each `b` stands in
/// rows of its own.
void addPairs(const std::vector<Scalar> &a, const std::vector<Scalar> &b,
              std::vector<Scalar> &rowsA, std::vector<Scalar> &rowsB);
/// The list again and again up to a whole tile.
std::vector<Scalar> filled(std::vector<Scalar> values);

} // namespace nereid::tables
