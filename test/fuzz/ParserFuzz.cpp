// SPDX-License-Identifier: Apache-2.0
// The parsers under libFuzzer: whatever the bytes, they return. The first byte chooses what the
// rest is: a file of kernels, the body of a definition, an expression, or a signature for the
// first kernel of a fixed file. Built by the preset `fuzz`, run by `./dev fuzz`.
#include "lib/language/signature/Signature.h"
#include "lib/language/syntax/Parser.h"
#include "lib/support/Diagnostics.h"

#include <cstdint>
#include <string>

using namespace nereid;

namespace {

const language::FunctionDef &kernel() {
  static Diagnostics diags;
  static const auto module = language::parseModule(
      "k.py", "@triton.jit\ndef k(x_ptr, n, scale, BLOCK: tl.constexpr = 16):\n    pass\n", diags);
  return *module->find("k");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) {
    return 0;
  }
  std::string text(reinterpret_cast<const char *>(data) + 1, size - 1);
  Diagnostics diags;
  switch (data[0] % 8) {
  case 0:
    (void)language::parseStatements("body.py", text, diags);
    break;
  case 1:
    (void)language::parseExpression("grid", text, diags);
    break;
  case 2:
    (void)language::parseSignature(text, kernel());
    return 0;
  default:
    (void)language::parseModule("kernel.py", text, diags);
  }
  (void)diags.render();
  return 0;
}
