// SPDX-License-Identifier: Apache-2.0
// `<op>_baseline.cpp`: the definition's graph one operation after another, as an eager framework
// runs it.
#include "lib/generator/CompanionWriter.h"

#include "lib/definition/operations/SizeExpression.h"
#include "lib/generator/SizeText.h"
#include "lib/generator/cpp/EagerCalls.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

class BaselineWriter {
public:
  explicit BaselineWriter(const CalledOperator &called)
      : called(called), op(called.op), sizes(called) {}

  std::string run() {
    text = cppHead(called, "the unfused baseline, operation by operation.");
    text += R"(
#include <nereid/nereid.hpp>

)";
    const bool hasSizes = std::any_of(op.nodes.begin(), op.nodes.end(), definition::isSize);
    text += hasSizes ? "#include <cmath>\n" : "";
    text += R"(#include <cstdio>
#include <exception>
#include <limits>
#include <tuple>
#include <vector>

namespace {

using nereid::joined;
using nereid::Sizes;

} // namespace

namespace baseline {

)";
    text += packed(fmt::format("{} {}(", cppResult(called), op.name), cppParameters(called, false),
                   ") {\n");
    text += cppSizes(called, sizes, "  ");
    text += eagerCalls(called, sizes);
    text += "}\n\n} // namespace baseline\n";
    mainFunction();
    return text;
  }

private:
  std::string smallShape(const definition::SymbolicShape &shape) const {
    std::string list;
    for (const definition::Dim &dim : shape) {
      list += (list.empty() ? "" : ", ") + (dim.isRest()         ? "2, 3"
                                            : dim.symbol.empty() ? std::to_string(dim.constant)
                                                                 : "4");
    }
    return "{" + list + "}";
  }

  void mainFunction() {
    text += "\n#ifndef WITHOUT_MAIN\nint main() {\n  try {\n";
    std::string call;
    int seed = 1;
    DType type = op.dtypes.empty() ? DType::F32 : op.dtypes.front();
    for (const CallParameter &parameter : callParameters(called)) {
      call += call.empty() ? "" : ", ";
      if (parameter.operand < 0) {
        call += parameter.isWhole() ? std::to_string(static_cast<int64_t>(parameter.value))
                                    : cppNumber(parameter.value);
        continue;
      }
      call += parameter.name;
      const Operand &operand = called.operands[static_cast<size_t>(parameter.operand)];
      DType own = operand.fixedDtype.value_or(type);
      text += fmt::format("    const nereid::Tensor {} = nereid::Tensor::empty({}, {});\n",
                          parameter.name, smallShape(operand.shape), cppType(own));
      text += isFloat(own)
                  ? fmt::format("    {}.fillUniform({}, 0.5, 2.0);\n", parameter.name, seed++)
                  : fmt::format("    {}.fillIntegers({}, 0, {});\n", parameter.name, seed++,
                                op.parameters[static_cast<size_t>(operand.index)].range ? 1 : 2);
    }
    text += fmt::format("    const auto result = baseline::{}({});\n", op.name, call);
    text += op.outputs.size() == 1 ? "    const nereid::Tensor &first = result;\n"
                                   : "    const nereid::Tensor &first = std::get<0>(result);\n";
    text += fmt::format(R"(    std::printf("{}: %lld elements, the first is %g\n",
                static_cast<long long>(first.elementCount()), first.at(0));
    return 0;
  }} catch (const std::exception &problem) {{
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }}
}}
#endif
)",
                        op.name);
  }

  const CalledOperator &called;
  const definition::Operator &op;
  SizeNames sizes;
  std::string text;
};

} // namespace

std::string writeBaseline(const Generation &generation) {
  return BaselineWriter(generation.called()).run();
}

} // namespace nereid::generator
