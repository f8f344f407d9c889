// SPDX-License-Identifier: Apache-2.0
// A kernel that takes more memory of a processor than there is (E0501) mostly has sizes near those
// it was compiled for that fit. They are found by compiling: no estimate knows what the phases
// need.
#pragma once

#include "lib/language/signature/Signature.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nereid::language {
struct KernelConfig;
}

namespace nereid::pipeline {

/// A specialization beside one that does not fit.
struct NearbySignature {
  language::Signature signature;
  std::string text;    ///< what is another: "BLOCK=512,num_stages=2"
  double distance = 0; ///< steps: each halving or doubling of a size is one, each stage as well
};

/// The declared configs, nearest first, at most `most`; the one that is compiled is not among them.
std::vector<NearbySignature> otherConfigs(const language::Signature &from,
                                          const std::vector<language::KernelConfig> &configs,
                                          size_t most);
/// Smaller sizes and fewer stages, nearest first, at most `most`: constexprs that are powers of two
/// halved, one stage less.
std::vector<NearbySignature> smallerSignatures(const language::Signature &from, size_t most);
/// One thing alone, as far as it goes, nearest first: the warps of a program doubled again and
/// again, or a size halved.
std::vector<NearbySignature> scaledSignatures(const language::Signature &from);

/// "num_stages=4 fits"; "BLOCK=64 fits; 7 of the 12 other configs fit". Empty where nothing does.
/// `fits` is asked of few, and says nothing when there is no more time for that. `hasWarps`: a
/// program is spread over warps, so that more of them leave each less; compiling that far is quick.
std::string
fittingText(const language::Signature &from, const std::vector<language::KernelConfig> &configs,
            bool hasWarps,
            const std::function<std::optional<bool>(const language::Signature &)> &fits);

} // namespace nereid::pipeline
