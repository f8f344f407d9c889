// SPDX-License-Identifier: Apache-2.0
// The C++ files beside `<op>_triton.py`: they use include/nereid/ only and build against
// the installed library. Same function name and parameters in all of them:
//   <op>_kernel.hpp       triton::<op>(…), the Python wrapper's twin, and triton::Launch
//   <op>_baseline.cpp     baseline::<op>(…), operation by operation, and a main
//   <op>_accuracy.cpp     both against each other on the case grid; exit 1 on a mismatch
//   <op>_performance.cpp  accuracy, then both interleaved on the clock
#pragma once

#include "lib/generator/Generator.h"
#include "lib/generator/SourceLayout.h"
#include "lib/generator/WrapperNames.h"

namespace nereid::generator {

std::string writeKernelHeader(const Generation &generation);
std::string writeBaseline(const Generation &generation);
std::string writeAccuracy(const Generation &generation);
std::string writePerformance(const Generation &generation);
std::string writeBuildFile(const Generation &generation);

/// "const nereid::Tensor &x", "double eps = 1e-05"; defaults only in declarations.
std::vector<std::string> cppParameters(const CalledOperator &called, bool hasDefaults);
/// "nereid::Tensor", or a tuple of them.
std::string cppResult(const CalledOperator &called);
/// Head comment of a generated file.
std::string cppHead(const CalledOperator &called, const std::string &what);
/// "nereid::DType::F32".
std::string cppType(DType type);
/// A double literal that reads back exactly; infinities and NaN through <limits>.
std::string cppNumber(double value);
/// Variables for every symbol, declared from the tensors, the checks of shapes and types
/// (InputChecks.h) and constraints. Needs `Sizes` and `joined` of nereid.hpp by these names.
std::string cppSizes(const CalledOperator &called, const SizeNames &names, const std::string &pad);
/// "shapeOf(leading, {D})" of an operand.
/// A computed size in C++: what is divided is not negative, so that both languages agree.
std::string cppDivisions(std::string text);
std::string cppShape(const definition::SymbolicShape &shape, const SizeNames &names);

} // namespace nereid::generator
