// SPDX-License-Identifier: Apache-2.0
// Attention as one call: the products and the softmax that bodies write out otherwise.
#include "lib/definition/reader/written/Written.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

/// What bodies have no form for, or PyTorch draws numbers for without a seed.
bool hasOthers(WrittenCall &call) {
  const auto dropout = call.isNone("dropout_p") ? std::optional(std::vector<double>{0})
                                                : call.numbers("dropout_p", 1);
  const auto isGrouped = call.flag("enable_gqa");
  const bool isPlain = dropout && dropout->front() == 0 && isGrouped && !*isGrouped;
  if (!call.failed() && !isPlain) {
    call.fail("E0608", fmt::format("'{}' is available without dropout and groups", call.name),
              "write it out: F.softmax(q @ k.mT / math.sqrt(D) + mask, dim=-1) @ v");
  }
  return call.failed();
}

/// softmax(scores under the mask) @ value; a query that sees nothing gets zeros, as PyTorch's does.
Value masked(WrittenCall &call, Value mask, Value scores, Value value) {
  if (call.isNumber(*mask) || call.isAlwaysInteger(*mask)) {
    return call.fail("E0608", fmt::format("'attn_mask' of '{}' expects bools or floats", call.name),
                     "write attn_mask=mask != 0");
  }
  const std::string what = call.isAlwaysFloat(*mask)
                               ? "seen = scores + mask\n"
                                 "some = torch.amax(mask, dim=-1, keepdim=True) > float(\"-inf\")\n"
                               : "seen = torch.where(mask, scores, float(\"-inf\"))\n"
                                 "some = torch.any(mask, dim=-1, keepdim=True)\n";
  return call.writtenOut(what + "out = torch.where(some, softmax(seen, dim=-1) @ value, 0.0)",
                         {{"mask", mask}, {"scores", scores}, {"value", value}});
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
  if (*isCausal && !call.isNone("attn_mask")) {
    return call.fail("E0608", fmt::format("'{}' takes a mask or is causal", call.name),
                     "put both into the mask");
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
  if (!call.isNone("attn_mask")) {
    const Value mask = scores ? call.operand("attn_mask") : std::nullopt;
    return mask ? masked(call, mask, scores, value) : std::nullopt;
  }
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
