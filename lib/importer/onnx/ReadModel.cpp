// SPDX-License-Identifier: Apache-2.0
// An ONNX file as a Model: what a node reads has to be made before it, every name is given once,
// and operator sets and operators have to be those of operators/operators.def.
#include "lib/importer/onnx/AttributeKinds.h"
#include "lib/importer/onnx/Model.h"
#include "lib/importer/onnx/TensorElements.h"
#include "lib/importer/onnx/WireDamage.h"
#include "lib/importer/operators/OperatorTable.h"
#include "lib/support/AtomicFile.h"

#include "format.pb.h"

#include <fmt/format.h>

#include <set>

namespace nereid::importer {
namespace {

constexpr uint64_t mostBytes = (uint64_t{1} << 31) - 1; // protobuf's own limit
constexpr size_t mostErrors = 20;

bool isStandard(const std::string &domain) { return domain.empty() || domain == "ai.onnx"; }

class Reader {
public:
  Reader(Model &model, Diagnostics &diags) : model(model), diags(diags) {}

  void read(const format::Model &file) {
    model.irVersion = file.ir_version();
    model.producer = file.producer_name() + (file.producer_version().empty() ? "" : " ") +
                     file.producer_version();
    readOpsets(file);
    const format::Graph &graph = file.graph();
    model.graphName = graph.name();
    readInitialisers(graph);
    for (const format::ValueInfo &input : graph.input()) {
      // Old files list initialisers among the inputs, too.
      const bool isNew = !model.initialisers.contains(input.name());
      if (isNew && define(input.name(), "an input")) {
        model.inputs.push_back(readValue(input));
      }
      declare(input);
    }
    for (const format::ValueInfo &value : graph.value_info()) {
      declare(value);
    }
    for (const format::Node &node : graph.node()) {
      readNode(node);
      ++number;
    }
    for (const format::ValueInfo &output : graph.output()) {
      declare(output);
      model.outputs.push_back(output.name());
      if (!isDefined(output.name())) {
        fail("E0631", fmt::format("the output '{}' is made by no node", output.name()));
      }
    }
  }

private:
  void fail(std::string code, std::string message, std::string help = "") {
    if (diags.all().size() < mostErrors) {
      Diagnostic &error = diags.add(makeError(std::move(code), std::move(message)));
      error.file = model.path;
      error.help = std::move(help);
    }
  }

  void readOpsets(const format::Model &file) {
    for (const format::OperatorSet &set : file.opset_import()) {
      if (isStandard(set.domain())) {
        model.opset = set.version();
      }
    }
    if (model.opset == 0 && file.opset_import().empty() && file.ir_version() <= 2) {
      model.opset = 1; // what files meant that are older than this field
    }
    if (model.opset < oldestOpset || model.opset > newestOpset) {
      fail("E0632",
           model.opset == 0 ? std::string("the model names no set of standard operators")
                            : fmt::format("the model uses operator set {}, but {} to {} are known",
                                          model.opset, oldestOpset, newestOpset),
           "export the model for one of these, or convert it with onnx.version_converter");
    }
  }

  bool isDefined(const std::string &name) const { return defined.contains(name); }

  /// False, and an error, when the name was given before.
  bool define(const std::string &name, const std::string &what) {
    if (defined.insert(name).second) {
      return true;
    }
    fail("E0631", fmt::format("the name '{}' of {} was given before", name, what));
    return false;
  }

  void readInitialisers(const format::Graph &graph) {
    for (const format::Tensor &given : graph.initializer()) {
      auto tensor = readTensor(given);
      if (!tensor) {
        fail("E0631", tensor.error().message);
        continue;
      }
      if (define(given.name(), "an initialiser")) {
        addInitialiser(std::move(*tensor));
      }
    }
    if (graph.sparse_initializer_size() > 0) {
      fail("E0633", "the model has sparse tensors, which are not supported",
           "export them as dense tensors");
    }
  }

  void addInitialiser(Tensor tensor) {
    Value value;
    value.name = tensor.name;
    value.type = tensor.type;
    value.shape.emplace();
    for (int64_t size : tensor.dims) {
      value.shape->push_back({size, ""});
    }
    model.values[tensor.name] = value;
    model.initialisers[tensor.name] = std::move(tensor);
  }

