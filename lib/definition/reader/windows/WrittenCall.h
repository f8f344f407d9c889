// SPDX-License-Identifier: Apache-2.0
// A call that is written out: its arguments, and operations on tensors of the graph. A value that
// is nothing stands for an error that was reported; what is made of it is nothing, too.
#pragma once

#include "lib/definition/reader/moves/BodyMoves.h"

namespace nereid::definition {

using Value = std::optional<int>;

class WrittenCall {
public:
  using Call = BodyExpressions::Call;
  using Sizes = std::vector<SizePolynomial>;

  WrittenCall(BodyExpressions &body, const Call &call, const Function &function);

  const std::string name;
  /// The number in the name, as of max_pool2d; 2 without one.
  size_t sides() const;

  // ---- arguments ----

  bool match();
  Value operand(const std::string &argument);
  /// Integers made of sizes: `count` of them, or one for all; none that are smaller than `least`,
  /// where they are numbers. Without the argument its default, or `otherwise`.
  std::optional<Sizes> sizes(const std::string &argument, size_t count,
                             std::optional<int64_t> least = std::nullopt);
  std::optional<Sizes> list(const std::string &argument);
  std::optional<std::vector<int64_t>> integers(const std::string &argument, size_t count,
                                               int64_t least);
  std::optional<int64_t> integer(const std::string &argument, int64_t least);
  std::optional<bool> flag(const std::string &argument);
  std::optional<std::string> word(const std::string &argument);
  /// Numbers that are known when the definition is read.
  std::optional<std::vector<double>> numbers(const std::string &argument, size_t count);
  bool isNone(const std::string &argument);
  /// A string.
  bool isWord(const std::string &argument);
  bool isList(const std::string &argument);
  /// A dimension of the tensor, counted from the end.
  std::optional<int64_t> dimension(const std::string &argument, int tensor);

  // ---- what is known of tensors ----

  size_t rank(int tensor) const;
  SizePolynomial size(int tensor, int64_t dim) const;
  const SymbolicShape &shape(int tensor) const;
  bool isAlwaysFloat(int tensor) const;
  bool expectFloats(int tensor);
  bool isAlwaysInteger(int tensor) const;
  /// No tensor.
  bool isNumber(int node) const;
  /// Its rank is not known.
  bool isOpen(int tensor) const;
  /// With `sides` dimensions behind one or two others.
  Value image(const std::string &argument);
  void expectNotNegative(const SizePolynomial &value, const std::string &what);
  /// One size divides the other in every call.
  void expectDivisible(const SizePolynomial &numerator, const SizePolynomial &denominator);
  /// An input becomes one that is contiguous; what is computed is so.
  void expectContiguous(int tensor);
  std::nullopt_t fail(const std::string &code, const std::string &message, const std::string &help);
  bool failed() const { return body.errorCount() > errorsBefore; }

  // ---- operations ----

