// SPDX-License-Identifier: Apache-2.0
// Functions that write into their first operand: x.add_(y), torch.relu_(x), x += y. The operand is
// an input of the definition, by its name. In the graph nothing is written: the name stands for the
// function's result from there on, converted to the input's type as PyTorch does, and the output
// that is this result has the input's memory (Operator::outputMemory).
//
//   out = x.add_(y)        out = torch.add(x, y), written where x lies
#pragma once

#include "lib/definition/reader/BodyExpressions.h"

namespace nereid::definition {

class BodyInPlace {
public:
  explicit BodyInPlace(BodyExpressions &body) : body(body) {}

  /// A function that only writes: what it writes as a text of its arguments and `self`.
  struct OwnForm {
    std::vector<std::pair<std::string, std::string>> arguments; ///< with defaults, "" is none
    bool isRandom = false;                                      ///< takes `seed` and `offset`
    std::string text;
    std::string ofTensor; ///< the text where the first argument is a tensor; "": none may be
  };

  /// "add_": PyTorch has it, or would name one of its functions so.
  static bool isFunction(const std::string &name);

  std::optional<int> call(const BodyExpressions::Call &call);
  /// F.relu(y, inplace=True), of a function that can.
  static bool isActivation(const BodyExpressions::Call &call);
  std::optional<int> activated(const BodyExpressions::Call &call);
  /// `x += y`, of an input.
  std::optional<int> augmented(const std::string &sign, const language::Expr &target,
                               const language::Expr &value, SourceRange range);

  /// `y[index] = v` and, with a sign, `y[index] += v`, of an input or of what was computed: indices
  /// of tensors, a mask `y[y > 1] = 0`, a part `y[:, 0] = 0`.
  std::optional<int> assigned(const std::string &sign, const language::Expr &target,
                              const language::Expr &value, SourceRange range);
  /// Whether the name is no input, but an input's memory, or shares its memory with another name,
  /// which would be changed, too: an error then. `written`: "y +="; `help`: "y = y + …".
  bool isElsewhere(const std::string &name, const std::string &written, const std::string &help,
                   SourceRange range);
  /// All names of a tensor stand for what was written into it. Numbers are never written.
  void replace(int before, int after);

  /// Whether the input of this name has been written into.
  bool isWritten(const std::string &input) const;
  /// Which outputs are written into inputs; false where a written input is no output, once.
  bool placeOutputs(SourceRange whole);

private:
  using Call = BodyExpressions::Call;

  /// Into a value that the body computed, which has no other name.
  std::optional<int> writtenHere(const Call &call, const std::string &name,
                                 const language::Expr &owner);
  /// The input that the expression names.
  std::optional<int> target(const language::Expr *expr, const std::string &name, SourceRange range);
  std::optional<int> valueOf(const Call &call, const std::string &name, int input);
  std::optional<int> filled(const Call &call, const OwnForm &form, int input);
  std::optional<int> replaced(int whole, const std::string &sign, const language::Expr &target,
                              const language::Expr &value, SourceRange range);
  std::optional<int> masked(int whole, int mask, const std::string &sign,
                            const language::Expr &target, const language::Expr &value,
                            SourceRange range);
  bool isInputElsewhere(const std::string &name, const std::string &written,
                        const std::string &help, SourceRange range);
  bool isViewElsewhere(const std::string &name, const std::string &written, const std::string &help,
                       SourceRange range);
  /// The mask that is all that stands in the brackets.
  std::optional<int> maskIn(const language::Expr &index);
  int now(int input) const;              ///< the node that the input's name stands for
  int numberIn(const std::string &text); ///< the node
  std::optional<int> copied(const Call &call, int input);
  std::optional<int> written(int input, const std::string &name, std::optional<int> value,
                             SourceRange range);
  /// To the type of what is written, where the result has another one that PyTorch writes there.
  std::optional<int> converted(int whole, int value, const std::string &name, SourceRange range);
  int viewed(int node) const; ///< what the node is a view of, or itself
  bool hasView(int input, const std::string &name, SourceRange range);
  const Node &at(int node) const { return body.op.nodes[static_cast<size_t>(node)]; }

  BodyExpressions &body;
};

} // namespace nereid::definition
