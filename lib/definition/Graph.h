// SPDX-License-Identifier: Apache-2.0
// An operator as data: what it computes (a graph of PyTorch-named operations over symbolic shapes),
// on which cases, how exact and how fast. definition/ makes it from TOML; eager/, generator/,
// measure/ and report/ read it. No code generation here.
#pragma once

#include "lib/definition/constraints/Constraint.h"
#include "lib/support/Diagnostics.h"
#include "runtime/elements/DType.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nereid::definition {

/// One dimension: a symbol ("D"), "..." (any number of leading dimensions), or a constant.
struct Dim {
  std::string symbol; ///< empty for a constant
  int64_t constant = 0;
  bool isRest() const { return symbol == "..."; }
  bool operator==(const Dim &) const = default;
};
using SymbolicShape = std::vector<Dim>;

/// What the symbols of one case are; "..." binds to a list.
struct Binding {
  std::map<std::string, int64_t> symbols;
  std::vector<int64_t> rest;
};
/// E0604 when a symbol is unbound.
Result<std::vector<int64_t>> bind(const SymbolicShape &shape, const Binding &binding);

/// "[..., D]", "[C, 1]", "[]".
std::string text(const SymbolicShape &shape);

/// An attribute of an operation: `dim=-1`, `approximate="tanh"`, `eps=1e-5`, `keepdim=True`.
using Attribute = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;

/// One operation. `op` is PyTorch's functional name in operations.def ("add", "gelu", "softmax",
/// "mean", …). Inputs are node numbers; operands with a default (clamp's bounds, layer_norm's
/// weight, bias and eps) are always present, as constants when the body leaves them out. Leaves:
///   "input"     tensor parameter;  "scalar" number parameter: node i is parameter i
///   "constant"  number in the body, attribute "value" (double), shape []
///   "size"      number made of sizes, see operations/SizeExpression.h, shape []
/// Numbers without a fraction have the attribute "integer" (of a constant: its value), operands
/// that a body left out the attribute "default".
/// Attribute "dim" is a list of negative, ascending dimensions; absent means all of them.
struct Node {
  std::string op;
  std::vector<int> inputs;
  std::map<std::string, Attribute> attributes;
  SymbolicShape shape;
  std::string name;   ///< variable it was assigned to, parameter name, or ""
  std::string source; ///< the expression's text, for the baseline's comments
};

/// Of an input of integers: its values lie in [low, high), expressions of sizes.
struct IndexRange {
  std::string low = "0", high;
  /// No value twice along this dimension, counted from the end; 0: any may meet.
  int64_t distinct = 0;
};

struct Parameter {
  std::string name;
  SymbolicShape shape;
  std::optional<DType> fixedDtype; ///< none: the operator's type
  bool isScalar = false;           ///< a number argument such as eps; `value` is its default
  bool isInteger = false;          ///< of a number argument: the default has no fraction
  double value = 0;
  std::string description;
  std::optional<IndexRange> range; ///< what is promised of its values
  /// A number argument that is a size, which no tensor brings: its shape is the symbol of its name.
  bool isSize() const { return isScalar && !shape.empty(); }
};

/// A named set of sizes.
struct Case {
  std::string name;
  Binding binding;
};

/// A place where the operator is used: a piece of code, and what it is about.
struct Scene {
  std::string name, description, code;
};

struct Tolerance {
  double relative = 0, absolute = 0;
  std::string derivation; ///< how it follows from type and reduction length
};

struct Operator {
  std::string name, summary, path;
  std::string requirement; ///< what was asked for, as it was asked; may have several lines
  std::vector<Scene> scenes;
  std::vector<Constraint> constraints;
  std::vector<Parameter> parameters;
  std::vector<DType> dtypes; ///< types the operator is defined for
  std::vector<Node> nodes;   ///< topological; first the parameters, in order
  std::vector<int> outputs;  ///< node numbers
  std::vector<std::string> outputNames, outputDescriptions;
  std::string body;                               ///< source text of the computation
  std::vector<std::optional<DType>> outputDtypes; ///< declared; none: the operator's type
  std::vector<Case> accuracyCases, performanceCases;
  /// Of each output the parameter in whose memory it is written, -1: memory of its own. Empty where
  /// all outputs have that.
  std::vector<int> outputMemory;
  /// Sums at indices are the same in each run: no order is left to chance.
  bool isDeterministic = false;
  double targetSpeedup = 1.0; ///< over the unfused baseline
  int maxRounds = 5;
};

/// Reads and checks a definition: E0601 file, E0602 missing or malformed key, E0603 unknown
/// function (with the nearest names), E0604 shapes do not broadcast, E0605 dtype unknown, E0608
/// body not understood. docs/definitions.md has the format.
std::optional<Operator> loadOperator(const std::string &path, Diagnostics &diags);
/// The same for a text already read; `path` is for messages only.
std::optional<Operator> parseOperator(const std::string &path, const std::string &text,
                                      Diagnostics &diags);

/// E0606 when the operator is not defined for the type.
Status checkDtype(const Operator &op, DType dtype);
/// The symbols' values from concrete input shapes, one shape per parameter (ignored for numbers; of
/// a size its value, or nothing for the default).
/// E0604 when rank or sizes disagree, naming the parameter and both shapes.
Result<Binding> bindShapes(const Operator &op, const std::vector<std::vector<int64_t>> &shapes);
/// The parameter in whose memory the output is written; -1: it has memory of its own.
int memoryOf(const Operator &op, size_t output);
/// Whether some input is written.
bool writesInputs(const Operator &op);
/// Every symbol of the parameters' shapes, in order of appearance; "..." included.
std::vector<std::string> symbolsOf(const Operator &op);
/// Type of every node when the operator runs in `dtype`, by PyTorch's promotion rules. Constants
/// and number parameters get the type they are computed in: the operator's.
std::vector<DType> nodeDtypes(const Operator &op, DType dtype);
/// Replaces composite operations (softmax, log_softmax, logsumexp, layer_norm, rms_norm, var with
/// correction 0, std with correction 0) by primitives; the result computes the same.
Operator decomposed(const Operator &op);
/// Bytes of all inputs and outputs together: what a run must hold.
double tensorBytes(const Operator &op, const Binding &binding, DType dtype);

/// Work of one case, counted on the graph: what must be read and written at least once, and the
/// floating-point operations (table in operations.def; exp and friends count as stated there).
struct Work {
  double bytesRead = 0, bytesWritten = 0, flops = 0;
  double bytes() const { return bytesRead + bytesWritten; }
  double intensity() const { return bytes() > 0 ? flops / bytes() : 0; }
};
Work countWork(const Operator &op, const Binding &binding, DType dtype);
/// What the unfused baseline moves: every intermediate written and read again.
Work countUnfusedWork(const Operator &op, const Binding &binding, DType dtype);

/// Derived from the type's epsilon and the longest reduction of the case.
Tolerance toleranceFor(const Operator &op, const Binding &binding, DType dtype);

} // namespace nereid::definition
