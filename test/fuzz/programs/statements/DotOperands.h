// SPDX-License-Identifier: Apache-2.0
// An operand of a product in a loop: how its elements lie in memory, how the address moves from one
// iteration to the next, what is masked, and through which reshapes the tile comes to the product.
#pragma once

#include "test/fuzz/programs/Writer.h"

namespace nereid::fuzz {

class DotOperand {
public:
  /// `rows` x `columns` as the product takes it; a left operand has k in its columns. The type is
  /// that of the elements which are multiplied, and `last` the largest number of an iteration.
  /// One that `standsAlone` is multiplied as it lies in memory.
  DotOperand(Writer &w, int64_t rows, int64_t columns, bool isLeft, const std::string &type,
             int64_t last, bool standsAlone);

  /// In front of the loop.
  void begin();
  /// At the top of the loop's body, `k` being its number: the operand's name.
  std::string load(const std::string &k);
  /// At the end of the body.
  void advance();

private:
  enum class Form : uint8_t {
    Plain,
    ColumnMajor,
    Transposed,
    Rank1,
    Rank3,
    Permuted,
    Joined,
    Split,
    Gathered,
    Wrapped
  };

  /// Loads a tile of this shape: address, mask and conversion.
  std::string tile(const Shape &shape, const std::string &k, bool isMaskable, int64_t more = 0);
  std::string mask(const Shape &shape, const std::string &k);
  std::string shaped(const std::string &k);
  std::string computed(const std::string &name, const std::string &k);
  std::string at(const Shape &shape);
  int64_t numberOfK() const { return isLeft ? columns : rows; }

  Writer &w;
  int64_t rows, columns;
  bool isLeft, standsAlone;
  std::string type, from, step, pointer, lines, carried;
  Form form = Form::Plain;
  Shape pointed; ///< shape of the carried pointers
  int64_t start = 0, padding = 0;
};

} // namespace nereid::fuzz
