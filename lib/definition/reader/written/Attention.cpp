// SPDX-License-Identifier: Apache-2.0
// Attention as one call: the products and the softmax that bodies write out otherwise.
#include "lib/definition/reader/written/Written.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

/// What the kernel of attention has no form for, or PyTorch draws numbers for without a seed.
bool hasOthers(WrittenCall &call) {
  const auto dropout = call.isNone("dropout_p") ? std::optional(std::vector<double>{0})
                                                : call.numbers("dropout_p", 1);
  const auto isGrouped = call.flag("enable_gqa");
  const bool isPlain = dropout && dropout->front() == 0 && isGrouped && !*isGrouped;
  if (!call.failed() && (!isPlain || !call.isNone("attn_mask"))) {
    call.fail("E0608",
              fmt::format("'{}' is available without a mask, dropout and groups", call.name),
              "write it out: F.softmax(q @ k.mT / math.sqrt(D) + mask, dim=-1) @ v");
  }
  return call.failed();
}

} // namespace

Value attention(WrittenCall &call) {
  const Value query = call.operand("query");
  const Value key = query ? call.operand("key") : std::nullopt;
  const Value value = key ? call.operand("value") : std::nullopt;
  const auto isCausal = call.flag("is_causal");
  if (!value || !isCausal || hasOthers(call)) {
    return std::nullopt;
  }
  for (const Value &each : {query, key, value}) {
    if (call.isNumber(*each) || call.isOpen(*each) || call.rank(*each) < 2) {
      return call.fail("E0604",
                       fmt::format("'{}' expects tensors of known rank, with rows and columns, but "
                                   "got the shape {}",
                                   call.name, text(call.shape(*each))),
                       "give every dimension a name or a size");
    }
  }
  const bool isScaled = !call.isNone("scale");
  const Value factor = isScaled
                           ? call.operand("scale")
                           : call.writtenOut("out = 1 / math.sqrt(width)",
                                             {{"width", call.sizeNumber(call.size(*query, -1))}});
  if (!factor) {
    return std::nullopt;
  }
  Value scores = call.writtenOut("out = query @ key.mT * factor",
                                 {{"query", query}, {"key", key}, {"factor", factor}});
  if (scores && *isCausal) {
    scores = call.writtenOut(
        "out = torch.where(rows[:, None] >= columns[None, :], scores, float(\"-inf\"))",
        {{"rows", call.positions(call.size(*query, -2))},
         {"columns", call.positions(call.size(*key, -2))},
         {"scores", scores}});
  }
  return scores ? call.writtenOut("out = softmax(scores, dim=-1) @ value",
                                  {{"scores", scores}, {"value", value}})
                : std::nullopt;
}

} // namespace nereid::definition
