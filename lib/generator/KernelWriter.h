// SPDX-License-Identifier: Apache-2.0
// The source of one @triton.jit function of an operator. Every variant reads each input once per
// pass, computes in float32 or wider, masks every access, and writes each output once.
#pragma once

#include "lib/generator/KernelInterface.h"

namespace nereid::generator {

std::string writeKernel(const FusedOperator &fused, KernelVariant variant);

} // namespace nereid::generator
