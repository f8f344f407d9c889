// SPDX-License-Identifier: Apache-2.0
// The files of an operator as far as they launch something: `<op>_triton.py` with kernels and
// Python wrapper (writeTriton), `<op>_kernel.hpp` (writeKernelHeader). Both compute a launch by
// code that is made of its table's expressions.
#pragma once

#include "lib/generator/WrapperNames.h"
#include "lib/generator/kernel/Names.h"
#include "lib/generator/launch/Choices.h"
#include "lib/generator/launch/Spelling.h"
#include "lib/generator/programs/ProgramOperator.h"

namespace nereid::generator {

/// The program with its choices asked of what was found for the sizes, see launch/Choices.h.
ProgramOperator withTuning(ProgramOperator program);
/// The sizes that say which class of cases a call is of, in the order of its keys.
std::vector<std::string> classSizes(const ProgramOperator &program);

/// Variables of a wrapper beside those that its caller and the definition's sizes have.
class WrapperVariables {
public:
  WrapperVariables(const CalledOperator &called, const SizeNames &sizes,
                   ExpressionLanguage language);

  std::string fresh(const std::string &hint) { return names.fresh(hint); }
  /// The wrapper's for the table's names: its symbols at first.
  Spelling spelling;
  /// Product of the leading sizes, where the definition has "..."; else "".
  std::string rest;

private:
  kernel::Names names;
};

/// Of the devices that wrappers in Python launch on: what they have by the order of magnitude.
constexpr int64_t nominalProcessors = 132;
/// Rows that all tables of the program take with gaps between them alike.
std::vector<TableStride> sharedStrides(const ProgramOperator &program);
/// Whether a launch depends on what Table.h calls so.
bool usesName(const ProgramOperator &program, const std::string &name);
/// The operand that a table's buffer is; null for a workspace.
const Operand *operandOf(const CalledOperator &called, const std::string &buffer);
/// "block_x" of BLOCK_X.
std::string lowered(std::string name);

} // namespace nereid::generator
