// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/python/WrapperText.h"

#include "lib/generator/ConstraintText.h"
#include "lib/generator/InputChecks.h"
#include "lib/generator/KernelExpression.h"
#include "lib/generator/kernel/Printer.h"

#include <fmt/format.h>

namespace nereid::generator {
namespace {

constexpr size_t lineLength = 100;

/// Text that stays text between three quotes.
std::string quoted(const std::string &content) {
  std::string result;
  for (char one : content) {
    result += one == '"' || one == '\\' ? std::string("\\") + one : std::string(1, one);
  }
  return result;
}

std::string brokenList(std::string list) {
  for (size_t at = 0; (at = list.find(", ", at)) != std::string::npos;) {
    list.replace(at, 2, ",\n    ");
  }
  return list;
}

/// The Python spelling of the types that a check allows.
std::string typeTuple(const InputCheck &check) {
  std::string types = check.sameAs.empty() ? "" : check.sameAs + ".dtype";
  for (DType type : check.types) {
    types += (types.empty() ? "" : ", ") + torchType(type);
  }
  return "(" + types + (check.types.size() > 1 ? ")" : ",)");
}

std::string checkLine(const InputCheck &check, const SizeNames &names) {
  const std::string &name = check.operand ? check.operand->name : check.number;
  switch (check.kind) {
  case InputCheck::Kind::Whole:
    return fmt::format("assert isinstance({0}, int), \"{0} is an integer\"", name);
  case InputCheck::Kind::Rank:
    return fmt::format("assert {}.dim() {} {}, \"{} has {}{} dimension{}\"", name,
                       check.isAtLeast ? ">=" : "==", check.count, name,
                       check.isAtLeast ? "at least " : "", check.count,
                       check.count == 1 ? "" : "s");
  case InputCheck::Kind::Size:
    return fmt::format("{} = ", check.step->variable) +
           (check.step->isRest
                ? fmt::format("tuple({0}.shape[:{0}.dim() - {1}])", name, check.step->fromEnd)
                : fmt::format("{}.shape[-{}]", name, check.step->fromEnd));
  case InputCheck::Kind::Type:
    return fmt::format("_check(\"{0}\", {0}, {1}, {2})", name,
                       shapeTuple(check.operand->shape, names), typeTuple(check));
  case InputCheck::Kind::Shape:
    break; // together with the type
  }
  return "";
}

} // namespace

std::string torchType(DType type) { return fmt::format("torch.{}", torchName(type)); }

std::string pythonNumber(double value) { return kernel::text(kernel::real(value)); }

std::string shapeTuple(const definition::SymbolicShape &shape, const SizeNames &names) {
  std::string tuple;
  for (const definition::Dim &dim : shape) {
    tuple += (dim.isRest() ? "*" : "") + names.variable(dim) + ", ";
  }
  if (shape.size() > 1) {
    tuple.resize(tuple.size() - 2);
  } else if (!tuple.empty()) {
    tuple.pop_back();
  }
  return "(" + tuple + ")";
}

std::string leadTensor(const CalledOperator &called) {
  const std::string lead = leadInput(called);
  return lead.empty() ? called.operands[0].name : lead;
}

bool takesDevice(const CalledOperator &called) {
  return std::none_of(called.operands.begin(), called.operands.end(),
                      [](const Operand &operand) { return !operand.isOutput; });
}

std::string leadDevice(const CalledOperator &called) {
  return takesDevice(called) ? "device" : leadTensor(called) + ".device";
}

std::string leadDtype(const CalledOperator &called) {
  return takesDevice(called) ? torchType(called.op.dtypes.front()) : leadTensor(called) + ".dtype";
}

std::string fileHead(const CalledOperator &called, const std::string &what) {
  const bool isLong = called.op.name.size() + called.op.summary.size() > 90;
  std::string text = fmt::format("\"\"\"{}{}{}\n\n", called.op.name,
                                 called.op.summary.empty() ? ""
                                 : isLong                  ? ".\n\n"
                                                           : ": ",
                                 quoted(called.op.summary));
  for (const std::string &line : bodyLines(called.op)) {
    text += "    " + quoted(line) + "\n";
  }
  return text + "\n" + what + "\"\"\"\n";
}

std::string functionHead(const CalledOperator &called, const std::string &keywords) {
  std::string list;
  for (const CallParameter &parameter : callParameters(called)) {
    list += list.empty() ? "" : ", ";
    list += parameter.operand >= 0 ? parameter.name + ": torch.Tensor"
            : parameter.isWhole()
                ? fmt::format("{}: int = {}", parameter.name, static_cast<int64_t>(parameter.value))
                : fmt::format("{}: float = {}", parameter.name, pythonNumber(parameter.value));
  }
  list += takesDevice(called) ? ", device=\"cuda\"" : "";
  list += keywords;
  const size_t count = called.op.outputs.size();
  std::string results = count == 1 ? "torch.Tensor" : "tuple[";
  for (size_t i = 0; count > 1 && i < count; ++i) {
    results += i ? ", torch.Tensor" : "torch.Tensor";
  }
  results += count > 1 ? "]" : "";
  std::string whole = fmt::format("def {}({}) -> {}:\n", called.op.name, list, results);
  return whole.size() <= lineLength ? whole
                                    : fmt::format("def {}(\n    {},\n) -> {}:\n", called.op.name,
                                                  brokenList(list), results);
}

std::string shapesText(const CalledOperator &called) {
  std::string shapes;
  for (const Operand &operand : called.operands) {
    shapes += fmt::format("{}{} {}",
                          shapes.empty()     ? ""
                          : operand.isOutput ? " -> "
                                             : ", ",
                          operand.name, definition::text(operand.shape));
    const bool isInput = !operand.isOutput && operand.index >= 0;
    const auto &range =
        called.op.parameters[isInput ? static_cast<size_t>(operand.index) : 0].range;
    if (isInput && range) { // which no call looks at
      shapes += fmt::format(" of values in [{}, {})", range->low, range->high);
    }
  }
  return shapes;
}

std::string argumentNames(const CalledOperator &called) {
  std::string list;
  for (const CallParameter &parameter : callParameters(called)) {
    list += (list.empty() ? "" : ", ") + parameter.name;
  }
  return list;
}

std::string checkFunctions() {
  return R"(# Where calls are taken; PyTorch says "cuda" for AMD's devices as well.
DEVICES = ("cuda",)


def _check(name, tensor, shape, dtypes):
    assert tuple(tensor.shape) == shape, f"{name} expects {shape}, got {tuple(tensor.shape)}"
    assert tensor.dtype in dtypes, f"{name} cannot have type {tensor.dtype}"


)";
}

std::vector<std::string> callChecks(const CalledOperator &called, const SizeNames &names) {
  std::vector<std::string> lines;
  for (const InputCheck &check : inputChecks(called, names)) {
    if (std::string line = checkLine(check, names); !line.empty()) {
      lines.push_back(std::move(line));
    }
  }
  for (std::string &line : pythonConstraints(called, names)) {
    lines.push_back(std::move(line));
  }
  const std::string lead = leadTensor(called);
  if (takesDevice(called)) {
    lines.push_back("assert torch.device(device).type in DEVICES, f\"expects one of {DEVICES}, got "
                    "{device}\"");
    return lines;
  }
  lines.push_back(fmt::format(
      "assert {0}.device.type in DEVICES, f\"{0} expects one of {{DEVICES}}, got {{{0}.device}}\"",
      lead));
  for (const Operand &operand : called.operands) {
    if (!operand.isOutput && operand.name != lead) {
      lines.push_back(fmt::format("assert {0}.device == {1}.device, f\"{0} expects "
                                  "{{{1}.device}}, got {{{0}.device}}\"",
                                  operand.name, lead));
    }
  }
  return lines;
}

} // namespace nereid::generator
