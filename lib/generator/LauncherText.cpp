// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/LauncherText.h"

#include "lib/generator/InputChecks.h"

#include <fmt/format.h>

namespace nereid::generator {

void LauncherText::beginning(const std::string &members) {
  text = cppHead(called, "launches the kernels of " + called.op.name + "_triton.py from C++.");
  text += R"(
#pragma once

#include <nereid/operator.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

#ifndef OPERATOR_FOLDER
#define OPERATOR_FOLDER "."
#endif

using nereid::joined;
using nereid::Sizes;

namespace triton {

/// One launch made ready: run() as often as wanted while the tensors live.
class Launch : public nereid::OperatorLaunch {
public:
)";
  text += packed("  Launch(", launchParameters(), ");\n");
  text += members + "};\n\n";
}

std::vector<std::string> LauncherText::launchParameters() const {
  std::vector<std::string> list = cppParameters(called, false);
  for (const Operand &operand : called.operands) {
    if (operand.isOutput && operand.memory.empty()) {
      list.push_back("const nereid::Tensor &" + operand.name);
    }
  }
  return list;
}

std::string LauncherText::leadName() const {
  const std::string lead = leadInput(called);
  return lead.empty() ? called.operands.front().name : lead;
}

std::string LauncherText::typeOf(const Operand &operand) const {
  return operand.fixedDtype                 ? cppType(*operand.fixedDtype)
         : called.operands.front().isOutput ? cppType(called.op.dtypes.front())
                                            : leadName() + ".dtype()";
}

void LauncherText::launchBeginning() {
  text += packed("inline Launch::Launch(", launchParameters(), ") {\n");
  text += cppSizes(called, names, "  ");
  std::vector<std::string> isEmpty, written;
  for (const Operand &operand : called.operands) {
    if (operand.isOutput && !operand.memory.empty()) {
      line(fmt::format("expectContiguous(\"{0}\", {0});", operand.memory));
      for (const std::string &other : written) {
        text += packed("  expectApart(",
                       {fmt::format("\"{}\"", operand.memory), operand.memory,
                        fmt::format("\"{}\"", other), other},
                       ");\n");
      }
      written.push_back(operand.memory);
      isEmpty.push_back(operand.memory + ".elementCount() == 0");
    } else if (operand.isOutput) {
      line(fmt::format("expectShape(\"{}\", {}, {});", operand.name, operand.name,
                       cppShape(operand.shape, names)));
      line(fmt::format("expectType(\"{}\", {}, {{{}}});", operand.name, operand.name,
                       typeOf(operand)));
      isEmpty.push_back(operand.name + ".elementCount() == 0");
    }
  }
  text += packed("  if (", isEmpty, ") {\n", " &&");
  line("  return;");
  line("}");
}

void LauncherText::wrapper(const std::string &shortcut) {
  text += packed(fmt::format("inline {} {}(", cppResult(called), called.op.name),
                 cppParameters(called, true), ") {\n");
  text += cppSizes(called, names, "  ");
  std::vector<std::string> call;
  std::string list;
  for (const CallParameter &parameter : callParameters(called)) {
    call.push_back(parameter.name);
  }
  for (const Operand &operand : called.operands) {
    if (operand.isOutput && !operand.memory.empty()) {
      list += (list.empty() ? "" : ", ") + operand.memory;
    } else if (operand.isOutput) {
      std::vector<std::string> made = {cppShape(operand.shape, names), typeOf(operand)};
      const bool isFirst = called.operands.front().isOutput && list.empty();
      if (!isFirst) { // where no tensor is given, the first result decides
        made.push_back(leadName() + ".device()");
      }
      text +=
          packed(fmt::format("  const nereid::Tensor {} = nereid::Tensor::empty(", operand.name),
                 made, ");\n");
      list += (list.empty() ? "" : ", ") + operand.name;
      call.push_back(operand.name);
    }
  }
  text += shortcut + packed("  Launch(", call, ").run();\n");
  line(called.op.outputs.size() == 1 ? "return " + list + ";" : "return {" + list + "};");
  text += "}\n\n";
}

} // namespace nereid::generator
