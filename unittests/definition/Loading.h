// SPDX-License-Identifier: Apache-2.0
// Makes definitions from a body for the tests of this folder.
#pragma once

#include "lib/definition/Graph.h"

#include <gtest/gtest.h>

namespace nereid::definition {

struct Loaded {
  std::optional<Operator> op;
  Diagnostics diags;
  /// Code of the first error, or "".
  std::string code() const { return diags.all().empty() ? "" : diags.all()[0].code; }
  const Diagnostic &first() const { return diags.all().at(0); }
};

inline Loaded load(const std::string &text) {
  Loaded loaded;
  loaded.op = parseOperator("test.toml", text, loaded.diags);
  return loaded;
}

/// x: [..., D], y: [D], s = 2.5; out as given.
inline std::string withBody(const std::string &body, const std::string &outShape = "\"...\", \"D\"",
                            const std::string &outMore = "") {
  return "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\", \"float16\"]\n"
         "body = \"\"\"\n" +
         body +
         "\n\"\"\"\n[inputs.x]\nshape = [\"...\", \"D\"]\n[inputs.y]\nshape = [\"D\"]\n"
         "[inputs.s]\nvalue = 2.5\n[outputs.out]\nshape = [" +
         outShape + "]\n" + outMore + "\n[performance]\ncases = [{ \"...\" = [2, 3], D = 4 }]\n";
}

} // namespace nereid::definition
