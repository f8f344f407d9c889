// SPDX-License-Identifier: Apache-2.0
// loadOperator: a definition's TOML (docs/definitions.md) to an Operator. Reports every problem it
// can find in one run; an operator comes back only when there was none.
#include "lib/definition/Limits.h"
#include "lib/definition/constraints/ConstraintReader.h"
#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/sizes/SizeRules.h"
#include "lib/definition/reader/Body.h"
#include "lib/definition/reader/CaseReader.h"
#include "lib/definition/reader/TomlReader.h"
#include "lib/definition/reader/sizes/ComputedDims.h"
#include "lib/definition/reader/tables/DataReader.h"
#include "lib/definition/reader/tables/GradientReader.h"
#include "lib/definition/reader/tables/SceneReader.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

namespace nereid::definition {
namespace {

constexpr const char *availableTypes =
    "bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64";
/// Of inputs and outputs alone.
constexpr const char *fixedTypes = "bool, int8 to int64, uint8 to uint64, float16, bfloat16, "
                                   "float32, float64, float8_e4m3fn, float8_e5m2";

bool isName(std::string_view text) {
  bool begins =
      !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_');
  return begins && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '_';
         });
}

/// Sums and products of names and integers.
bool isOfSizes(const language::Expr &expr) {
  using language::ExprKind;
  const bool isSign = expr.kind == ExprKind::Unary && expr.text == "-";
  const bool isBinary =
      expr.kind == ExprKind::Binary && (expr.text == "+" || expr.text == "-" || expr.text == "*" ||
                                        expr.text == "//" || expr.text == "%");
  return expr.kind == ExprKind::Name || expr.kind == ExprKind::Integer ||
         ((isSign || isBinary) &&
          std::all_of(expr.operands.begin(), expr.operands.end(),
                      [](const language::ExprPtr &each) { return isOfSizes(*each); }));
}

class Loader {
public:
  Loader(TomlReader &toml, Diagnostics &diags) : toml(toml), diags(diags) {}

  ComputedDims dims() {
    readOperator(toml.root());
    readInputs(toml.root());
    return toml.failed() ? ComputedDims() : computed;
  }

  std::optional<Operator> load() {
    const toml::table &root = toml.root();
    toml.rejectUnknownKeys(
        root, "the definition",
        {"operator", "scene", "inputs", "outputs", "gradient", "accuracy", "performance"});
    readOperator(root);
    op.scenes = readScenes(toml);
    readInputs(root);
    readOutputs(root);
    if (toml.failed()) {
      return std::nullopt;
    }
    readConstraints(root);
    checkRanges();
    addParameterNodes();
    readData(toml, op, diags);
    if (toml.failed()) {
      return std::nullopt;
    }
    readGradients(toml, op);
    if (!readBody(op, bodyPlace, diags)) {
      return std::nullopt;
    }
    checkOutputs();
    checkTypeConstraints(root);
    readCases(root);
    return toml.failed() || hasBadConstraint ? std::nullopt
                                             : std::optional<Operator>(std::move(op));
  }

private:
  void readOperator(const toml::table &root) {
    const toml::table *table = toml.subtable(root, "operator", true);
    if (!table) {
      return;
    }
    constexpr std::string_view what = "[operator]";
    toml.rejectUnknownKeys(
        *table, what,
        {"name", "summary", "requirement", "constraints", "dtypes", "body", "deterministic"});
    op.path = toml.filePath();
    op.name = toml.string(*table, what, "name", true).value_or("");
    if (const toml::node *node = table->get("name"); node && !isName(op.name)) {
      toml.fail("E0602", node->source(),
                fmt::format("'name' expects letters, digits and '_', but got '{}'", op.name));
    }
    op.summary = toml.line(*table, what, "summary", true).value_or("");
    op.requirement = readProse(toml, *table, what, "requirement", false).value_or("");
    readDtypes(*table);
    if (const toml::node *node = table->get("deterministic")) {
      op.isDeterministic = node->is_boolean() && node->as_boolean()->get();
      if (!node->is_boolean()) {
        toml.fail("E0602", node->source(), "'deterministic' expects true or false");
      }
    }
    op.body = toml.string(*table, what, "body", true).value_or("");
    if (const toml::node *body = table->get("body")) {
      placeBody(body->source());
    }
  }