  Value apply(const std::string &op, std::vector<Value> operands);
  /// What assignments in the language of bodies make of operands, the last one's value.
  Value writtenOut(const std::string &statements, const std::map<std::string, Value> &operands);
  /// The same; whatever it reads at indices of a dimension without elements is 0.
  Value writtenOutOfPerhapsNothing(const std::string &statements,
                                   const std::map<std::string, Value> &operands);
  /// The same elements, in memory of their own.
  Value copied(Value x);
  /// In the type that the argument says.
  Value converted(Value x, const std::string &argument);
  /// The number everywhere.
  Value filled(SymbolicShape shape, int64_t value, const std::string &dtype);
  Value number(double value);
  Value integerNumber(int64_t value);
  Value sizeNumber(const SizePolynomial &value);
  Value reduced(const std::string &op, Value x, std::vector<int64_t> dims, bool keepsDims = false);
  /// Of all elements, without a correction; dimensions stay.
  Value variance(Value x, std::vector<int64_t> dims);
  Value position(const std::string &op, Value x, int64_t dim);
  Value padded(Value x, int64_t dim, const SizePolynomial &before, const SizePolynomial &after,
               double value = 0, const std::string &mode = "constant");
  Value windows(Value x, int64_t dim, int64_t size, int64_t step, int64_t dilation);
  Value narrowed(Value x, int64_t dim, const SizePolynomial &start, const SizePolynomial &length,
                 int64_t step = 1);
  /// x, whose dimension has that size: where names say it, a constraint does from now on.
  Value sized(Value x, int64_t dim, const SizePolynomial &wanted);
  Value flipped(Value x, int64_t dim);
  Value permuted(Value x, std::vector<int64_t> order);
  Value unsqueezed(Value x, int64_t dim);
  Value squeezed(Value x, int64_t dim);
  /// The last `last` dimensions become these.
  Value reshaped(Value x, size_t last, Sizes sizes);
  Value flattened(Value x, int64_t first, int64_t last);
  Value unflattened(Value x, int64_t dim, Sizes sizes);
  Value repeatedEach(Value x, int64_t dim, const SizePolynomial &count);
  Value expanded(Value x, Sizes sizes);
  Value resampled(Value x, int64_t dim, const SizePolynomial &length, const SizePolynomial &start,
                  const SizePolynomial &step, const SizePolynomial &divisor,
                  const std::optional<SizePolynomial> &places = std::nullopt, int64_t least = 0);
  Value spread(Value x, int64_t dim, const SizePolynomial &length, int64_t step, int64_t dilation,
               const SizePolynomial &before);
  /// 0, 1, 2 and so on: int64.
  Value positions(const SizePolynomial &length);
  Value joined(const std::vector<Value> &parts, int64_t dim);
  Value convolution(Value x, Value weight, Value bias, const std::vector<int64_t> &stride,
                    const std::vector<int64_t> &padding, const std::string &word,
                    const std::vector<int64_t> &dilation, int64_t groups);
  /// A number for each element, in the tensor's type; they are not NaN.
  Value inTypeOf(Value x, Value numbers);
  /// In float32, or float64 where the operator or x is.
  Value widened(Value x);
  /// Floats, in the type of `like`.
  Value castTo(Value x, int like);
  /// Along the last dimension: x[index[i]] += values[i].
  Value addedAt(Value x, Value index, Value values);
  /// x[i, j] and so on: of the first dimensions.
  Value readAt(Value x, const std::vector<Value> &indices);
  /// x[index[i]] = values[i].
  Value putAt(Value x, Value index, Value values);
  /// A vector for dimension `dim` of a tensor: with dimensions of size 1 behind it.
  Value along(Value vector, int64_t dim);
  SourceRange range() const { return call.whole->range; }

private:
  const language::Expr *given(const std::string &argument);
  const Argument &form(const std::string &argument) const;
  Value append(Node node);
  Value written(const std::string &op, Value x, Value index, Value values);

  BodyExpressions &body;
  BodyMoves moves;
  const Call &call;
  const Function &function;
  std::map<std::string, const language::Expr *> arguments;
  const int errorsBefore;
};

/// `call`'s windows of one function, side by side.
struct WindowSides {
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool isCeil = false;
  size_t count() const { return kernel.size(); }
  /// The reach of a window beyond its first element.
  int64_t reach(size_t side) const { return (kernel[side] - 1) * dilation[side]; }
  /// Padding that lies behind so that the last window is whole.
  int64_t behind(size_t side) const;
  /// How many windows there are.
  SizePolynomial windows(size_t side, const SizePolynomial &size) const;
};
/// Of arguments kernel_size, stride, padding, dilation and ceil_mode, where the function has them.
std::optional<WindowSides> windowSides(WrittenCall &call);
/// The last dimensions become windows, whose places are the last dimensions then.
Value windowed(WrittenCall &call, Value x, const WindowSides &sides, double fill);
/// How many elements of a window are counted along one side: those of the image, and with the
/// padding those up to its end, as ceil_mode may go beyond.
Value countedAlong(WrittenCall &call, const WindowSides &sides, size_t side,
                   const SizePolynomial &size, bool countsPadding);
/// What sums of windows are divided by: one number, or one for each window.
Value windowDivisor(WrittenCall &call, int x, const WindowSides &sides);
/// Windows, with their places as last dimensions, back over sizes: summed where they overlap.
Value spreadBack(WrittenCall &call, Value x, const WindowSides &sides,
                 const std::vector<SizePolynomial> &sizes);

} // namespace nereid::definition
