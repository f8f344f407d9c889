// SPDX-License-Identifier: Apache-2.0
// Random numbers against the definition of Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011, section 3.3.
#include "test/language/Case.h"

#include <array>
#include <cmath>

namespace nereid::conformance {
namespace {

using Words = std::array<uint32_t, 4>;

Words philox(uint64_t seed, uint64_t offset) {
  Words counter = {static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32), 0, 0};
  auto low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t{0xD2511F53} * counter[0], second = uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<uint32_t>(second >> 32) ^ counter[1] ^ low, static_cast<uint32_t>(second),
        static_cast<uint32_t>(first >> 32) ^ counter[3] ^ high, static_cast<uint32_t>(first)};
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return counter;
}

/// [0, 1): the word as a signed number, folded to positive, times the largest scale below 2^-31.
float uniform(uint32_t word) {
  auto number = static_cast<int32_t>(word);
  number = number < 0 ? -(number + 1) : number;
  return static_cast<float>(number) * 4.6566127342e-10f;
}

constexpr uint64_t seed = 0x12345;

Case drawing(const std::string &name, const std::string &body, DType result, double ulps,
             std::function<Number(const Words &)> value) {
  Case one;
  one.builtin = "tl." + name;
  one.types = {result};
  one.source = "@triton.jit\ndef kernel(OUT, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n"
               "    tl.store(OUT + i, " +
               body + ")\n";
  one.constants = "BLOCK=64";
  one.tensors = {{"OUT", 64, Fill::Poison}};
  one.ulps = ulps;
  // sin and cos are near zero for some angles, where units in the last place are small.
  one.absolute = ulps > 1 ? 1e-5 : 0;
  one.reference = [value](Run &run) {
    for (int64_t i = 0; i < 64; ++i) {
      run.expect("OUT", i, value(philox(seed, static_cast<uint32_t>(i))));
    }
  };
  return one;
}

/// Four words of tl.philox or tl.philox_impl, stored one behind the other.
Case answering(const std::string &title, const std::string &call, DType result,
               const std::array<uint64_t, 4> &answer) {
  bool isNarrow = result == DType::I32;
  Case one;
  one.builtin = call.substr(0, call.find('('));
  one.title = title;
  one.types = {result};
  one.source = "@triton.jit\ndef kernel(OUT):\n    a, b, c, d = " + call + "\n";
  for (int k = 0; k < 4; ++k) {
    one.source += "    tl.store(OUT + " + std::to_string(k) + ", " + std::string(1, "abcd"[k]) +
                  ".to(tl." + (isNarrow ? "int32" : "int64") + ", bitcast=True))\n";
  }
  one.tensors = {{"OUT", 4, Fill::Poison}};
  one.reference = [=](Run &run) {
    for (int k = 0; k < 4; ++k) {
      uint64_t word = answer[static_cast<size_t>(k)];
      run.expect("OUT", k,
                 isNarrow ? static_cast<Number>(static_cast<int32_t>(word))
                          : static_cast<Number>(static_cast<int64_t>(word)));
    }
  };
  return one;
}

