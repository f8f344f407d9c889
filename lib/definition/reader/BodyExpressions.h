// SPDX-License-Identifier: Apache-2.0
// Expressions of a body to graph nodes: operators, PyTorch functions and methods, folding of
// numbers. Every refusal says what can be written instead.
#pragma once

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/SizeAlgebra.h"
#include "lib/definition/reader/Body.h"
#include "lib/definition/reader/BodyConstants.h"
#include "lib/definition/reader/DefinedFunctions.h"
#include "lib/language/syntax/Ast.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

namespace nereid::definition {

class BodyExpressions {
public:
  BodyExpressions(Operator &op, const BodyPlace &place, int indentation, Diagnostics &diags);

  /// Node of the expression, or nothing after an error was reported.
  std::optional<int> read(const language::Expr &expr);
  /// `left text right` with a binary operator's text.
  std::optional<int> binary(const std::string &text, const language::Expr &left,
                            const language::Expr &right, SourceRange range);
  /// `torch.topk(x, 8)`; max and min, with a dimension.
  bool returnsTwo(const language::Expr &expr);
  /// `x.split(8)` and its like.
  bool returnsPieces(const language::Expr &expr);
  /// The tensors of such a call, or nothing after an error was reported.
  std::optional<std::vector<int>> readSeveral(const language::Expr &expr);
  void assign(const std::string &name, std::optional<int> node, SourceRange range);
  /// Gives the name a string, True, False, None or a tuple of integers, which no tensor is made of;
  /// false where the expression is no such thing.
  bool assignLiteral(const std::string &name, const language::Expr &value, SourceRange range);
  void assignInteger(const std::string &name, int64_t value, SourceRange range);
  /// Gives the name a list of these entries.
  void assignSequence(const std::string &name, std::vector<int> nodes, SourceRange range);
  /// Gives a name, or as many names as there are values, what they stand for. `isOwn`: of a list's
  /// `for`, whose names are no others of the body.
  bool assignTargets(const language::Expr &target, const std::vector<int> &values, bool isOwn);
  std::optional<int> lookup(const std::string &name) const;
  /// Whether the body's inputs have the name, which no function or text in progress shadows.
  bool isInput(const std::string &name) const;
  /// The number of entries of the list that the name stands for.
  std::optional<size_t> listLength(const std::string &name) const;
  /// Also true when the assigned expression was refused.
  bool wasAssigned(const std::string &name) const { return assigned.count(name) != 0; }

  /// From here on the one divides the other in every call: a constraint of the definition.
  void expectDivisible(const SizePolynomial &numerator, const SizePolynomial &denominator,
                       SourceRange range);
  /// The divisor of "Q // H" is not 0.
  void expectDivisor(const std::string &quotient, SourceRange range);
  /// The constraint of this text.
  void expectConstraint(const std::string &text, SourceRange range);

  Diagnostic &fail(std::string code, SourceRange range, std::string message);
  /// Reports it there.
  Diagnostic &failWith(Diagnostic error, SourceRange range);
  /// A diagnostic of the parser, moved to its place in the definition.
  void report(Diagnostic diagnostic);
  bool failed() const { return errors > 0; }
  int errorCount() const { return errors; }

  /// What is known of expressions now.
  BodyConstants &knownValues() { return known; }
  /// The statement that is read is one of a function of PyTorch's that is written out in others.
  bool isInText() const { return callRange.has_value(); }
  /// Reads the statements of such a text; false after an error was reported.
  using ReadText = std::function<bool(const std::vector<language::StmtPtr> &)>;
  void readTextsBy(ReadText with) { readText = std::move(with); }
  DefinedFunctions &definedFunctions() { return defined; }

  /// Errors say it as a note until it is left: "turn 3 of the loop in line 5".
  void enter(std::string place) { within.push_back(std::move(place)); }
  void leave() { within.pop_back(); }
  size_t nodeCount() const { return op.nodes.size(); }

private:
  friend class DefinedFunctions; ///< which gives names other meanings while one is read
  friend class BodyIndexing;     ///< tensors in brackets, and functions with indices
  friend class BodyClassLosses;
  friend class BodyCasts;
  friend class BodyInPlace;
  friend class BodyMoves;
  friend class BodyWindows;
  friend class WrittenCall;
  friend class BodyCreation;
  friend class BodySequences; ///< lists and tuples
  friend class TypeLimits;

  /// The entries of a list or a tuple; names may share one.
  using Sequence = std::vector<int>;

  struct Call {
    std::string function;
    const language::Expr *receiver = nullptr; ///< of a method
    std::vector<const language::Expr *> positional;
    const language::Expr *whole = nullptr;
    bool isMath = false; ///< math.sqrt(2.0)
  };