  void readDtypes(const toml::table &table) {
    std::vector<std::string> names =
        toml.strings(table, "[operator]", "dtypes", true).value_or(std::vector<std::string>{});
    const toml::node *node = table.get("dtypes");
    for (const std::string &name : names) {
      std::optional<DType> dtype = parseDType(name);
      if (!dtype || isFloat8(*dtype)) {
        toml.fail("E0605", node->source(),
                  dtype ? fmt::format("an operator cannot be defined for the type '{}'", name)
                        : fmt::format("unknown type '{}'", name))
            .withHelp(fmt::format("available: {}", availableTypes));
      } else if (std::find(op.dtypes.begin(), op.dtypes.end(), *dtype) == op.dtypes.end()) {
        op.dtypes.push_back(*dtype);
      }
    }
    if (names.empty() && node && node->is_array()) {
      toml.fail("E0602", node->source(), "'dtypes' expects at least one type");
    }
  }

  /// A multi-line string's text begins on the line after its quotes when nothing follows them.
  void placeBody(const toml::source_region &where) {
    bodyPlace.path = toml.filePath();
    bodyPlace.fileText = toml.fileText();
    bodyPlace.firstLine = static_cast<int>(where.begin.line);
    bodyPlace.firstColumn = static_cast<int>(where.begin.column) + 1;
    std::istringstream in(toml.fileText());
    std::string line;
    for (int i = 0; i < bodyPlace.firstLine && std::getline(in, line); ++i) {
    }
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) {
      line.pop_back();
    }
    size_t quotes = where.begin.column - 1;
    std::string opening = quotes < line.size() ? line.substr(quotes) : "";
    if (opening == "\"\"\"" || opening == "'''") {
      ++bodyPlace.firstLine;
      bodyPlace.firstColumn = 1;
    } else if (opening.rfind("\"\"\"", 0) == 0 || opening.rfind("'''", 0) == 0) {
      bodyPlace.firstColumn += 2;
    }
  }

  /// Dimensions may be computed of sizes: "N - 1".
  std::optional<SymbolicShape> readShape(const toml::table &table, const std::string &what) {
    std::optional<std::vector<std::string>> entries =
        toml.strings(table, what, "shape", true, /*integersToo=*/true);
    if (!entries) {
      return std::nullopt;
    }
    for (std::string &entry : *entries) {
      entry = computed.replaced(entry);
    }
    auto shape = parseComputedShape(*entries);
    if (auto *problem = std::get_if<std::string>(&shape)) {
      toml.fail("E0602", table.get("shape")->source(), *problem);
      return std::nullopt;
    }
    return std::get<SymbolicShape>(shape);
  }

  std::optional<DType> readFixedDtype(const toml::table &table, const std::string &what) {
    std::optional<std::string> name = toml.string(table, what, "dtype", false);
    if (!name) {
      return std::nullopt;
    }
    std::optional<DType> dtype = parseDType(*name);
    const bool isCast = dtype && findOperation("to_" + std::string(torchName(*dtype))) != nullptr;
    if (!isCast) {
      toml.fail("E0605", table.get("dtype")->source(), fmt::format("unknown type '{}'", *name))
          .withHelp(fmt::format("available: {}", fixedTypes));
      return std::nullopt;
    }
    return dtype;
  }

  void readInputs(const toml::table &root) {
    const toml::table *inputs = toml.subtable(root, "inputs", true);
    if (!inputs) {
      return;
    }
    for (const toml::key *key : TomlReader::orderedKeys(*inputs)) {
      Parameter parameter;
      parameter.name = key->str();
      if (!isName(key->str())) {
        toml.fail("E0602", key->source(),
                  fmt::format("an input's name expects letters, digits and '_', but got '{}'",
                              key->str()));
        continue;
      }
      readInput(*inputs->get(key->str()), "[inputs." + parameter.name + "]", parameter);
      op.parameters.push_back(std::move(parameter));
    }
    nameDims(*inputs);
    const bool anyTensor = std::any_of(op.parameters.begin(), op.parameters.end(),
                                       [](const Parameter &p) { return !p.isScalar; });
    const bool anySize = std::any_of(op.parameters.begin(), op.parameters.end(),
                                     [](const Parameter &p) { return p.isSize(); });
    if (!anyTensor && !anySize && !toml.failed()) {
      toml.fail("E0602", inputs->source(), "[inputs] expects at least one tensor or size");
    }
    if (!anyTensor && op.dtypes.size() > 1 && !toml.failed()) {
      toml.fail("E0602", inputs->source(),
                "a definition without tensors expects one type in 'dtypes'")
          .withHelp("no argument of a call says which of them is meant");
    }
    for (const Parameter &size : op.parameters) {
      for (const Parameter &tensor : op.parameters) {
        const bool hasIt = size.isSize() && !tensor.isScalar &&
                           std::any_of(tensor.shape.begin(), tensor.shape.end(),
                                       [&](const Dim &dim) { return dim.symbol == size.name; });
        if (hasIt) {
          toml.fail("E0602", inputs->source(),
                    fmt::format("the size '{}' is an input, and '{}' brings it as well", size.name,
                                tensor.name))
              .withHelp("leave the input out: sizes of tensors are known by their names");
        }
      }
    }
  }

  /// Computed dimensions get names, and the body begins with the sizes that they give.
  void nameDims(const toml::table &inputs) {
    if (toml.failed()) {
      return;
    }
    size_t wrong = 0;
    Result<ComputedDims> named = nameComputedDims(op, wrong);
    if (!named) {
      const toml::table &input = *inputs.get(op.parameters[wrong].name)->as_table();
      const Diagnostic &problem = named.error();
      toml.fail(problem.code, input.get("shape")->source(), problem.message).withHelp(problem.help);
      return;
    }
    computed = std::move(*named);
    const ConstraintPlace place{toml.filePath(), toml.fileText(),
                                static_cast<int>(inputs.source().begin.line),
                                static_cast<int>(inputs.source().begin.column)};
    for (const std::string &text : computed.constraints) {
      hasBadConstraint |= !readConstraint(op, text, place, diags);
    }
    for (Parameter &parameter : op.parameters) {
      if (parameter.range) {
        parameter.range->low = computed.replaced(parameter.range->low);
        parameter.range->high = computed.replaced(parameter.range->high);
      }
    }
    const size_t indentation = std::min(op.body.find_first_not_of(" \t\n"), op.body.size());
    const size_t line = op.body.rfind('\n', indentation) + 1; // of the first statement
    std::string first;
    for (const ComputedDims::Named &size : computed.sizes) {
      first += fmt::format("{}{} = {}\n", op.body.substr(line, indentation - line), size.name,
                           size.text);
    }
    op.body.insert(line, first);
    bodyPlace.added = static_cast<int>(computed.sizes.size());
  }

  /// Numbers are passed on as doubles, which hold integers of 53 bits.
  void setNumber(const toml::node &node, Parameter &parameter) {
    constexpr int64_t most = int64_t{1} << 53;
    parameter.isScalar = true;
    parameter.isInteger = node.is_integer();
    const int64_t whole = node.is_integer() ? node.as_integer()->get() : 0;
    if (whole < -most || whole > most) {
      toml.fail("E0602", node.source(),
                fmt::format("number input '{}' expects at most 53 bits, but got {}", parameter.name,
                            whole))
          .withHelp("write the number into the body, where it may have 63 bits");
    }
    parameter.value =
        node.is_integer() ? static_cast<double>(whole) : node.as_floating_point()->get();
  }

  void readInput(const toml::node &node, const std::string &what, Parameter &parameter) {
    if (node.is_number()) {
      setNumber(node, parameter);
      return;
    }
    const toml::table *table = node.as_table();
    if (!table) {
      toml.fail(
          "E0602", node.source(),
          fmt::format("input '{}' expects a table with a shape, or a number", parameter.name));
      return;
    }
    parameter.description = toml.line(*table, what, "description", false).value_or("");
    if (table->contains("size")) {
      toml.rejectUnknownKeys(*table, what, {"size", "description"});
      const toml::node &node = *table->get("size");
      const auto size = toml.integer(*table, what, "size");
      if (size && *size < 0) {
        toml.fail("E0602", node.source(),
                  fmt::format("'size' expects a size of at least 0, but got {}", *size));
      } else if (size) {
        setNumber(node, parameter);
      }
      parameter.isScalar = true;
      parameter.shape = {{parameter.name, 0}};
      return;
    }
    if (table->contains("value")) {
      toml.rejectUnknownKeys(*table, what, {"value", "description"});
      parameter.isScalar = true;
      if (toml.number(*table, what, "value")) {
        setNumber(*table->get("value"), parameter);
      }
      return;
    }
    toml.rejectUnknownKeys(*table, what,
                           {"shape", "dtype", "description", "value", "range", "distinct", "data"});
    parameter.shape = readShape(*table, what).value_or(SymbolicShape{});
    parameter.fixedDtype = readFixedDtype(*table, what);
    readRange(*table, what, parameter);
  }

  /// range = [0, "N"], of integers; distinct = -1.
  void readRange(const toml::table &table, const std::string &what, Parameter &parameter) {
    auto ends = toml.strings(table, what, "range", false, /*integersToo=*/true);
    const toml::node *node = table.get("range");
    const std::optional<int64_t> distinct = toml.integer(table, what, "distinct");
    if (!node) {
      if (distinct) {
        toml.fail("E0602", table.get("distinct")->source(),
                  "'distinct' expects a range beside it, such as range = [0, \"N\"]");
      }
      return;
    }
    const bool isInteger = parameter.fixedDtype && !isFloat(*parameter.fixedDtype) &&
                           *parameter.fixedDtype != DType::Bool;
    const bool isPair = ends && ends->size() == 2;
    if (ends && (!isPair || !isInteger)) {
      toml.fail("E0602", node->source(),
                isPair ? "'range' expects an input of a fixed integer type"
                       : "'range' expects two ends, the second one outside")
          .withHelp("such as dtype = \"int64\" and range = [0, \"N\"], or [\"-N\", \"N\"] where "
                    "negative ones count from the end");
    }
    const auto rank = static_cast<int64_t>(parameter.shape.size());
    if (distinct && (*distinct >= 0 || -*distinct > rank ||
                     parameter.shape[static_cast<size_t>(rank + *distinct)].isRest())) {
      toml.fail("E0602", table.get("distinct")->source(),
                fmt::format("'distinct' expects a dimension counted from the end, -1 to {}, but "
                            "got {}",
                            -rank, *distinct));
      return;
    }
    if (isPair && isInteger) {
      parameter.range = IndexRange{(*ends)[0], (*ends)[1], distinct.value_or(0)};
      rangePlaces[parameter.name] = node->source();
    }
  }

  /// Ends are made of sizes, which all inputs give.
  void checkRanges() {
    Binding ones;
    for (const std::string &symbol : symbolsOf(op)) {
      ones.symbols[symbol] = 1;
    }
    for (Parameter &parameter : op.parameters) {
      bool isRead = true;
      for (const std::string &end : parameter.range
                                        ? std::vector{parameter.range->low, parameter.range->high}
                                        : std::vector<std::string>{}) {
        Diagnostics unused;
        const language::ExprPtr read = language::parseExpression("range", end, unused);
        if (!read || !isOfSizes(*read) || !evaluateSizes(end, ones)) {
          toml.fail("E0602", rangePlaces.at(parameter.name),
                    fmt::format("'range' of '{}' expects integers made of sizes, but got '{}'",
                                parameter.name, end))
              .withHelp("sizes are the names in the shapes of the inputs");
          isRead = false;
        }
      }
      if (!isRead) { // nothing can be drawn for the cases
        parameter.range.reset();
      }
    }
  }

  void readOutputs(const toml::table &root) {
    const toml::table *outputs = toml.subtable(root, "outputs", true);
    if (!outputs) {
      return;
    }
    for (const toml::key *key : TomlReader::orderedKeys(*outputs)) {
      std::string name(key->str());
      std::string what = "[outputs." + name + "]";
      const toml::table *table = outputs->get(name)->as_table();
      bool taken = std::any_of(op.parameters.begin(), op.parameters.end(),
                               [&](const Parameter &p) { return p.name == name; });
      if (!table || !isName(name) || taken) {
        toml.fail("E0602", key->source(),
                  taken ? fmt::format("'{}' is an input and an output", name)
                        : fmt::format("output '{}' expects a name and a table with a shape", name));
        continue;
      }
      toml.rejectUnknownKeys(*table, what, {"shape", "dtype", "description"});
      op.outputNames.push_back(name);
      op.outputDescriptions.push_back(toml.line(*table, what, "description", false).value_or(""));
      op.outputDtypes.push_back(readFixedDtype(*table, what));
      declaredShapes.push_back(readShape(*table, what).value_or(SymbolicShape{}));
      outputPlaces.push_back(key->source());
    }
    if (op.outputNames.empty() && !toml.failed()) {
      toml.fail("E0602", outputs->source(), "[outputs] expects at least one output");
    }
  }

  void readConstraints(const toml::table &root) {
    const toml::table &table = *toml.subtable(root, "operator", true);
    auto texts = toml.strings(table, "[operator]", "constraints", false);
    for (size_t i = 0; texts && i < texts->size(); ++i) {
      const toml::source_region &where = table.get("constraints")->as_array()->get(i)->source();
      // One character behind the opening quote.
      ConstraintPlace place{toml.filePath(), toml.fileText(), static_cast<int>(where.begin.line),
                            static_cast<int>(where.begin.column) + 1};
      hasBadConstraint |= !readConstraint(op, computed.replaced((*texts)[i]), place, diags);
    }
  }

  /// Those that no size decides: types, and the defaults of number inputs.
  void checkTypeConstraints(const toml::table &root) {
    for (DType dtype : op.dtypes) {
      for (const Constraint &constraint : op.constraints) {
        bool isAboutType = constraint.left.kind == ConstraintTerm::Kind::Type ||
                           constraint.left.kind == ConstraintTerm::Kind::TypeName;
        std::string why = isAboutType ? violation(constraint, op, {}, dtype) : "";
        if (!why.empty()) {
          toml.fail("E0617", root["operator"]["constraints"].node()->source(),
                    fmt::format("'{}' does not hold for {}: {}", constraint.text, torchName(dtype),
                                why))
              .withHelp("change the constraint, 'dtypes' or an input's 'dtype'");
        }
      }
    }
  }

  void addParameterNodes() {
    for (const Parameter &parameter : op.parameters) {
      Node node;
      node.op = parameter.isScalar ? "scalar" : "input";
      node.shape = parameter.isScalar ? SymbolicShape{} : computed.spelt(parameter.shape);
      node.name = node.source = parameter.name;
      if (parameter.isScalar && parameter.isInteger) {
        node.attributes["integer"] = static_cast<int64_t>(parameter.value);
      }
      op.nodes.push_back(std::move(node));
    }
  }

  void checkOutputs() {
    const SizeRules rules(op);
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      const Node &node = op.nodes[static_cast<size_t>(op.outputs[i])];
      if (node.shape != rules.named(declaredShapes[i])) {
        toml.fail("E0604", outputPlaces[i],
                  fmt::format("output '{}' is declared as {}, but the body computes {}",
                              op.outputNames[i], text(declaredShapes[i]), text(node.shape)));
      }
      checkOutputType(i);
    }
  }

  void checkOutputType(size_t output) {
    std::vector<DType> computed;
    for (DType dtype : op.dtypes) {
      computed.push_back(nodeDtypes(op, dtype)[static_cast<size_t>(op.outputs[output])]);
    }
    for (size_t i = 0; i < computed.size(); ++i) {
      DType expected = op.outputDtypes[output].value_or(op.dtypes[i]);
      if (computed[i] == expected) {
        continue;
      }
      bool isOne = std::count(computed.begin(), computed.end(), computed[i]) ==
                   static_cast<ptrdiff_t>(computed.size());
      toml.fail("E0605", outputPlaces[output],
                fmt::format("output '{}' expects {}, but for {} the body computes {}",
                            op.outputNames[output], torchName(expected), torchName(op.dtypes[i]),
                            torchName(computed[i])))
          .withHelp(isOne ? fmt::format("declare dtype = \"{}\"", torchName(computed[i]))
                          : fmt::format("an output has the operator's type, or one for all of "
                                        "them: give {} a definition of its own",
                                        torchName(op.dtypes[i])));
      return;
    }
  }

  void readCases(const toml::table &root) {
    CaseReader cases(toml, op, computed);
    if (const toml::table *accuracy = toml.subtable(root, "accuracy", false)) {
      toml.rejectUnknownKeys(*accuracy, "[accuracy]", {"cases"});
      cases.read(*accuracy, "[accuracy]", op.accuracyCases);
    }
    const toml::table *performance = toml.subtable(root, "performance", true);
    if (!performance) {
      return;
    }
    constexpr std::string_view what = "[performance]";
    toml.rejectUnknownKeys(*performance, what, {"cases", "target_speedup", "rounds"});
    cases.read(*performance, what, op.performanceCases);
    if (op.performanceCases.empty() && !toml.failed()) {
      toml.fail("E0602", performance->source(), "[performance] expects at least one case");
    }
    op.targetSpeedup = toml.number(*performance, what, "target_speedup").value_or(1.0);
    if (!std::isfinite(op.targetSpeedup) || op.targetSpeedup <= 0) {
      toml.fail(
          "E0602", performance->get("target_speedup")->source(),
          fmt::format("'target_speedup' expects a number above 0, but got {}", op.targetSpeedup));
    }
    int64_t rounds = toml.integer(*performance, what, "rounds").value_or(mostRounds);
    if (rounds < 0 || rounds > mostRounds) {
      toml.fail("E0602", performance->get("rounds")->source(),
                fmt::format("'rounds' expects 0 to {}, but got {}", mostRounds, rounds));
    }
    op.maxRounds = static_cast<int>(rounds);
  }

  TomlReader &toml;
  Diagnostics &diags;
  Operator op;
  bool hasBadConstraint = false;
  BodyPlace bodyPlace;
  ComputedDims computed;
  std::map<std::string, toml::source_region> rangePlaces;
  std::vector<SymbolicShape> declaredShapes;
  std::vector<toml::source_region> outputPlaces;
};

} // namespace

