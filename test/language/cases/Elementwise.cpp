// SPDX-License-Identifier: Apache-2.0
// Kernels around one expression of up to three operands.
#include "test/language/Case.h"

namespace nereid::conformance {

Cases elementwise(const std::string &builtin, const std::string &expression,
                  const std::vector<DType> &types, std::vector<Fill> fills,
                  std::function<Number(DType, const Number *)> reference, double ulps,
                  std::vector<DType> resultType, const std::string &title) {
  constexpr int64_t count = 37;
  const std::string names = "abc";
  Cases cases;
  for (bool isTile : {true, false}) {
    Case one;
    one.builtin = builtin;
    one.title = title + (title.empty() ? "" : " ") + (isTile ? "tile" : "scalar");
    one.types = types;
    one.ulps = ulps;
    std::string parameters, loads;
    for (size_t k = 0; k < fills.size(); ++k) {
      std::string name(1, names[k]), upper(1, static_cast<char>(names[k] - 'a' + 'A'));
      parameters += upper + ", ";
      loads +=
          "    " + name + " = tl.load(" + upper + (isTile ? " + i, mask=i < n, other=1)\n" : ")\n");
      one.tensors.push_back({upper, count, fills[k]});
    }
    one.tensors.push_back({"OUT", count + 3, Fill::Poison, resultType});
    one.source = "@triton.jit\ndef kernel(" + parameters + "OUT, n, BLOCK: tl.constexpr):\n" +
                 (isTile ? "    i = tl.arange(0, BLOCK)\n" : "") + loads + "    tl.store(OUT" +
                 (isTile ? " + i, " : ", ") + expression + (isTile ? ", mask=i < n)\n" : ")\n");
    one.integers = {{"n", count}};
    one.constants = "BLOCK=64";
    one.reference = [reference, isTile, arity = fills.size()](Run &run) {
      for (int64_t i = 0; i < (isTile ? count : 1); ++i) {
        Number operands[3] = {};
        for (size_t k = 0; k < arity; ++k) {
          operands[k] = run.in(std::string(1, static_cast<char>('A' + k)))[static_cast<size_t>(i)];
        }
        run.expect("OUT", i, reference(run.type, operands));
      }
    };
    cases.push_back(std::move(one));
  }
  return cases;
}

} // namespace nereid::conformance
