// SPDX-License-Identifier: Apache-2.0
// Gradients of matmul: of C = A B they are G B^T and A^T G. Dimensions that A or B has not are
// summed, in the product itself where it can be.
#include "lib/definition/gradient/rules/Rules.h"
#include "lib/definition/operations/SizeAlgebra.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

bool isOpen(const SymbolicShape &shape) { return !shape.empty() && shape[0].isRest(); }

/// A factor as a matrix: a vector gets the dimension that it lacks.
struct Matrix {
  std::string text;
  SymbolicShape shape;
};

Matrix asMatrix(GradientBody &body, std::string text, SymbolicShape shape, bool isRow) {
  if (shape.size() == 1) {
    text = body.once(isRow ? "row" : "column",
                     fmt::format("torch.unsqueeze({}, {})", text, isRow ? 0 : 1));
    shape.insert(isRow ? shape.begin() : shape.end(), Dim{"", 1});
  }
  return {text, shape};
}

/// The dimensions in front, broadcast as the product's.
SymbolicShape leading(const SymbolicShape &shape) {
  return {shape.begin(), shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(shape))};
}

/// left @ right, where `turnsLeft` or `turnsRight` says which one is turned.
Share product(GradientBody &body, const Matrix &left, const Matrix &right, bool turnsLeft) {
  const Dim rows = left.shape[left.shape.size() - (turnsLeft ? 1 : 2)];
  const Dim columns = right.shape[right.shape.size() - (turnsLeft ? 1 : 2)];
  SymbolicShape shape = leading(left.shape.size() > right.shape.size() ? left.shape : right.shape);
  for (const Matrix *each : {&left, &right}) { // sizes of 1 are broadcast
    const SymbolicShape own = leading(each->shape);
    for (size_t i = 0; i < own.size(); ++i) {
      Dim &dim = shape[shape.size() - own.size() + i];
      dim = dim == Dim{"", 1} ? own[i] : dim;
    }
  }
  shape.insert(shape.end(), {rows, columns});
  std::string text;
  if (isOpen(left.shape) || isOpen(right.shape)) {
    // Nothing turns where the rank is open: elements are multiplied and summed.
    const bool isTurnable = turnsLeft ? !isOpen(left.shape) : !isOpen(right.shape);
    if (!isTurnable) {
      text = turnsLeft ? fmt::format("torch.unsqueeze({}, -1) * torch.unsqueeze({}, -2)", left.text,
                                     right.text)
                       : fmt::format("torch.unsqueeze({}, -2) * torch.unsqueeze({}, -3)", left.text,
                                     right.text);
      const std::string terms = body.named("terms", text);
      return {body.named("grad", fmt::format("torch.sum({}, dim={})", terms, turnsLeft ? -3 : -1)),
              shape};
    }
  }
  text = turnsLeft ? fmt::format("{}.mT @ {}", left.text, right.text)
                   : fmt::format("{} @ {}.mT", left.text, right.text);
  return {body.named("grad", text), shape};
}

/// All dimensions but the last as one.
Matrix flattened(GradientBody &body, const Matrix &matrix) {
  Dim rows;
  SizePolynomial count = 1;
  for (size_t i = 0; i + 1 < matrix.shape.size(); ++i) {
    count = count * SizePolynomial::of(matrix.shape[i]);
  }
  rows = count.dim();
  return {body.once("rows", fmt::format("torch.flatten({}, 0, -2)", matrix.text)),
          {rows, matrix.shape.back()}};
}

} // namespace

std::optional<Share> productGradient(GradientBody &body, const GradientOf &of) {
  const SymbolicShape &a = body.shapeOf(of.node.inputs[0]), &b = body.shapeOf(of.node.inputs[1]);
  const bool isFirst = of.which == 0;
  const std::string other = body.value(of.node.inputs[isFirst ? 1 : 0]);
  if (a.size() == 1 && b.size() == 1) {
    return Share{body.named("grad", fmt::format("{} * {}", of.grad.text, other)), a};
  }
  Matrix grad{of.grad.text, of.grad.shape};
  if (a.size() == 1) { // the row that the result has not
    grad.text = body.once("grad", fmt::format("torch.unsqueeze({}, -2)", grad.text));
    grad.shape.insert(grad.shape.end() - 1, Dim{"", 1});
  } else if (b.size() == 1) {
    grad.text = body.once("grad", fmt::format("torch.unsqueeze({}, -1)", grad.text));
    grad.shape.push_back(Dim{"", 1});
  }
  const SymbolicShape &own = isFirst ? a : b;
  Share share;
  if (isFirst) {
    share = product(body, grad, asMatrix(body, other, b, false), false);
  } else {
    Matrix left = asMatrix(body, other, a, true);
    if (b.size() == 2 && isOpen(left.shape)) { // all rows together, however many dimensions
      SymbolicShape terms = left.shape;
      terms.push_back(grad.shape.back());
      return Share{body.named("terms", fmt::format("torch.unsqueeze({}, -1) * torch.unsqueeze({}, "
                                                   "-2)",
                                                   left.text, grad.text)),
                   terms};
    }
    // One matrix for all: the rows of every product are those of one.
    const bool isForAll = b.size() <= 2 && left.shape.size() > 2 && !isOpen(left.shape);
    share = isForAll ? product(body, flattened(body, left), flattened(body, grad), true)
                     : product(body, left, grad, true);
  }
  if (own.size() == 1) { // without the dimension that a vector got
    const int64_t dim = isFirst ? -2 : -1;
    share.text = body.named("grad", fmt::format("torch.squeeze({}, dim={})", share.text, dim));
    share.shape.erase(share.shape.end() + dim);
  }
  return share;
}

} // namespace nereid::definition
