// SPDX-License-Identifier: Apache-2.0
// tl.dot_scaled in every format against plain loops over decoded numbers. The data are such that
// sums stay exact in float32.
#include "test/language/Case.h"

#include <cmath>

namespace nereid::conformance {
namespace {

constexpr int64_t m = 16, n = 16, k = 64, groups = k / 32;

struct Operand {
  std::string format;
  bool isScaled = true;
  bool isPackedAlongK = true;
};

DType typeOf(const Operand &operand) {
  return operand.format == "e2m1"   ? DType::U8
         : operand.format == "e4m3" ? DType::F8E4M3FN
         : operand.format == "e5m2" ? DType::F8E5M2
         : operand.format == "fp16" ? DType::F16
                                    : DType::BF16;
}

/// Four bits of the OCP format: sign, two exponent bits, one mantissa bit.
Number nibble(int64_t code) {
  constexpr double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code >= 8 ? -magnitudes[code - 8] : magnitudes[code];
}

/// The unscaled number of a row-major operand of `across` columns at (row, column).
Number element(const Values &values, const Operand &operand, int64_t row, int64_t column,
               int64_t across, bool isRowPacked) {
  if (operand.format != "e2m1") {
    return values[static_cast<size_t>(row * across + column)];
  }
  int64_t at = isRowPacked ? row / 2 * across + column : row * (across / 2) + column / 2;
  auto byte = static_cast<int64_t>(values[static_cast<size_t>(at)]);
  return nibble((isRowPacked ? row : column) % 2 == 0 ? byte % 16 : byte / 16);
}

/// Loads [rows, columns] of `name`.
std::string loadText(const std::string &name, int64_t rows, int64_t columns) {
  return "tl.load(" + name + " + tl.arange(0, " + std::to_string(rows) + ")[:, None] * " +
         std::to_string(columns) + " + tl.arange(0, " + std::to_string(columns) + ")[None, :])";
}

Case dotCase(const Operand &lhs, const Operand &rhs, bool hasAccumulator = false) {
  Case one;
  one.builtin = "tl.dot_scaled";
  one.title = lhs.format + (lhs.isScaled ? " scaled" : "") + (lhs.isPackedAlongK ? "" : " by M") +
              " times " + rhs.format + (rhs.isScaled ? " scaled" : "") +
              (rhs.isPackedAlongK ? "" : " by N") + (hasAccumulator ? ", accumulated" : "");
  one.types = {DType::F32};
  bool isLeftSmall = lhs.format == "e2m1", isRightSmall = rhs.format == "e2m1";
  int64_t leftRows = isLeftSmall && !lhs.isPackedAlongK ? m / 2 : m;
  int64_t leftColumns = isLeftSmall && lhs.isPackedAlongK ? k / 2 : k;
  int64_t rightRows = isRightSmall && rhs.isPackedAlongK ? k / 2 : k;
  int64_t rightColumns = isRightSmall && !rhs.isPackedAlongK ? n / 2 : n;
  auto scaleText = [](const Operand &operand, const std::string &name) {
    return operand.isScaled ? loadText(name, 16, groups) + " + 126" : std::string("None");
  };
  auto packText = [](bool isAlongK) { return std::string(isAlongK ? "True" : "False"); };
  one.source = "@triton.jit\ndef kernel(A, SA, B, SB, C, OUT):\n    a = " +
               loadText("A", leftRows, leftColumns) +
               "\n    b = " + loadText("B", rightRows, rightColumns) +
               "\n    sa = " + scaleText(lhs, "SA") + "\n    sb = " + scaleText(rhs, "SB") +
               "\n    c = " + (hasAccumulator ? loadText("C", m, n) : std::string("None")) +
               "\n    d = tl.dot_scaled(a, sa, '" + lhs.format + "', b, sb, '" + rhs.format +
               "', c, lhs_k_pack=" + packText(lhs.isPackedAlongK) +
               ", rhs_k_pack=" + packText(rhs.isPackedAlongK) +
               ")\n    tl.store(OUT + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]"
               ", d)\n";
  one.tensors = {
      {"A", leftRows * leftColumns, isLeftSmall ? Fill::Normal : Fill::Small, {typeOf(lhs)}},
      {"SA", m * groups, Fill::Unit, {DType::U8}},
      {"B", rightRows * rightColumns, isRightSmall ? Fill::Normal : Fill::Small, {typeOf(rhs)}},
      {"SB", n * groups, Fill::Unit, {DType::U8}},
      {"C", m * n, Fill::Small},
      {"OUT", m * n, Fill::Poison}};
  one.reference = [=](Run &run) {
    auto scale = [&](const Operand &operand, const std::string &name, int64_t row, int64_t group) {
      Number code = run.in(name)[static_cast<size_t>(row * groups + group)] + 126;
      return operand.isScaled ? std::ldexp(1.0L, static_cast<int>(code) - 127) : 1.0L;
    };
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        Number sum = hasAccumulator ? run.in("C")[static_cast<size_t>(i * n + j)] : 0;
        for (int64_t p = 0; p < k; ++p) {
          sum += element(run.in("A"), lhs, i, p, k, !lhs.isPackedAlongK) *
                 scale(lhs, "SA", i, p / 32) *
                 element(run.in("B"), rhs, p, j, n, rhs.isPackedAlongK) *
                 scale(rhs, "SB", j, p / 32);
        }
        run.expect("OUT", i * n + j, sum);
      }
    }
  };
  return one;
}

