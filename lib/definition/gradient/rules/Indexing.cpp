// SPDX-License-Identifier: Apache-2.0
// Gradients of reads and writes at indices: what is read gets its gradient added where it was read,
// what is written gets it from where it was written.
#include "lib/definition/operations/indices/Indexing.h"

#include "lib/definition/gradient/rules/Rules.h"
#include "lib/definition/gradient/text/BodyText.h"
#include "lib/definition/gradient/text/IndexingText.h"
#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/SizeAlgebra.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::definition {
namespace {

class AtIndices {
public:
  AtIndices(GradientBody &body, const GradientOf &of)
      : body(body), node(of.node), of(of), table(body.shapeOf(of.node.inputs[0])),
        grad(of.grad.text), dim(integerAttribute(node, "dim", -1)) {
    for (int input : node.inputs) {
      operands.push_back(body.value(input));
    }
    indices = indicesOf(node, operands);
  }

  std::optional<Share> run() {
    if (valueOperand(node) == 0) {
      return of.which == 0 ? ofRead() : std::nullopt;
    }
    if (of.which != 0 && of.which != valueOperand(node)) {
      return std::nullopt;
    }
    const bool isTable = of.which == 0;
    const std::string how = stringAttribute(node, "reduce", "");
    if (how == "prod") {
      return isTable ? ofProductTable() : ofProductValues();
    }
    if (how == "mean") {
      return isTable ? ofTable(shared(counted())) : ofValues(shared(counted()));
    }
    if (how == "amax" || how == "amin") {
      return ofExtremum(isTable);
    }
    return isTable ? ofTable(grad) : ofValues(grad);
  }

private:
  std::string named(const std::string &text) { return body.named("grad", text); }
  Share tableShare(const std::string &text) const { return {text, table}; }
  std::string zeros() {
    return body.once("zeros", fmt::format("torch.zeros_like({})", operands[0]));
  }
  bool isOpen() const { return !table.empty() && table[0].isRest(); }
  bool includesTable() const { return isTrue(node, "include_self", true); }

  // ---- reads ----

  /// Whether negative indices may come, which index_add does not take.
  bool isNeverNegative(size_t operand) const {
    const auto number = static_cast<size_t>(node.inputs[operand]);
    return number < body.op.parameters.size() && body.op.parameters[number].range &&
           body.op.parameters[number].range->low.find('-') == std::string::npos;
  }

  std::optional<Share> ofRead() {
    if (node.op == "gather") {
      return tableShare(
          named(fmt::format("torch.scatter_add({}, {}, {}, {})", zeros(), dim, indices[0], grad)));
    }
    if (node.op == "index_select") {
      return tableShare(
          named(fmt::format("torch.index_add({}, {}, {}, {})", zeros(), dim, indices[0], grad)));
    }
    if (node.op == "embedding") {
      return ofEmbedding();
    }
    const auto first = static_cast<int64_t>(table.size()) + dim; // whole dimensions in front
    return first == 0                        ? tableShare(put(zeros(), grad))
           : isOpen() || indices.size() == 1 ? ofOneIndexBehind()
                                             : ofIndicesBehind(first);
  }

  std::string put(const std::string &into, const std::string &what) {
    return named(fmt::format("torch.index_put({}, {}, {}, accumulate=True)", into,
                             tupleText(indices), what));
  }

  std::optional<Share> ofEmbedding() {
    std::string what = grad;
    if (node.attributes.contains("padding_idx")) { // whose row stays as it is
      const int64_t padding = integerAttribute(node, "padding_idx", -1);
      const std::string row =
          padding >= 0 ? std::to_string(padding) : (SizePolynomial::of(table[0]) + padding).text();
      what = named(fmt::format("torch.where(torch.unsqueeze({}, -1) == {}, 0.0, {})", indices[0],
                               row, grad));
    }
    return tableShare(put(zeros(), what));
  }

  /// index_add takes a list of indices that are not negative.
  std::optional<Share> ofOneIndexBehind() {
    const SymbolicShape &index = body.shapeOf(node.inputs[1]);
    if (indices.size() != 1 || (!index.empty() && index[0].isRest())) {
      return std::nullopt;
    }
    std::string at = indices[0], what = grad;
    if (!isNeverNegative(1)) {
      at = body.once("places",
                     fmt::format("torch.where({0} < 0, {0} + {1}, {0})", at,
                                 "(" + SizePolynomial::of(*(table.end() + dim)).text() + ")"));
    }
    const int64_t behind = -dim - 1; // whole dimensions behind the index
    if (index.empty()) {
      at = body.once("places", fmt::format("torch.unsqueeze({}, 0)", at));
      what = named(fmt::format("torch.unsqueeze({}, {})", what, dim));
    } else if (index.size() > 1) {
      at = body.once("places", fmt::format("torch.flatten({}, 0, -1)", at));
      what = named(fmt::format("torch.flatten({}, {}, {})", what,
                               -behind - static_cast<int64_t>(index.size()), -behind - 1));
    }
    return tableShare(
        named(fmt::format("torch.index_add({}, {}, {}, {})", zeros(), dim, at, what)));
  }

  /// The indexed dimensions come first, and go back.
  std::optional<Share> ofIndicesBehind(int64_t first) {
    const auto rank = static_cast<int64_t>(table.size()),
               count = static_cast<int64_t>(indices.size()),
               points = static_cast<int64_t>(of.grad.shape.size()) - (rank - count);
    auto order = [&](int64_t moved, int64_t all) {
      std::vector<std::string> dims;
      for (int64_t d = 0; d < all; ++d) {
        const int64_t at = d < moved ? first + d : d < moved + first ? d - moved : d;
        dims.push_back(std::to_string(at));
      }
      return tupleText(dims);
    };
    const std::string into =
        named(fmt::format("torch.permute({}, {})", zeros(), order(count, rank)));
    const std::string what = named(fmt::format(
        "torch.permute({}, {})", grad, order(points, static_cast<int64_t>(of.grad.shape.size()))));
    std::vector<std::string> back;
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t at = d < first ? d + count : d < first + count ? d - first : d;
      back.push_back(std::to_string(at));
    }
    return tableShare(
        named(fmt::format("torch.permute({}, {})", put(into, what), tupleText(back))));
  }

