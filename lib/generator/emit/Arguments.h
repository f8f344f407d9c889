// SPDX-License-Identifier: Apache-2.0
// What a launch passes to the kernel of a stage, collected while the kernel is written: memory,
// numbers of the operator, and sizes. A size is any polynomial in the program's symbols that the
// kernel reads, an extent, a stride or a coefficient; the launch computes it, so that no product of
// sizes is taken in a kernel's 32 bits. What is a number already when the kernel is made stays a
// number in its text.
#pragma once

#include "lib/generator/kernel/Names.h"
#include "lib/generator/kernel/Tree.h"
#include "lib/generator/program/Program.h"

#include <optional>
#include <set>

namespace nereid::generator {

struct StageArgument {
  enum class Kind : uint8_t { Memory, Number, Size };
  Kind kind = Kind::Size;
  std::string name;      ///< in the kernel
  BufferId buffer = 0;   ///< of Memory: no view
  std::string parameter; ///< of a Number: its name in the program
  DType dtype{};         ///< of Memory's elements or the Number
  Polynomial value;      ///< of a Size
};

class Arguments {
public:
  Arguments(const Program &program, std::string kernelName);

  /// The address of the buffer's first element; of a view, of its base's.
  kernel::Expr memory(BufferId buffer);
  kernel::Expr number(const Node &parameter);
  /// `hint` names it when the polynomial's own text is long.
  kernel::Expr size(const Polynomial &value, const std::string &hint);

  /// A name in the kernel for what the operator's body calls `written`; the program's sizes,
  /// numbers and inputs keep theirs. `otherwise` names what the body gives no name, or a
  /// function's.
  std::string freshFor(const std::string &written, const std::string &otherwise);

  /// Memory in the order of the program's buffers, then numbers and sizes as they were asked for.
  std::vector<StageArgument> take();

  kernel::Names names;
  const std::string kernelName; ///< of a module's other names, those that begin so are its own

private:
  const Program &program;
  std::map<BufferId, std::string> pointers; ///< names of all buffers', used or not
  std::map<BufferId, StageArgument> buffers;
  std::vector<StageArgument> numbers, sizes;
  std::optional<std::set<std::string>> kept; ///< the program's own names, once they are asked for
};

} // namespace nereid::generator