/// NVFP4: sixteen numbers of four bits share a scale in float8e4nv.
Case nvCase() {
  Case one;
  one.builtin = "tl.dot_scaled";
  one.title = "e2m1 with scales of 16 elements";
  one.types = {DType::F32};
  one.source =
      "@triton.jit\ndef kernel(A, SA, B, SB, OUT):\n    a = " + loadText("A", m, k / 2) +
      "\n    b = " + loadText("B", k / 2, n) + "\n    sa = " + loadText("SA", m, k / 16) +
      "\n    sb = " + loadText("SB", n, k / 16) +
      "\n    d = tl.dot_scaled(a, sa, 'e2m1', b, sb, 'e2m1')\n"
      "    tl.store(OUT + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], d)\n";
  one.tensors = {{"A", m * k / 2, Fill::Normal, {DType::U8}},
                 {"SA", m * k / 16, Fill::Small, {DType::F8E4M3FN}},
                 {"B", k / 2 * n, Fill::Normal, {DType::U8}},
                 {"SB", n * k / 16, Fill::Small, {DType::F8E4M3FN}},
                 {"OUT", m * n, Fill::Poison}};
  one.reference = [](Run &run) {
    const Operand small{"e2m1"};
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        Number sum = 0;
        for (int64_t p = 0; p < k; ++p) {
          sum += element(run.in("A"), small, i, p, k, false) *
                 run.in("SA")[static_cast<size_t>(i * (k / 16) + p / 16)] *
                 element(run.in("B"), small, p, j, n, true) *
                 run.in("SB")[static_cast<size_t>(j * (k / 16) + p / 16)];
        }
        run.expect("OUT", i * n + j, sum);
      }
    }
  };
  return one;
}

/// Products of one number with every scale: 2^(byte - 127), NaN for 255.
Case scaleCase() {
  Case one;
  one.builtin = "tl.dot_scaled";
  one.title = "every scale";
  one.types = {DType::F32};
  // Row r of the left side is 1 at k = 0 and has the scale r.
  one.source = "@triton.jit\ndef kernel(OUT):\n"
               "    r = tl.arange(0, 256)\n    k = tl.arange(0, 32)\n"
               "    first = (k == 0).to(tl.bfloat16)\n"
               "    a = tl.broadcast_to(first[None, :], (256, 32))\n"
               "    b = tl.broadcast_to(first[:, None], (32, 16))\n"
               "    d = tl.dot_scaled(a, r.to(tl.uint8)[:, None], 'bf16', b, None, 'bf16')\n"
               "    tl.store(OUT + r, tl.max(d, 1))\n";
  one.tensors = {{"OUT", 256, Fill::Poison}};
  one.reference = [](Run &run) {
    for (int64_t r = 0; r < 256; ++r) {
      run.expect("OUT", r, r == 255 ? Number(NAN) : std::ldexp(1.0L, static_cast<int>(r) - 127));
    }
  };
  return one;
}

} // namespace

void addDotScaled(Cases &cases) {
  for (const char *left : {"e2m1", "e4m3", "e5m2", "bf16", "fp16"}) {
    cases.push_back(dotCase({left}, {"e2m1"}));
    cases.push_back(dotCase({left, false}, {"e5m2"}));
  }
  cases.push_back(dotCase({"e4m3"}, {"e4m3", false}));
  cases.push_back(dotCase({"e2m1", true, false}, {"e4m3"}));
  cases.push_back(dotCase({"e2m1"}, {"e2m1", true, false}, true));
  cases.push_back(dotCase({"e2m1", true, false}, {"e2m1", true, false}));
  cases.push_back(nvCase());
  cases.push_back(scaleCase());
}

} // namespace nereid::conformance
