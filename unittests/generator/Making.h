// SPDX-License-Identifier: Apache-2.0
// Operators for the tests of this folder: from TOML text or from the shipped definitions.
#pragma once

#include "lib/generator/Generator.h"
#include "unittests/ShippedOperators.h"

#include <gtest/gtest.h>

namespace nereid::generator {

inline definition::Operator parsed(const std::string &text) {
  Diagnostics diags;
  auto op = definition::parseOperator("test.toml", text, diags);
  EXPECT_TRUE(op.has_value()) << diags.render();
  return op.value_or(definition::Operator{});
}

/// inputs: lines such as "[inputs.x]\nshape = [\"...\", \"D\"]".
inline definition::Operator made(const std::string &body, const std::string &inputs,
                                 const std::string &outShape,
                                 const std::string &dtypes = "\"float32\", \"float16\"",
                                 const std::string &outDtype = "") {
  // One small case that binds every symbol the inputs use.
  std::string sizes = inputs.find("...") != std::string::npos ? "\"...\" = [2, 3]" : "";
  for (char symbol = 'A'; symbol <= 'Z'; ++symbol) {
    if (inputs.find(std::string("\"") + symbol + "\"") != std::string::npos) {
      sizes += std::string(sizes.empty() ? "" : ", ") + symbol + " = 4";
    }
  }
  return parsed("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [" + dtypes +
                "]\nbody = \"\"\"\n" + body + "\n\"\"\"\n" + inputs + "\n[outputs.out]\nshape = [" +
                outShape + "]\n" + (outDtype.empty() ? "" : "dtype = \"" + outDtype + "\"\n") +
                "[performance]\ncases = [{ " + sizes + " }]\n");
}

inline definition::Operator shipped(const std::string &name) {
  Diagnostics diags;
  auto op = definition::loadOperator(shippedPath(name), diags);
  EXPECT_TRUE(op.has_value()) << diags.render();
  return op.value_or(definition::Operator{});
}

inline Machine testChip() {
  Machine chip = genericMachine();
  chip.name = "test";
  chip.cores = 4;
  return chip;
}

inline Generation kernelsOf(const definition::Operator &op) {
  auto made = generateKernels(op);
  EXPECT_TRUE(bool(made)) << (made ? "" : render(made.error()));
  return made ? std::move(*made) : Generation{};
}

constexpr const char *inputXY = "[inputs.x]\nshape = [\"...\", \"D\"]\n"
                                "[inputs.y]\nshape = [\"D\"]\n";

} // namespace nereid::generator
