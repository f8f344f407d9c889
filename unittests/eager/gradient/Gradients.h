// SPDX-License-Identifier: Apache-2.0
// Definitions of one body, and whether differences agree with their backward operators.
#pragma once

#include "unittests/eager/Values.h"

#include "lib/eager/gradient/GradientCheck.h"

namespace nereid::eager {

/// "x: N, M" for each tensor, "i: N < M" for indices; sizes are N = 3, M = 5, K = 4 unless told.
struct Definition {
  std::string body;
  std::vector<std::string> inputs;
  std::string shape; ///< of `out`: "N, M"
  std::string constraints;
  std::vector<std::string> by; ///< none: all tensors of floats
};

inline std::string shapeOf(const std::string &list) {
  std::string quoted, entry;
  for (const char c : list + ",") {
    if (c != ',') {
      entry += c == ' ' && entry.empty() ? "" : std::string(1, c);
      continue;
    }
    const bool isNumber =
        !entry.empty() && entry.find_first_not_of("0123456789") == std::string::npos;
    if (!entry.empty()) {
      quoted += (quoted.empty() ? "" : ", ") + (isNumber ? entry : "\"" + entry + "\"");
    }
    entry.clear();
  }
  return "[" + quoted + "]";
}

inline Operator operatorOf(const Definition &definition) {
  std::string text = "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n";
  text += definition.constraints.empty() ? "" : "constraints = [" + definition.constraints + "]\n";
  text += "body = \"\"\"\n" + definition.body + "\n\"\"\"\n";
  for (const std::string &input : definition.inputs) {
    const size_t colon = input.find(':'), less = input.find('<');
    text += "[inputs." + input.substr(0, colon) +
            "]\nshape = " + shapeOf(input.substr(colon + 1, less - colon - 1)) + "\n";
    if (less != std::string::npos) {
      text += "dtype = \"int64\"\nrange = " + input.substr(less + 1) + "\n";
    }
  }
  text += "[outputs.out]\nshape = " + shapeOf(definition.shape) + "\n[performance]\ncases = [{";
  const std::string separators[] = {"", ", "};
  bool isLater = false;
  for (const auto &[size, value] :
       std::map<std::string, std::string>{{"\"N\"", "N = 3"},
                                          {"\"M\"", "M = 5"},
                                          {"\"K\"", "K = 4"},
                                          {"\"...\"", "\"...\" = [2]"}}) {
    const std::string tables = text.substr(text.find("[inputs."));
    if (tables.find(size) != std::string::npos) {
      text += separators[isLater ? 1 : 0] + value;
      isLater = true;
    }
  }
  text += "}]\n";
  Diagnostics diags;
  auto op = definition::parseOperator("t.toml", text, diags);
  EXPECT_TRUE(op) << text << "\n" << diags.render();
  return op ? *op : Operator();
}

inline definition::Binding smallSizes() {
  definition::Binding binding;
  binding.symbols = {{"N", 3}, {"M", 5}, {"K", 4}};
  return binding;
}

/// Text of what is wrong with the gradient of the operator; "" = nothing.
inline std::string wrongIn(const Operator &op, const std::vector<std::string> &by = {},
                           const definition::Binding &binding = smallSizes()) {
  if (op.nodes.empty()) {
    return "not read";
  }
  auto backward = definition::backwardOf(op, by);
  if (!backward) {
    return render(backward.error());
  }
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    auto check = checkGradient(op, *backward, binding, seed, runtime::defaultPool());
    if (!check || !check->failure.empty() || check->compared == 0) {
      return (check ? check->failure : render(check.error())) + "\n" + backward->text;
    }
  }
  return "";
}
inline std::string wrongWith(const Definition &definition) {
  return wrongIn(operatorOf(definition), definition.by);
}

} // namespace nereid::eager
