// SPDX-License-Identifier: Apache-2.0
// What the Python files of an operator share: the head of its function, the checks that a call must
// pass, shapes and types in PyTorch's words.
#pragma once

#include "lib/generator/WrapperNames.h"

#include <string>
#include <vector>

namespace nereid::generator {

/// "torch.float32".
std::string torchType(DType type);
/// A number as Python reads it back.
std::string pythonNumber(double value);
/// "(*leading, D)" over the variables of `names`.
std::string shapeTuple(const definition::SymbolicShape &shape, const SizeNames &names);
/// The input whose type and device results have.
std::string leadTensor(const CalledOperator &called);
/// No argument is a tensor: the function has an argument `device`.
bool takesDevice(const CalledOperator &called);
/// "x.device", or "device"; "x.dtype", or the only type.
std::string leadDevice(const CalledOperator &called);
std::string leadDtype(const CalledOperator &called);

/// The file's text between three quotes: name, summary, the definition's body and what the file is.
std::string fileHead(const CalledOperator &called, const std::string &what);
/// "def softmax(x: torch.Tensor) -> torch.Tensor:" and the end of its line; `results`: keywords
/// behind its parameters, see ResultText.h.
std::string functionHead(const CalledOperator &called, const std::string &results = "");
/// "x [..., D], bias [D] -> out [..., D]".
std::string shapesText(const CalledOperator &called);
/// "x, bias, eps": a call's arguments.
std::string argumentNames(const CalledOperator &called);

/// DEVICES and `_check`, which the lines of callChecks() use.
std::string checkFunctions();
/// Lines without indentation; they bind the variables of `names` on the way.
std::vector<std::string> callChecks(const CalledOperator &called, const SizeNames &names);

} // namespace nereid::generator