/// The vectors that the authors of Philox publish with their library (kat_vectors of Random123):
/// counter and key all zeros, all ones, and the digits of pi.
void addKnownAnswers(Cases &cases) {
  auto word = [](const char *digits, int bits) {
    return std::string("tl.full((), 0x") + digits + ", tl.uint" + std::to_string(bits) + ")";
  };
  auto narrow = [&](const char *digits) { return word(digits, 32); };
  auto wide = [&](const char *digits) { return word(digits, 64); };
  const std::string zero = narrow("0"), ones = narrow("ffffffff"), zeros64 = wide("0"),
                    ones64 = wide("ffffffffffffffff");
  auto four = [](const std::string &text) {
    return text + ", " + text + ", " + text + ", " + text;
  };
  cases.push_back(answering("zeros", "tl.philox(0, " + four(zero) + ")", DType::I32,
                            {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  cases.push_back(answering("ones", "tl.philox(-1, " + four(ones) + ")", DType::I32,
                            {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  cases.push_back(answering("digits of pi",
                            "tl.philox(0x299f31d0a4093822, " + narrow("243f6a88") + ", " +
                                narrow("85a308d3") + ", " + narrow("13198a2e") + ", " +
                                narrow("03707344") + ")",
                            DType::I32, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  cases.push_back(
      answering("64 bits, zeros", "tl.philox(0, " + four(zeros64) + ")", DType::I64,
                {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}));
  cases.push_back(
      answering("64 bits, ones",
                "tl.philox_impl(" + four(ones64) + ", " + ones64 + ", " + ones64 + ")", DType::I64,
                {0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}));
  cases.push_back(
      answering("64 bits, digits of pi",
                "tl.philox_impl(" + wide("243f6a8885a308d3") + ", " + wide("13198a2e03707344") +
                    ", " + wide("a4093822299f31d0") + ", " + wide("082efa98ec4e6c89") + ", " +
                    wide("452821e638d01377") + ", " + wide("be5466cf34e90c6c") + ")",
                DType::I64,
                {0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}));
}

/// The ends of the range: never 1, and the same for a number and its complement.
void addUniforms(Cases &cases) {
  Case one;
  one.builtin = "tl.uint_to_uniform_float";
  one.types = {DType::I32, DType::U32};
  one.source = "@triton.jit\ndef kernel(A, OUT, BLOCK: tl.constexpr):\n"
               "    i = tl.arange(0, BLOCK)\n"
               "    tl.store(OUT + i, tl.uint_to_uniform_float(tl.load(A + i)))\n";
  one.constants = "BLOCK=64";
  one.tensors = {{"A", 64, Fill::Normal}, {"OUT", 64, Fill::Poison, {DType::F32}}};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 64; ++i) {
      auto word = static_cast<uint32_t>(static_cast<int64_t>(run.in("A")[static_cast<size_t>(i)]));
      run.expect("OUT", i, uniform(word));
    }
  };
  cases.push_back(one);
  for (const char *bits : {"0x7fffffff", "0x80000000"}) {
    one.title = std::string("below one for ") + bits;
    one.types = {DType::I32};
    one.source = "@triton.jit\ndef kernel(A, OUT, BLOCK: tl.constexpr):\n"
                 "    x = tl.full((BLOCK,), " +
                 std::string(bits) +
                 ", tl.uint32)\n    tl.store(OUT + tl.arange(0, BLOCK), "
                 "(tl.uint_to_uniform_float(x) < 1.0).to(tl.float32))\n";
    one.reference = [](Run &run) {
      for (int64_t i = 0; i < 64; ++i) {
        run.expect("OUT", i, 1);
      }
    };
    cases.push_back(one);
  }
}

} // namespace

void addRandom(Cases &cases) {
  auto word = [](int k) {
    return [k](const Words &words) -> Number {
      return static_cast<int32_t>(words[static_cast<size_t>(k)]);
    };
  };
  cases.push_back(drawing("randint", "tl.randint(0x12345, i)", DType::I32, 0, word(0)));
  for (int k = 0; k < 4; ++k) {
    cases.push_back(drawing("randint4x", "tl.randint4x(0x12345, i)[" + std::to_string(k) + "]",
                            DType::I32, 0, word(k)));
    cases.back().title = "word " + std::to_string(k);
    cases.push_back(drawing(
        "rand4x", "tl.rand4x(0x12345, i)[" + std::to_string(k) + "]", DType::F32, 0.5,
        [k](const Words &words) -> Number { return uniform(words[static_cast<size_t>(k)]); }));
    cases.back().title = "number " + std::to_string(k);
  }
  cases.push_back(drawing("rand", "tl.rand(0x12345, i)", DType::F32, 0.5,
                          [](const Words &words) -> Number { return uniform(words[0]); }));
  // Box and Muller 1958.
  auto normal = [](int k) {
    return [k](const Words &words) -> Number {
      Number radius = std::sqrt(
          -2 * std::log(std::fmax(
                   1e-7L, static_cast<Number>(uniform(words[static_cast<size_t>(k & 2)])))));
      Number angle = 6.283185307179586L * uniform(words[static_cast<size_t>((k & 2) + 1)]);
      return radius * (k % 2 == 0 ? std::cos(angle) : std::sin(angle));
    };
  };
  cases.push_back(drawing("randn", "tl.randn(0x12345, i)", DType::F32, 16, normal(0)));
  for (int k = 0; k < 4; ++k) {
    cases.push_back(drawing("randn4x", "tl.randn4x(0x12345, i)[" + std::to_string(k) + "]",
                            DType::F32, 16, normal(k)));
    cases.back().title = "number " + std::to_string(k);
  }
  Case one = drawing("randint", "tl.randint(0x12345, i.to(tl.int64) + 0x7_0000_0000)", DType::I32,
                     0, word(0));
  one.title = "offsets of 64 bits";
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 64; ++i) {
      Words words = philox(seed, (uint64_t{7} << 32) + static_cast<uint64_t>(i));
      run.expect("OUT", i, static_cast<int32_t>(words[0]));
    }
  };
  cases.push_back(one);
  addUniforms(cases);
  addKnownAnswers(cases);
}

} // namespace nereid::conformance