  std::optional<int> readName(const language::Expr &expr);
  std::optional<int> readUnary(const language::Expr &expr);
  std::optional<int> readCompare(const language::Expr &expr);
  std::optional<int> readAttribute(const language::Expr &expr);
  std::optional<int> sizeOf(const language::Expr &tensor, const language::Expr &place,
                            SourceRange range);
  std::optional<int> readCall(const language::Expr &expr);
  /// A call of PyTorch's.
  std::optional<int> called(const Call &call);
  /// `opensLists`: arguments that are lists become their entries, which are read for that.
  std::optional<Call> takenApart(const language::Expr &expr, bool opensLists);
  std::optional<int> elementCount(const language::Expr &tensor, SourceRange range);
  bool isListOfNumbers(const language::Expr &expr) const;
  std::optional<int> mathCall(const Call &call);
  bool isOfPair(const Call &call) const;
  std::optional<std::pair<int, int>> pairCall(const Call &call);
  std::optional<std::pair<int, int>> reductionPairCall(const Call &call);
  std::optional<int> partOfSeveral(const language::Expr &expr);
  std::optional<int> onlyOfPair(const Call &call);
  std::optional<int> onlyOfWritten(const Call &call);
  bool checkLength(const Node &node, SourceRange range);
  /// E0605 where two of the nodes are tensors of different types.
  bool expectOneType(const std::string &name, std::span<const int> tensors, SourceRange range);
  /// Of PyTorch's products that are defined for vectors, matrices or batches alone.
  bool checkRanks(const std::string &name, const Node &node, SourceRange range);
  bool expectElement(const Node &node, SourceRange range);
  std::optional<int> operationCall(const Call &call, const Operation &operation);
  /// The expressions of a call by argument, as Python matches them.
  std::optional<std::map<std::string, const language::Expr *>>
  matched(const Call &call, const std::string &name, const std::vector<Argument> &arguments);
  const language::Expr *resolved(const language::Expr *given) const;
  std::optional<int> functionCall(const Call &call, const Function &function);
  bool isMetBy(const std::string &when, const std::map<std::string, int> &operands,
               const std::map<std::string, const language::Expr *> &others) const;
  /// Statements in the place of a call, the last of which assigns its value, with these names and
  /// no others.
  std::optional<int> writtenOut(const Call &call, const std::string &statements,
                                std::map<std::string, int> operands,
                                std::map<std::string, const language::Expr *> others = {});
  static const std::vector<std::string> &swapNames();
  std::optional<int> swapCall(const Call &call);
  std::optional<int> einsumCall(const Call &call);
  std::optional<int> sumToSizeCall(const Call &call);
  std::optional<int> swappedMatrix(int input, const std::string &name, SourceRange range);
  std::optional<int> swapped(int input, const std::string &name, int64_t dim0, int64_t dim1,
                             SourceRange range);
  bool scaleOperand(const language::Expr *alpha, Node &node, SourceRange range);
  std::optional<int> truncatedQuotient(int a, int b, SourceRange range);
  std::optional<int> roundedQuotient(const language::Expr &mode, Node node, SourceRange range);
  std::optional<int> reducedLoss(const std::string &name, const language::Expr *reduction, int loss,
                                 SourceRange range);
  /// Converts the first operand to a type of BodyCasts, which may be none after an error.
  bool convertOperand(const std::optional<std::string> &target, Node &node, SourceRange range);
  /// Tensors without dimensions are converted to the type that those with them have, where that
  /// decides.
  bool convertUnranked(Node &node, SourceRange range);
  bool readArgument(const Argument &argument, const language::Expr &value, Node &node);
  bool readDims(const Argument &argument, const language::Expr &value, Node &node);
  std::optional<std::vector<std::string>> sizeTexts(std::span<const language::Expr *const> entries);
  bool readTrailingShape(const language::Expr &value, Node &node);
  /// One literal integer or a list of them, as they are written.
  bool readNumbers(const Argument &argument, std::span<const language::Expr *const> entries,
                   Node &node);
  bool fillDefault(const Argument &argument, Node &node, SourceRange range);

  std::optional<int> apply(const std::string &op, std::vector<int> inputs, SourceRange range);
  Result<SymbolicShape> shapeOf(const Node &node, SourceRange range);
  /// Infers shape and type, checks them and appends.
  std::optional<int> append(Node node, SourceRange range);
  std::optional<int> fold(const Node &node);
  int constant(double value, std::string source);
  /// A number without a fraction: it leaves integers what they are.
  int integerConstant(int64_t value, std::string source);
  /// A number made of sizes.
  int size(std::string text, bool isWhole, SourceRange range);
  std::optional<int> joinSizes(const std::string &name, const std::vector<int> &inputs,
                               SourceRange range);
  int addLeaf(Node node);
  std::string sourceText(SourceRange range) const;
  SourceRange moved(SourceRange range) const;
  /// Of every type that the operator is defined for.
  bool isAlways(int node, bool (*holds)(DType)) const;

  Operator &op;
  const BodyPlace &place;
  int indentation;
  Diagnostics &diags;
  int errors = 0;
  std::map<std::string, int> names;
  /// Inside of a function's text: its arguments that are no operands; null is one left out.
  std::map<std::string, const language::Expr *> literals;
  std::map<std::string, std::shared_ptr<Sequence>> sequences;
  std::set<std::string> rebound;        ///< inputs whose names stand for other values now
  std::optional<SourceRange> callRange; ///< of the call whose text is read
  ReadText readText;
  std::vector<std::string> within;
  std::set<std::string> assigned;
  BodyConstants known;
  DefinedFunctions defined;
  std::vector<DType> dtypes;             ///< the operator's
  std::vector<std::vector<DType>> types; ///< per type of the operator, of every node
  std::vector<std::string> lines;
};

} // namespace nereid::definition
