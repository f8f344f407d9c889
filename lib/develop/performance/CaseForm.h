// SPDX-License-Identifier: Apache-2.0
// Forms of a written kernel's reference, see bench/measurement/FormPeer.h: generated, compiled and
// ready to be timed beside the kernel.
#pragma once

#include "lib/bench/measurement/FormPeer.h"

namespace nereid::develop {

/// A bench::FormMaker. The execution and the chip must outlive what it makes.
Result<bench::FormPeer> caseForm(bench::FormRequest request);

} // namespace nereid::develop