  Value readValue(const format::ValueInfo &given) {
    Value value;
    value.name = given.name();
    const format::TensorType &type = given.type().tensor();
    value.type = ElementType(type.element_type());
    if (!type.has_shape()) {
      return value;
    }
    value.shape.emplace();
    for (const format::Dimension &dim : type.shape().dim()) {
      if (dim.has_value() && dim.value() < 0) {
        // Some exporters write -1 for what is open.
        value.shape->push_back({});
        continue;
      }
      value.shape->push_back(dim.has_value() ? Dim{dim.value(), ""} : Dim{-1, dim.parameter()});
    }
    std::vector<int64_t> sizes;
    for (const Dim &dim : *value.shape) {
      sizes.push_back(dim.isSize() ? dim.size : 1);
    }
    if (!elementCount(sizes)) {
      fail("E0631", fmt::format("'{}' has the shape {}, which no tensor can have", value.name,
                                text(*value.shape)));
      value.shape.reset();
    }
    return value;
  }

  void declare(const format::ValueInfo &given) {
    model.values.try_emplace(given.name(), readValue(given));
  }

  void readNode(const format::Node &given) {
    Node node;
    node.number = number;
    node.op = given.op_type();
    node.name = given.name();
    node.domain = isStandard(given.domain()) ? "" : given.domain();
    node.inputs.assign(given.input().begin(), given.input().end());
    node.outputs.assign(given.output().begin(), given.output().end());
    bool isRight = readAttributes(given, node);
    for (const std::string &input : node.inputs) {
      if (!input.empty() && !isDefined(input)) {
        fail("E0631",
             fmt::format("{}: reads '{}', which is no input, no initialiser and made by no node "
                         "before it",
                         describe(node), input),
             "nodes stand in the order in which they can run; a cycle has none");
        isRight = false;
      }
    }
    for (const std::string &output : node.outputs) {
      isRight = (output.empty() || define(output, describe(node))) && isRight;
    }
    isRight = checkOperator(node) && isRight;
    if (!isRight) {
      return;
    }
    if (node.op == "Constant") {
      return readConstant(node);
    }
    if (node.inputs.size() > 0 || node.outputs.size() > 0) {
      model.nodes.push_back(std::move(node));
    }
  }

  bool checkOperator(const Node &node) {
    if (node.outputs.empty()) {
      fail("E0631", describe(node) + ": has no output");
      return false;
    }
    for (const auto &[name, attribute] : node.attributes) {
      if (std::holds_alternative<Subgraph>(attribute)) {
        fail("E0633",
             fmt::format("{}: has a graph of its own ('{}'), which is not supported",
                         describe(node), name),
             "export the model with its conditions and loops resolved, or analyse the graph "
             "within as a model of its own");
        return false;
      }
    }
    if (!node.domain.empty()) {
      fail("E0633",
           fmt::format("{}: the operator is of the domain '{}', but only standard operators are "
                       "known",
                       describe(node), node.domain),
           "export the model with standard operators");
      return false;
    }
    if (node.op == "Constant") {
      return true;
    }
    const OnnxOperator *row = findOnnxOperator(node.op);
    if (!row) {
      auto near = nearestNames(node.op, onnxOperatorNames());
      fail("E0633", fmt::format("{}: the operator is not known", describe(node)),
           near.empty() ? "docs/models.md lists the operators that are known"
                        : fmt::format("the nearest known operators: {}", fmt::join(near, ", ")));
      return false;
    }
    if (model.opset != 0 && model.opset < row->first) {
      fail("E0633",
           fmt::format("{}: the operator is known from operator set {} on, but the model "
                       "uses {}",
                       describe(node), row->first, model.opset),
           "convert the model to a newer operator set");
      return false;
    }
    return true;
  }

  bool readAttributes(const format::Node &given, Node &node) {
    for (const format::Attribute &attribute : given.attribute()) {
      if (!attribute.reference().empty()) {
        fail("E0631", fmt::format("{}: attribute '{}' refers to one of a function, but stands in "
                                  "none",
                                  describe(node), attribute.name()));
        return false;
      }
      auto value = readAttribute(attribute);
      if (!value) {
        fail("E0631", fmt::format("{}: attribute '{}': {}", describe(node), attribute.name(),
                                  value.error().message));
        return false;
      }
      const bool isKnown =
          node.domain.empty() && (node.op == "Constant" || findOnnxOperator(node.op));
      if (auto wrong = isKnown ? findWrongKind(attribute.name(), *value) : std::nullopt) {
        fail("E0631",
             fmt::format("{}: attribute '{}': {}", describe(node), attribute.name(), *wrong));
        return false;
      }
      if (!node.attributes.emplace(attribute.name(), std::move(*value)).second) {
        fail("E0631",
             fmt::format("{}: attribute '{}' is given twice", describe(node), attribute.name()));
        return false;
      }
    }
    return true;
  }