  // ---- writes ----

  bool isSum() const {
    return node.op == "scatter_add" || node.op == "index_add" || node.op == "scatter_reduce" ||
           isTrue(node, "accumulate", false);
  }
  /// Zeros where something was written.
  std::string cleared(const std::string &what) {
    return node.op == "index_put"
               ? named(fmt::format("torch.index_put({}, {}, torch.zeros_like({}))", what,
                                   tupleText(indices), operands.back()))
               : named(fmt::format("torch.scatter({}, {}, {}, 0.0)", what, dim, indices[0]));
  }
  std::optional<Share> ofTable(const std::string &what) {
    const bool keeps = isSum() && includesTable();
    return tableShare(keeps ? what : cleared(what));
  }
  /// `what` at the points.
  std::string read(const std::string &what) {
    if (node.op == "index_put") {
      return subscriptText(what, node, body.op, indices);
    }
    return fmt::format("torch.{}({}, {}, {})", node.op == "index_add" ? "index_select" : "gather",
                       what, dim, indices[0]);
  }
  Share valueShare(const std::string &text) const {
    Node points = node; // has their shape
    points.op = node.op == "index_put"   ? "index"
                : node.op == "index_add" ? "index_select"
                                         : "gather";
    points.inputs.pop_back();
    const Result<SymbolicShape> shape = inferShape(points, body.op.nodes);
    return {text, shape ? *shape : table};
  }
  std::optional<Share> ofValues(const std::string &what) { return valueShare(named(read(what))); }

  // ---- scatter_reduce ----

  std::string source() const { return operands.back(); }
  std::string scattered(const std::string &into, const std::string &what) {
    return fmt::format("torch.scatter_add({}, {}, {}, {})", into, dim, indices[0], what);
  }
  /// 1 where the two are equal, of the table's type.
  std::string hits(const std::string &wanted, const std::string &a, const std::string &b) {
    return body.once(wanted, fmt::format("torch.where({} == {}, {}, 0.0)", a, b, onesLike(a)));
  }
  std::string onesLike(const std::string &of) {
    return body.once("ones",
                     fmt::format("torch.masked_fill({0}, ({0} == {0}) | ({0} != {0}), 1.0)", of));
  }
  /// How many meet in each element of the result, 1 where none do.
  std::string counted() {
    const std::string own = includesTable() ? onesLike(operands[0]) : zeros();
    const std::string count = body.once("count", scattered(own, onesLike(source())));
    return body.once("count", fmt::format("torch.clamp({}, min=1.0)", count));
  }
  std::string shared(const std::string &count) {
    return body.once("grad", fmt::format("{} / {}", grad, count));
  }

  /// Shared evenly between those that are as large.
  std::optional<Share> ofExtremum(bool isTable) {
    const std::string result = body.value(of.number);
    const std::string value = body.once("value", read(result));
    const std::string own = hits("hit", operands[0], result);
    const std::string there = hits("hits", source(), value);
    const std::string count = body.once("count", scattered(includesTable() ? own : zeros(), there));
    const std::string part =
        body.once("grad", fmt::format("{} / torch.clamp({}, min=1.0)", grad, count));
    if (!isTable) {
      return valueShare(named(fmt::format("{} * {}", there, read(part))));
    }
    if (!includesTable()) { // alone where nothing was written
      return ofTable(grad);
    }
    return tableShare(named(fmt::format("{} * {}", own, part)));
  }

  /// The product of the others, also where one of them is 0.
  std::optional<Share> ofProductTable() {
    if (!includesTable()) {
      return ofTable(grad);
    }
    const std::string others =
        body.once("others", fmt::format("torch.scatter_reduce({}, {}, {}, {}, reduce=\"prod\")",
                                        onesLike(operands[0]), dim, indices[0], source()));
    return tableShare(named(fmt::format("{} * {}", grad, others)));
  }
  std::optional<Share> ofProductValues() {
    const std::string zero = hits("zero", source(), "0");
    const std::string own = includesTable() ? hits("own", operands[0], "0") : zeros();
    const std::string count = body.once("count", scattered(own, zero));
    const std::string alone =
        body.once("alone", fmt::format("{} - {}", read(count), zero)); // zeros of the others
    const std::string factors =
        body.once("factors", fmt::format("torch.where({0} == 0, 1.0, {0})", source()));
    const std::string table = includesTable() ? operands[0] : onesLike(operands[0]);
    const std::string product =
        body.once("product", fmt::format("torch.scatter_reduce({}, {}, {}, {}, reduce=\"prod\")",
                                         fmt::format("torch.where({0} == 0, 1.0, {0})", table), dim,
                                         indices[0], factors));
    const std::string others = body.once("others", fmt::format("{} / {}", read(product), factors));
    return valueShare(
        named(fmt::format("torch.where({} < 0.5, {} * {}, 0)", alone, read(grad), others)));
  }

  GradientBody &body;
  const Node &node;
  const GradientOf &of;
  const SymbolicShape &table;
  std::string grad;
  int64_t dim;
  std::vector<std::string> operands, indices;
};

} // namespace

std::optional<Share> indexingGradient(GradientBody &body, const GradientOf &of) {
  return AtIndices(body, of).run();
}

} // namespace nereid::definition
