// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/programs/Writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::fuzz {

bool isReal(const std::string &type) { return type.starts_with("float") || type == "bfloat16"; }

int64_t countOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  return count;
}

std::string languageType(const std::string &buffer) {
  DType type = findBuffer(buffer)->type;
  return isFloat8(type) ? "float" + std::string(kernelName(type)).substr(2)
                        : std::string(torchName(type));
}

std::string spreadAlong(const std::string &name, size_t dim, size_t rank) {
  if (rank == 1) {
    return name;
  }
  std::vector<std::string> index(rank, "None");
  index[dim] = ":";
  return fmt::format("{}[{}]", name, fmt::join(index, ", "));
}

std::string rangeAlong(size_t dim, size_t rank, int64_t size) {
  return spreadAlong(fmt::format("tl.arange(0, {})", size), dim, rank);
}

std::string bounded(const std::string &expression, const std::string &type) {
  return fmt::format("tl.floor(tl.clamp(({}).to(tl.float32), -64.0, 64.0)).to(tl.{})", expression,
                     type);
}

Writer::Writer(uint64_t seed) : random(seed) {
  program.n = between(1, 16);
  program.m = between(1, 24);
  program.h = between(1, 16);
  if (chance(25)) {
    program.programs = between(2, 4);
    drawn(Class::SeveralPrograms);
    line("pid = tl.program_id(0)");
    line(fmt::format("OUT += pid * {}", outputElements));
  }
}

Program Writer::finish() {
  bool hasStored = used > 0;
  for (size_t i = 0; i < values.size(); ++i) {
    // What is not stored is only seen through others: some rewrites ask for that.
    if (chance(75) || (i + 1 == values.size() && !hasStored)) {
      store(values[i]);
      hasStored = true;
    }
  }
  for (const std::string &text : last) {
    line(text);
  }
  return std::move(program);
}

int64_t Writer::pick(int64_t count) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(count));
}

void Writer::line(const std::string &text) {
  program.lines.push_back(std::string(static_cast<size_t>(depth) * 4, ' ') + text);
}

std::string Writer::let(const std::string &expression) {
  std::string made = name();
  line(made + " = " + expression);
  return made;
}

Value Writer::bind(const std::string &expression, const std::string &type, const Shape &shape,
                   bool isBounded) {
  Value value{name(), type, shape};
  line(value.name + " = " +
       (isReal(type) && !isBounded ? bounded(expression, type)
                                   : fmt::format("({}).to(tl.{})", expression, type)));
  values.push_back(value);
  return value;
}

Value Writer::like(const Shape &shape, bool real) {
  std::vector<Value> fitting;
  for (const Value &value : values) {
    if (value.shape == shape && isReal(value.type) == real && value.type != "int1") {
      fitting.push_back(value);
    }
  }
  if (!fitting.empty() && chance(80)) {
    return oneOf(fitting);
  }
  return bind(fmt::format("tl.load({} + {} + {})", real ? "X" : "A", pick(100), positions(shape)),
              real ? "float32" : "int32", shape, true);
}

Value Writer::load() {
  static const std::vector<Shape> shapes = {{16},    {32},      {64},    {8, 8},       {4, 16},
                                            {16, 2}, {2, 4, 8}, {1, 16}, {2, 2, 2, 4}, {}};
  Shape shape = oneOf(shapes);
  std::string at = fmt::format("{} + ({}) * {}", pick(512), positions(shape), 1 + pick(3));
  if (chance(20)) {
    at = fmt::format("({}) * 37 % 1021", positions(shape));
  }
  if (chance(25)) {
    at += " + n";
  }
  if (chance(25)) {
    at += fmt::format(" + {} * {}", pid(), 1 + pick(64));
  }
  bool real = chance(40);
  std::string from = oneOf(real ? realBuffers : wholeBuffers);
  std::string type = real ? oneOf(realTypes) : chance(50) ? languageType(from) : oneOf(wholeTypes);
  return bind(fmt::format("tl.load({} + {}{})", from, at, mask(shape)), type, shape, true);
}

std::string Writer::mask(const Shape &shape) {
  if (chance(50)) {
    return "";
  }
  const char *forms[] = {", mask=({}) < n, other=3", ", mask=({}) % 3 != 1, other=1",
                         ", mask=(({}) > 2) & (({}) < m), other=7"};
  const char *form = forms[pick(3)];
  return fmt::format(fmt::runtime(form), positions(shape), positions(shape));
}

std::string Writer::positions(const Shape &shape, Shape steps) {
  if (shape.empty()) {
    return "0";
  }
  if (steps.empty()) {
    int64_t stride = countOf(shape);
    for (int64_t size : shape) {
      stride /= size;
      steps.push_back(stride);
    }
  }
  std::vector<std::string> terms;
  for (size_t d = 0; d < shape.size(); ++d) {
    terms.push_back(fmt::format("{} * {}", rangeAlong(d, shape.size(), shape[d]), steps[d]));
  }
  if (chance(30)) {
    shuffle(terms);
  }
  return fmt::format("{}", fmt::join(terms, " + "));
}

Shape Writer::strides(const Shape &shape, const std::vector<size_t> &order, int64_t padding) const {
  Shape steps(shape.size());
  int64_t stride = 1;
  for (size_t dim : order) {
    steps[dim] = stride;
    stride = stride * shape[dim] + padding;
  }
  return steps;
}

int64_t Writer::reserve(int64_t count) {
  if (used + count > outputElements) {
    return -1;
  }
  used += count;
  return used - count;
}

void Writer::storeAt(const Value &value, int64_t offset, const std::string &at) {
  // Adding zero leaves one zero of the two.
  std::string text = isReal(value.type) ? fmt::format("({} + 0.0).to(tl.int64)", value.name)
                                        : fmt::format("{}.to(tl.int64)", value.name);
  line(fmt::format("tl.store({} + {}, {})", out(offset), at, text));
}

void Writer::store(const Value &value) {
  if (int64_t offset = reserve(countOf(value.shape)); offset >= 0) {
    storeAt(value, offset, positions(value.shape));
  }
}

std::string Writer::bound() {
  switch (pick(6)) {
  case 0:
    drawn(Class::BoundFromMemory);
    return let(fmt::format("tl.load(S + {} + {})", pick(200), pid()));
  case 1:
    return "n % 5";
  case 2:
    return "tl.minimum(m, 6)";
  case 3:
    return "tl.minimum(m - n, 5)";
  default:
    return std::to_string(pick(6));
  }
}

Writer::Block::Block(Writer &writer, const std::string &header)
    : writer(writer), known(writer.values.size()) {
  writer.line(header);
  ++writer.depth;
}

Writer::Block::~Block() {
  --writer.depth;
  writer.values.resize(known);
}

} // namespace nereid::fuzz