  static Result<Attribute> readAttribute(const format::Attribute &given) {
    switch (given.has_type() ? given.type() : kindOf(given)) {
    case 1:
      return Attribute(static_cast<double>(given.f()));
    case 2:
      return Attribute(static_cast<int64_t>(given.i()));
    case 3:
      return Attribute(given.s());
    case 4: {
      auto tensor = readTensor(given.t());
      return tensor ? Result<Attribute>(Attribute(std::move(*tensor)))
                    : Result<Attribute>(tensor.error());
    }
    case 5:
    case 10:
      return Attribute(Subgraph{});
    case 6:
      return Attribute(std::vector<double>(given.floats().begin(), given.floats().end()));
    case 7:
      return Attribute(std::vector<int64_t>(given.ints().begin(), given.ints().end()));
    case 8:
      return Attribute(std::vector<std::string>(given.strings().begin(), given.strings().end()));
    default:
      return makeError("E0631", fmt::format("a value of kind {} is not supported", given.type()));
    }
  }

  /// Of files that are older than the field.
  static int kindOf(const format::Attribute &given) {
    return given.has_f()              ? 1
           : given.has_i()            ? 2
           : given.has_s()            ? 3
           : given.has_t()            ? 4
           : given.has_g()            ? 5
           : given.floats_size() > 0  ? 6
           : given.ints_size() > 0    ? 7
           : given.strings_size() > 0 ? 8
           : given.graphs_size() > 0  ? 10
                                      : 7;
  }

  /// A node without inputs whose result stands in the file is an initialiser like any other.
  void readConstant(const Node &node) {
    Tensor tensor;
    const bool isOne = node.attributes.size() == 1;
    const std::string form = isOne ? node.attributes.begin()->first : "";
    const Attribute *value = isOne ? &node.attributes.begin()->second : nullptr;
    tensor.hasElements = true;
    if (form == "value" && std::holds_alternative<Tensor>(*value)) {
      tensor = std::get<Tensor>(*value);
    } else if (form == "value_float" && std::holds_alternative<double>(*value)) {
      tensor.type = ElementType::of(DType::F32);
      tensor.floats = {std::get<double>(*value)};
    } else if (form == "value_int" && std::holds_alternative<int64_t>(*value)) {
      tensor.type = ElementType::of(DType::I64);
      tensor.integers = {std::get<int64_t>(*value)};
    } else if (form == "value_floats" && std::holds_alternative<std::vector<double>>(*value)) {
      tensor.type = ElementType::of(DType::F32);
      tensor.floats = std::get<std::vector<double>>(*value);
      tensor.dims = {static_cast<int64_t>(tensor.floats.size())};
    } else if (form == "value_ints" && std::holds_alternative<std::vector<int64_t>>(*value)) {
      tensor.type = ElementType::of(DType::I64);
      tensor.integers = std::get<std::vector<int64_t>>(*value);
      tensor.dims = {static_cast<int64_t>(tensor.integers.size())};
    } else {
      return fail("E0633",
                  fmt::format("{}: expects one value, a tensor or numbers", describe(node)),
                  "strings and sparse tensors are not supported");
    }
    tensor.name = node.outputs[0];
    addInitialiser(std::move(tensor));
  }

  Model &model;
  Diagnostics &diags;
  std::set<std::string> defined;
  int64_t number = 0;
};

Diagnostic damageError(const std::string &path, std::string_view bytes) {
  Diagnostic error;
  if (auto damage = findDamage(bytes)) {
    error =
        makeError("E0631", fmt::format("the file is no whole ONNX model: at byte {} of {} is {}",
                                       damage->offset, bytes.size(), damage->reason));
  } else {
    error =
        makeError("E0631", "the file is no whole ONNX model: a node, a tensor or a value in its "
                           "graph is damaged");
  }
  error.file = path;
  return error.withHelp("copy or export the model again");
}

} // namespace

std::optional<Model> parseModel(const std::string &path, std::string_view bytes,
                                Diagnostics &diags) {
  format::Model file;
  if (bytes.size() > mostBytes ||
      !file.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    diags.add(damageError(path, bytes));
    return std::nullopt;
  }
  if (!file.has_graph() || file.graph().node_size() == 0) {
    Diagnostic &error = diags.add(makeError(
        "E0631", file.has_graph() ? "the model's graph has no nodes" : "the file has no graph"));
    error.file = path;
    error.withHelp("expects an ONNX model, which holds a graph with nodes");
    return std::nullopt;
  }
  Model model;
  model.path = path;
  Reader(model, diags).read(file);
  return diags.hasErrors() ? std::nullopt : std::optional(std::move(model));
}

std::optional<Model> readModel(const std::string &path, Diagnostics &diags) {
  auto bytes = readTextFile(path, mostBytes);
  if (!bytes) {
    diags.add(bytes.error());
    return std::nullopt;
  }
  return parseModel(path, *bytes, diags);
}

} // namespace nereid::importer
