// SPDX-License-Identifier: Apache-2.0
// Makes models for the tests of this folder, as bytes of the format.
#pragma once

#include "lib/importer/onnx/Model.h"
#include "lib/importer/shapes/Inference.h"

#include "format.pb.h"

#include <gtest/gtest.h>

#include <cstring>

namespace nereid::importer {

/// A dimension of a test: a size, or a name.
struct TestDim {
  TestDim(int64_t size) : size(size) {}
  TestDim(const char *name) : name(name) {}
  int64_t size = 0;
  std::string name;
};

class ModelMaker {
public:
  explicit ModelMaker(int64_t opset = 17) {
    file.set_ir_version(8);
    file.add_opset_import()->set_version(opset);
    file.mutable_graph()->set_name("test");
  }

  ModelMaker &input(const std::string &name, std::vector<TestDim> shape, int type = 1) {
    describe(*file.mutable_graph()->add_input(), name, shape, type);
    return *this;
  }
  ModelMaker &output(const std::string &name, std::vector<TestDim> shape = {}, int type = 1,
                     bool hasShape = false) {
    describe(*file.mutable_graph()->add_output(), name, shape, type);
    if (!hasShape && shape.empty()) {
      file.mutable_graph()->mutable_output()->rbegin()->clear_type();
    }
    return *this;
  }
  ModelMaker &floats(const std::string &name, std::vector<int64_t> dims,
                     std::vector<float> elements) {
    format::Tensor &tensor = *file.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(1);
    tensor.mutable_dims()->Add(dims.begin(), dims.end());
    std::string raw(elements.size() * sizeof(float), '\0');
    std::memcpy(raw.data(), elements.data(), raw.size());
    tensor.set_raw_data(raw);
    return *this;
  }
  ModelMaker &integers(const std::string &name, std::vector<int64_t> elements) {
    format::Tensor &tensor = *file.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(7);
    tensor.add_dims(static_cast<int64_t>(elements.size()));
    tensor.mutable_int64_data()->Add(elements.begin(), elements.end());
    return *this;
  }
  ModelMaker &node(const std::string &op, std::vector<std::string> inputs,
                   std::vector<std::string> outputs) {
    file.mutable_graph()->add_node();
    last().set_op_type(op);
    last().set_name("the_" + outputs[0]);
    for (const std::string &input : inputs) {
      last().add_input(input);
    }
    for (const std::string &output : outputs) {
      last().add_output(output);
    }
    return *this;
  }
  ModelMaker &number(const std::string &attribute, float value) {
    format::Attribute &one = *last().add_attribute();
    one.set_name(attribute);
    one.set_type(1);
    one.set_f(value);
    return *this;
  }
  ModelMaker &integer(const std::string &attribute, int64_t value) {
    format::Attribute &one = *last().add_attribute();
    one.set_name(attribute);
    one.set_type(2);
    one.set_i(value);
    return *this;
  }
  ModelMaker &word(const std::string &attribute, const std::string &value) {
    format::Attribute &one = *last().add_attribute();
    one.set_name(attribute);
    one.set_type(3);
    one.set_s(value);
    return *this;
  }
  ModelMaker &list(const std::string &attribute, std::vector<int64_t> values) {
    format::Attribute &one = *last().add_attribute();
    one.set_name(attribute);
    one.set_type(7);
    one.mutable_ints()->Add(values.begin(), values.end());
    return *this;
  }
  /// The node that was added last, which attributes are added to.
  format::Node &last() { return *file.mutable_graph()->mutable_node()->rbegin(); }
  std::string bytes() const { return file.SerializeAsString(); }

  format::Model file;

private:
  static void describe(format::ValueInfo &value, const std::string &name,
                       const std::vector<TestDim> &shape, int type) {
    value.set_name(name);
    value.mutable_type()->mutable_tensor()->set_element_type(type);
    value.mutable_type()->mutable_tensor()->mutable_shape();
    for (const TestDim &dim : shape) {
      format::Dimension &one = *value.mutable_type()->mutable_tensor()->mutable_shape()->add_dim();
      dim.name.empty() ? one.set_value(dim.size) : one.set_parameter(dim.name);
    }
  }
};

struct Read {
  std::optional<Model> model;
  Diagnostics diags;
  std::string code() const { return diags.all().empty() ? "" : diags.all()[0].code; }
  std::string message() const { return diags.all().empty() ? "" : diags.all()[0].message; }
};

inline Read readBytes(const std::string &bytes) {
  Read read;
  read.model = parseModel("test.onnx", bytes, read.diags);
  return read;
}

/// Read, with shapes.
inline Read inferred(const ModelMaker &maker, const std::map<std::string, int64_t> &sizes = {}) {
  Read read = readBytes(maker.bytes());
  if (read.model) {
    auto bound = bindSizes(*read.model, sizes);
    EXPECT_TRUE(bound) << render(bound.error());
    inferShapes(*read.model, read.diags);
  }
  return read;
}

inline std::string shapeOf(const Read &read, const std::string &value) {
  const Value *found = read.model ? read.model->value(value) : nullptr;
  return found && found->shape ? text(*found->shape) : "unknown";
}

} // namespace nereid::importer
