// SPDX-License-Identifier: Apache-2.0
// Where values belong in sorted rows: searchsorted and bucketize by bisection, in the steps of
// PyTorch's, so that rows that are not sorted have the same results, too.
#include "lib/definition/reader/written/Written.h"

#include <fmt/format.h>

#include <bit>

namespace nereid::definition {
namespace {

/// Rows are shorter where their size is a name.
constexpr int64_t longest = 2147483647;
/// Shorter ones, which most are, have a form of their own with as many turns as they need.
constexpr int64_t shortRow = 8192;

/// Behind elements that are equal, or in front of them.
std::optional<bool> isBehindEqual(WrittenCall &call) {
  const auto isRight = call.flag("right");
  if (!isRight || call.name == "bucketize" || call.isNone("side")) {
    return isRight;
  }
  const auto side = call.word("side");
  if (!side) {
    return std::nullopt;
  }
  if ((*side != "left" && *side != "right") || (*isRight && *side == "left")) {
    return call.fail("E0608",
                     fmt::format("'side' of 'searchsorted' expects \"left\" or \"right\", as "
                                 "'right' says it, but got \"{}\"",
                                 *side),
                     "give one of both");
  }
  return *side == "right";
}

bool fits(WrittenCall &call, int row, int values) {
  if (!call.isOpen(row) && call.rank(row) == 1) {
    return true;
  }
  const SymbolicShape &rows = call.shape(row), &wanted = call.shape(values);
  return call.name != "bucketize" && rows.size() > 1 && rows.size() == wanted.size() &&
         std::equal(rows.begin(), rows.end() - 1, wanted.begin());
}

} // namespace

Value searched(WrittenCall &call) {
  const bool isBuckets = call.name == "bucketize";
  const Value row = call.operand(isBuckets ? "boundaries" : "sorted_sequence");
  const Value values = row ? call.operand("input") : std::nullopt;
  const auto isBehind = values ? isBehindEqual(call) : std::nullopt;
  const auto isShort = isBehind ? call.flag("out_int32") : std::nullopt;
  if (!isShort) {
    return std::nullopt;
  }
  if (call.isNumber(*values) || !fits(call, *row, *values)) {
    return call.fail("E0604",
                     fmt::format("'{}' expects one sorted row{}, but got {} and values {}",
                                 call.name, isBuckets ? "" : ", or one for each row of the values",
                                 text(call.shape(*row)), text(call.shape(*values))),
                     "the last dimension of the sorted tensor is searched");
  }
  const SizePolynomial size = call.size(*row, -1);
  call.expectNotNegative(SizePolynomial(longest) - size,
                         fmt::format("'{}' expects rows of at most {}", call.name, longest));
  if (call.failed()) {
    return std::nullopt;
  }
  const bool mayBeEmpty = !size.constant();
  if (size.constant() == 0) {
    return call.filled(call.shape(*values), 0, *isShort ? "int32" : "int64");
  }
  const int turns = std::bit_width(static_cast<uint64_t>(size.constant().value_or(longest)));
  const bool isOneRow = call.rank(*row) == 1;
  // Where nothing is left to search, the middle is both ends and the index may be the row's length.
  // That a row is empty is asked once, behind all steps: kernels of rows that are not have no step
  // for it.
  // x[index] would ask for negative indices.
  std::string text =
      "table = row.unsqueeze(-1)\nlast = size - 1\nfirst = zeros\nend = zeros + size\n";
  const int turnsOfShort = std::bit_width(static_cast<uint64_t>(shortRow - 1));
  for (int turn = 0; turn < turns; ++turn) {
    text += turn == turnsOfShort ? "of_short = first\n" : "";
    text +=
        fmt::format("middle = first + ((end - first) >> 1)\n"
                    "at = torch.minimum(middle, last).to(torch.int64)\n"
                    "here = {}\n"
                    "is_behind = here {} values\n"
                    "first = torch.where(is_behind, first, torch.minimum(middle + 1, end))\n"
                    "end = torch.where(is_behind, middle, end)\n",
                    isOneRow ? "F.embedding(at, table).squeeze(-1)" : "torch.gather(row, -1, at)",
                    *isBehind ? ">" : ">=");
  }
  std::map<std::string, Value> given = {{"row", row},
                                        {"values", values},
                                        {"size", call.sizeNumber(size)},
                                        {"zeros", call.filled(call.shape(*values), 0, "int32")}};
  if (mayBeEmpty) {
    given.emplace("zero", call.filled({}, 0, "int64"));
    text += fmt::format("found = torch.where(zero + size < {}, of_short, first)\n"
                        "out = torch.where(zero + size >= 1, found, zeros)",
                        shortRow);
  } else {
    text += "out = first";
  }
  const Value place =
      mayBeEmpty ? call.writtenOutOfPerhapsNothing(text, given) : call.writtenOut(text, given);
  return *isShort ? place : call.apply("to_int64", {place});
}

} // namespace nereid::definition
