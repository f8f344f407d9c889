// SPDX-License-Identifier: Apache-2.0
#include "lib/words/made/Made.h"

#include <fmt/format.h>

namespace nereid::words {

namespace {

constexpr const char *rowCases = R"(  { name = "4096x1024", "..." = [4096], D = 1024 },
  { name = "odd 1023x1025", "..." = [1023], D = 1025 },
)";
constexpr const char *productCases = R"(  { name = "512x512x512", M = 512, K = 512, N = 512 },
  { name = "odd 127x65x129", M = 127, K = 65, N = 129 },
)";

std::string inputsText(const std::vector<MadeInput> &inputs) {
  std::string text;
  for (const MadeInput &one : inputs) {
    text += fmt::format("\n[inputs.{}]\n{}\ndescription = \"{}\"\n", one.name,
                        one.shape.empty() ? "value = " + one.value : "shape = " + one.shape,
                        one.description);
  }
  return text;
}

std::string textOf(const MadeParts &parts, const std::string &resultShape) {
  return fmt::format(
      R"(# SPDX-License-Identifier: Apache-2.0
[operator]
name = "{}"
summary = "{}"
constraints = [{}]
dtypes = ["float32", "float16", "bfloat16"]
body = """
{}"""
{}
[outputs.out]
shape = {}

[performance]
cases = [
{}]
)",
      parts.name, parts.summary, parts.isProduct ? R"("K >= 1", "N >= 1")" : R"("D >= 1")",
      parts.body, inputsText(parts.inputs), resultShape, parts.isProduct ? productCases : rowCases);
}

} // namespace

std::string rowsShape(bool isProduct) { return isProduct ? R"(["M", "N"])" : R"(["...", "D"])"; }

std::string rowShape(bool isProduct) { return isProduct ? R"(["N"])" : R"(["D"])"; }

std::optional<Shipped> madeDefinition(const MadeParts &parts) {
  const std::string rows = parts.isProduct ? "\"M\"" : "\"...\"";
  for (const std::string &shape :
       {rowsShape(parts.isProduct), "[" + rows + ", 1]", "[" + rows + "]", std::string("[]")}) {
    Shipped made;
    made.text = textOf(parts, shape);
    made.origin = parts.origin;
    made.body = parts.functions;
    Diagnostics diags;
    if (auto op = definition::parseOperator("made", made.text, diags)) {
      made.op = std::move(*op);
      readNumbers(made);
      return made;
    }
  }
  return std::nullopt;
}

} // namespace nereid::words
