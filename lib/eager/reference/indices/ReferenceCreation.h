// SPDX-License-Identifier: Apache-2.0
// What is made of sizes and numbers alone, in the reference: exact, so that it is as good as given.
#pragma once

#include "lib/definition/Graph.h"
#include "runtime/tensor/Tensor.h"

namespace nereid::eager {

/// Puts each arange and full of the graph behind its parameters, as one more of them, and its
/// tensor behind the inputs. Sizes of the graph are numbers (withSizes).
Status giveCreated(definition::Operator &graph, std::vector<runtime::Tensor> &inputs, DType dtype);

} // namespace nereid::eager
