// SPDX-License-Identifier: Apache-2.0
// Attention as one call: the products and the softmax that bodies write out otherwise.
#include "lib/definition/reader/written/Written.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

/// PyTorch draws its numbers without a seed.
bool hasDropout(WrittenCall &call) {
  const auto dropout = call.isNone("dropout_p") ? std::optional(std::vector<double>{0})
                                                : call.numbers("dropout_p", 1);
  if (!call.failed() && dropout && dropout->front() != 0) {
    call.fail("E0608", fmt::format("'{}' is available without dropout", call.name),
              "write it out: F.dropout(F.softmax(q @ k.mT / math.sqrt(D) + mask, dim=-1), p, "
              "seed=seed) @ v");
  }
  return call.failed();
}

/// enable_gqa: as many query heads in turn share a head of keys and values as there are of them.
Value forEachQuery(WrittenCall &call, Value query, Value shared) {
  const SizePolynomial queries = call.size(*query, -3), heads = call.size(*shared, -3);
  if (const auto count = queries.dividedBy(heads)) {
    return call.repeatedEach(shared, -3, *count);
  }
  if (queries.constant() && heads.constant()) {
    return call.fail("E0604",
                     fmt::format("'{}' expects a number of query heads that the {} heads of keys "
                                 "and values divide, but got {}",
                                 call.name, heads.text(), queries.text()),
                     "heads are the third dimension from the end");
  }
  call.expectDivisible(queries, heads);
  return call.failed() ? std::nullopt : call.repeatedEach(shared, -3, queries.floorDivide(heads));
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
  Value key = query ? call.operand("key") : std::nullopt;
  Value value = key ? call.operand("value") : std::nullopt;
  const auto isCausal = call.flag("is_causal"), isGrouped = call.flag("enable_gqa");
  if (!value || !isCausal || !isGrouped || hasDropout(call)) {
    return std::nullopt;
  }
  if (*isCausal && !call.isNone("attn_mask")) {
    return call.fail("E0608", fmt::format("'{}' takes a mask or is causal", call.name),
                     "put both into the mask");
  }
  for (const Value &each : {query, key, value}) {
    const size_t least = *isGrouped ? 3 : 2;
    if (call.isNumber(*each) || call.isOpen(*each) || call.rank(*each) < least) {
      return call.fail("E0604",
                       fmt::format("'{}' expects tensors of known rank, with {}rows and columns, "
                                   "but got the shape {}",
                                   call.name, *isGrouped ? "heads, " : "", text(call.shape(*each))),
                       "give every dimension a name or a size");
    }
  }
  if (*isGrouped) {
    key = forEachQuery(call, query, key);
    value = key ? forEachQuery(call, query, value) : std::nullopt;
    if (!value) {
      return std::nullopt;
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
