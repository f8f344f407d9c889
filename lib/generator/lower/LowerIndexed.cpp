// SPDX-License-Identifier: Apache-2.0
// What is read and written at indices from tensors, and the memory it is written to.
#include "lib/generator/lower/Indexed.h"
#include "lib/generator/lower/Lowerer.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {

/// Why others read from memory what is written there.
constexpr const char *metAtData =
    "elements are written at indices that are data, and whoever reads one waits for all of them";

Lazy Lowerer::indexed(const GraphNode &node, const std::vector<Lowered> &in, DType storage) {
  std::vector<size_t> ranks;
  for (const Lowered &each : in) {
    ranks.push_back(each.isNumber() ? 0 : each.tensor.shape.size());
  }
  IndexedOperands operands;
  operands.indexing = definition::indexingOf(node, ranks);
  operands.table = in[0].tensor;
  for (size_t number : operands.indexing.indices) {
    operands.indices.push_back(in[number].tensor);
    operands.areNonNegative.push_back(in[number].isNonNegative || !definition::takesNegative(node));
  }
  if (!operands.indexing.isWrite) {
    return readIndexed(program, make, operands);
  }
  const Lowered &values = in[operands.indexing.values];
  if (!canMeetInMemory(operands, op.isDeterministic)) {
    operands.table = make.cast(operands.table, computed(storage));
    operands.values = as(values, computed(storage));
    return writeByElements(program, make, operands);
  }
  const bool isRounded = isReadByOthers() && (in[0].isRounded || values.isRounded);
  const DType type = definition::Meeting::Replace == operands.indexing.meeting
                         ? (isRounded ? computed(storage) : storage)
                         : meetingType(operands.indexing.meeting, storage);
  operands.table = make.cast(operands.table, type);
  operands.values = as(values, type);
  if (meetAsOrdinals(operands)) {
    const IndexedOperands ordinals = asOrdinals(program, make, operands);
    const BufferId met = temporary("met", operands.table.shape, DType::I32, metAtData);
    writeInMemory(program, make, ordinals, op.name, {met});
    return make.cast(ofOrdinals(program, make, operands, stored(met)), computed(storage));
  }
  const bool isMean = operands.indexing.meeting == definition::Meeting::Mean;
  std::vector<BufferId> results = {resultBuffer(operands.table.shape, type, storage, isMean)};
  if (isMean) {
    results.push_back(temporary("met", operands.table.shape, type, metAtData));
  }
  writeInMemory(program, make, operands, op.name, results);
  Lazy written = stored(results[0]);
  if (isMean) {
    Lazy count = stored(results[1]);
    Lazy one = make.constant(program.nodes.real(1, type));
    Lazy share = make.map("div", {written, make.map("maximum", {count, one})});
    Lazy isMet = make.map("gt", {count, make.constant(program.nodes.real(0, type))});
    written = make.map("where", {isMet, share, make.cast(in[0].tensor, type)});
  }
  return make.cast(written, computed(storage));
}

/// The value of the node that is lowered.
bool Lowerer::isReadByOthers() const {
  return std::any_of(op.nodes.begin(), op.nodes.end(), [&](const GraphNode &each) {
    return std::count(each.inputs.begin(), each.inputs.end(), static_cast<int>(current)) > 0;
  });
}

/// The output itself where the node is nothing else and its type fits.
BufferId Lowerer::resultBuffer(const Shape &shape, DType type, DType storage, bool isPart) {
  const auto node = static_cast<int>(current);
  const auto output = std::find(op.outputs.begin(), op.outputs.end(), node);
  const bool isOne = std::count(op.outputs.begin(), op.outputs.end(), node) == 1;
  if (isReadByOthers() || isPart || !isOne || type != storage) {
    const BufferId met = temporary("met", shape, type, metAtData);
    if (!isPart && type == storage) {
      results.emplace(current, met);
    }
    return met;
  }
  Buffer buffer;
  buffer.name = op.outputNames[static_cast<size_t>(output - op.outputs.begin())];
  buffer.role = BufferRole::Output;
  buffer.dtype = type;
  buffer.sizes = shape;
  buffer.strides = contiguousStrides(shape);
  return program.add(std::move(buffer));
}

/// The memory of what is nothing but the output in another shape: it is a view of the output's.
std::optional<BufferId> Lowerer::reshapedResult(int output) const {
  auto usesOf = [&](int node) {
    auto count = std::count(op.outputs.begin(), op.outputs.end(), node);
    for (const GraphNode &each : op.nodes) {
      count += std::count(each.inputs.begin(), each.inputs.end(), node);
    }
    return count;
  };
  int node = output;
  while (op.nodes[static_cast<size_t>(node)].op == "reshape" && usesOf(node) == 1) {
    node = op.nodes[static_cast<size_t>(node)].inputs[0];
  }
  const auto found = results.find(static_cast<size_t>(node));
  return found != results.end() && node != output && usesOf(node) == 1
             ? std::optional(found->second)
             : std::nullopt;
}

BufferId Lowerer::temporary(const char *hint, const Shape &shape, DType type, std::string why) {
  Buffer buffer;
  do {
    buffer.name = fmt::format("{}_{}", hint, ++temporaries);
  } while (program.find(buffer.name) || std::find(op.outputNames.begin(), op.outputNames.end(),
                                                  buffer.name) != op.outputNames.end());
  buffer.role = BufferRole::Temporary;
  buffer.dtype = type;
  buffer.sizes = shape;
  buffer.strides = contiguousStrides(shape);
  const BufferId made = program.add(std::move(buffer));
  reasons.emplace(made, std::move(why));
  return made;
}

/// What stages have written to a buffer.
Lazy Lowerer::stored(BufferId buffer) {
  const Buffer &from = program.buffers[buffer];
  const bool isTemporary = from.role == BufferRole::Temporary;
  return make.make(from.sizes, from.dtype, [this, buffer, isTemporary](const Point &point) {
    NodeParts parts{isTemporary ? NodeKind::Ref : NodeKind::Load, program.buffers[buffer].dtype};
    parts.buffer = buffer;
    parts.indices = point;
    return program.nodes.make(std::move(parts));
  });
}

} // namespace nereid::generator
