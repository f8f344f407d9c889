// SPDX-License-Identifier: Apache-2.0
// What a body moves: slices and indices (BodySlices.cpp), tensors of which a part is written
// (BodyParts.cpp), tensors of several parts (BodyJoins.cpp), other shapes (BodyShapes.cpp).
// Each becomes movements (operations/Movement.h); what must hold of sizes becomes constraints.
#pragma once

#include "lib/definition/operations/SizeAlgebra.h"
#include "lib/definition/reader/BodyExpressions.h"

namespace nereid::definition {

class BodyMoves {
public:
  explicit BodyMoves(BodyExpressions &body)
      : body(body), op(body.op), place(body.place), diags(body.diags), types(body.types) {}

  /// Functions that it reads.
  static const std::vector<std::string> &sliceNames();
  static const std::vector<std::string> &joinNames();
  static const std::vector<std::string> &shapeNames();

  std::optional<int> readSubscript(const language::Expr &expr);
  /// The tensor put together anew, with the value, of the tensor's type, in the part that the
  /// brackets of `target` name.
  std::optional<int> withPart(int whole, const language::Expr &target, int value);
  /// The kernel of a convolution lies inside of the padded image: false where it never does.
  bool expectRoom(int convolution, SourceRange range);

private:
  friend class BodyExpressions;
  friend class WrittenCall;  ///< functions that are written out in movements
  friend class BodyCreation; ///< which reads sizes as it does
  using Call = BodyExpressions::Call;

  std::optional<int> sliceCall(const Call &call);
  std::optional<int> flipCall(const std::string &name, int input,
                              std::vector<const language::Expr *> order, const language::Expr *list,
                              SourceRange range);
  /// What an index says of one dimension.
  struct Part {
    int64_t dim = 0;
    SizePolynomial start, end, length; ///< the elements are `length`, each `step`th
    int64_t step = 1;
    bool isPlace = false; ///< of one element, whose dimension goes
  };
  std::optional<Part> partOf(int input, int64_t dim, const language::Expr &index);
  /// The indices between the brackets before "..." and behind it.
  struct Brackets {
    std::vector<const language::Expr *> before, behind;
    int64_t first = 0, last = 0; ///< dimensions of the tensor that they name
    int64_t named = 0;           ///< that its shape has, "..." aside
  };
  std::optional<Brackets> bracketsOf(int input, const language::Expr &given);
  std::optional<int> put(int table, std::span<const Part> parts, int value,
                         const language::Expr &target);
  std::optional<int> spaced(int table, const Part &part, int value, const language::Expr &target);
  std::optional<int> indexed(int input, int64_t dim, const language::Expr &index);
  std::optional<int> narrowed(int input, int64_t dim, const SizePolynomial &start,
                              const SizePolynomial &length, int64_t step, SourceRange range);
  std::optional<int> squeezed(int input, std::vector<int64_t> dims, SourceRange range);
  std::optional<int> flipped(int input, const std::vector<int64_t> &dims, SourceRange range);
  std::optional<int> joinCall(const Call &call);
  std::optional<int> catCall(const Call &call, const language::Expr &tensors,
                             const language::Expr *dim);
  std::optional<int> joined(const std::vector<int> &parts, int64_t dim, SourceRange range);
  std::optional<int> padCall(const Call &call, int input, const language::Expr &pad,
                             const language::Expr *mode, const language::Expr *value);
  std::optional<int> padded(int input, int64_t dim, const SizePolynomial &before,
                            const SizePolynomial &after, const std::string &mode, double value,
                            SourceRange range);
  std::optional<int> rollCall(const Call &call, int input, const language::Expr &shifts,
                              const language::Expr &dims);
  std::optional<int> diffCall(const Call &call, int input, const language::Expr *n,
                              const language::Expr *dim);
  std::optional<int> rotateCall(const Call &call, int input, const language::Expr *k,
                                const language::Expr *dims);
  std::optional<int64_t> literalOf(const Call &call, const language::Expr *value,
                                   int64_t otherwise);
  /// An integer made of sizes.
  std::optional<SizePolynomial> readSize(const language::Expr &expr);
  /// Where sizes decide it, it becomes a constraint of the operator.
  void expectNotNegative(const SizePolynomial &value, const std::string &what, SourceRange range);
  /// Counted from the end.
  std::optional<int64_t> readDim(int input, int64_t dim, const std::string &name,
                                 SourceRange range);
  SizePolynomial sizeOf(int input, int64_t dim) const;
  using Sizes = std::vector<SizePolynomial>;
  std::optional<int> shapeCall(const Call &call);
  std::optional<SizePolynomial> exactQuotient(const SizePolynomial &whole, const SizePolynomial &by,
                                              SourceRange range);
  void expectWhole(const SizePolynomial &before, const SizePolynomial &after, SourceRange range);
  std::optional<int> inferredReshape(int input, size_t last, Sizes sizes, SourceRange range);
  std::optional<int> reshaped(int input, const Sizes &sizes, SourceRange range);
  std::optional<int> flattened(int input, int64_t first, int64_t last, SourceRange range);
  std::optional<int> unflattened(int input, int64_t dim, Sizes sizes, SourceRange range);
  std::optional<int> expanded(int input, Sizes sizes, SourceRange range);
  std::optional<int> repeatedAlong(int input, int64_t dim, const SizePolynomial &count, bool isEach,
                                   SourceRange range);
  std::optional<int> repeated(int input, const Sizes &counts, const std::string &name,
                              SourceRange range);
  std::optional<int> windowed(int input, int64_t dim, int64_t size, int64_t step, int64_t dilation,
                              SourceRange range);
  std::optional<int> triangle(int input, const std::string &name, const language::Expr *diagonal,
                              SourceRange range);

  // ---- of the body ----

  std::optional<int> read(const language::Expr &expr) { return body.read(expr); }
  const language::Expr *resolved(const language::Expr *given) const { return body.resolved(given); }
  std::optional<std::map<std::string, const language::Expr *>>
  matched(const Call &call, const std::string &name, const std::vector<Argument> &arguments) {
    return body.matched(call, name, arguments);
  }
  std::optional<int> append(Node node, SourceRange range) {
    return body.append(std::move(node), range);
  }
  Diagnostic &fail(std::string code, SourceRange range, std::string message) {
    return body.fail(std::move(code), range, std::move(message));
  }
  bool failed() const { return body.failed(); }

  BodyExpressions &body;
  Operator &op;
  const BodyPlace &place;
  Diagnostics &diags;
  const std::vector<std::vector<DType>> &types; ///< per type of the operator, of every node
};

} // namespace nereid::definition