std::optional<Operator> parseOperator(const std::string &path, const std::string &text,
                                      Diagnostics &diags) {
  TomlReader toml(path, text, diags);
  if (!toml.parse()) {
    return std::nullopt;
  }
  return Loader(toml, diags).load();
}

ComputedDims computedDimsOf(const std::string &text) {
  Diagnostics unused;
  TomlReader toml("definition", text, unused);
  return toml.parse() ? Loader(toml, unused).dims() : ComputedDims();
}

std::optional<Operator> loadOperator(const std::string &path, Diagnostics &diags) {
  struct stat status;
  bool exists = ::stat(path.c_str(), &status) == 0;
  std::ifstream in(path, std::ios::binary);
  if (!exists || S_ISDIR(status.st_mode) || !in) {
    std::string reason = exists && S_ISDIR(status.st_mode) ? "it is a folder" : strerror(errno);
    diags.add(makeError("E0601", fmt::format("cannot read the definition '{}': {}", path, reason)))
        .withHelp("definitions that ship with the program stand in operators/");
    return std::nullopt;
  }
  std::ostringstream text;
  text << in.rdbuf();
  return parseOperator(path, text.str(), diags);
}

Status checkDtype(const Operator &op, DType dtype) {
  if (std::find(op.dtypes.begin(), op.dtypes.end(), dtype) != op.dtypes.end()) {
    return Done{};
  }
  std::string known;
  for (DType each : op.dtypes) {
    known += (known.empty() ? "" : ", ") + std::string(torchName(each));
  }
  return makeError("E0606", fmt::format("'{}' is not defined for {}", op.name, torchName(dtype)))
      .withHelp(fmt::format("use one of {}, or add the type to 'dtypes' in {}", known, op.path));
}

} // namespace nereid::definition
