// SPDX-License-Identifier: Apache-2.0
// Parameter lists of generated kernels, see KernelInterface.h.
#include "lib/generator/KernelInterface.h"

#include <algorithm>

namespace nereid::generator {
namespace {

using Kind = KernelParameter::Kind;

class ParameterList {
public:
  explicit ParameterList(const FusedOperator &fused) : fused(fused) {}

  std::vector<KernelParameter> run(KernelVariant variant) {
    for (size_t i = 0; i < fused.operands.size(); ++i) {
      add(Kind::Pointer, pointerName(fused.operands[i])).operand = static_cast<int>(i);
    }
    for (size_t i = 0; i < fused.op.parameters.size(); ++i) {
      if (fused.op.parameters[i].isScalar) {
        add(Kind::Scalar, fused.op.parameters[i].name).scalar = static_cast<int>(i);
      }
    }
    if (variant == KernelVariant::Flat) {
      SizeProduct all = fused.rows;
      all.dims.insert(all.dims.end(), fused.columns.dims.begin(), fused.columns.dims.end());
      add(Kind::Size, "elements").size = all;
    } else {
      add(Kind::Size, "rows").size = fused.rows;
      add(Kind::Size, "columns").size = fused.columns;
      sizes();
      strides();
    }
    for (const auto &[name, value] : constants(variant)) {
      add(Kind::Constexpr, name);
    }
    add(Kind::Constexpr, "WIDE");
    return std::move(list);
  }

private:
  KernelParameter &add(Kind kind, std::string name) {
    list.emplace_back();
    list.back().kind = kind;
    list.back().name = std::move(name);
    return list.back();
  }
  void addSize(const SizeProduct &size) {
    std::string name = sizeName(size);
    bool isKnown = std::any_of(list.begin(), list.end(),
                               [&](const KernelParameter &p) { return p.name == name; });
    if (!isKnown) {
      add(Kind::Size, name).size = size;
    }
  }
  void sizesOfTerms(const std::vector<OffsetTerm> &terms) {
    for (const OffsetTerm &term : terms) {
      if (term.needsDivision) {
        addSize(term.inner);
      }
      if (term.needsRemainder) {
        addSize(term.size);
      }
    }
  }
  void sizes() {
    for (const Operand &operand : fused.operands) {
      if (hasGeneralRows(operand)) {
        sizesOfTerms(offsetTerms(operand, fused.rowGroups, operand.rowGroups));
      }
      if (hasGeneralColumns(operand)) {
        sizesOfTerms(offsetTerms(operand, fused.columnGroups, operand.columnGroups));
      }
    }
  }
  void strides() {
    for (size_t i = 0; i < fused.operands.size(); ++i) {
      const Operand &operand = fused.operands[i];
      if (operand.hasAllRows()) {
        add(Kind::RowStride, rowStrideName(operand)).operand = static_cast<int>(i);
      } else {
        groupStrides(i, Kind::GroupStride, fused.rowGroups, operand.rowGroups);
      }
      if (hasGeneralColumns(operand)) {
        groupStrides(i, Kind::ColumnStride, fused.columnGroups, operand.columnGroups);
      }
    }
  }
  void groupStrides(size_t operand, Kind kind, const std::vector<SizeProduct> &groups,
                    const std::vector<bool> &presence) {
    for (size_t g = 0; g < groups.size(); ++g) {
      if (presence[g]) {
        KernelParameter &made = add(kind, groupStrideName(fused.operands[operand], groups[g]));
        made.operand = static_cast<int>(operand);
        made.group = static_cast<int>(g);
      }
    }
  }
  static std::vector<std::pair<std::string, int64_t>> constants(KernelVariant variant) {
    switch (variant) {
    case KernelVariant::Flat:
      return {{"BLOCK", 0}, {"STREAMING", 0}};
    case KernelVariant::Tiles:
      return {{"BLOCK_M", 0}, {"BLOCK_N", 0}, {"GRID_2D", 0}, {"STREAMING", 0}};
    case KernelVariant::Rows:
    case KernelVariant::LoopedRows:
      return {{"ROWS", 0}, {"BLOCK_N", 0}, {"STREAMING", 0}};
    }
    return {};
  }

  const FusedOperator &fused;
  std::vector<KernelParameter> list;
};

} // namespace

SizeProduct innerOf(const std::vector<SizeProduct> &groups, size_t group) {
  SizeProduct inner;
  for (size_t g = group + 1; g < groups.size(); ++g) {
    inner.dims.insert(inner.dims.end(), groups[g].dims.begin(), groups[g].dims.end());
  }
  return inner;
}

std::string sizeName(const SizeProduct &size) { return "size_" + size.identifier(); }
std::string pointerName(const Operand &operand) { return operand.name + "_ptr"; }
std::string rowStrideName(const Operand &operand) { return "stride_" + operand.name + "_row"; }
std::string groupStrideName(const Operand &operand, const SizeProduct &group) {
  return "stride_" + operand.name + "_" + group.identifier();
}

std::vector<OffsetTerm> offsetTerms(const Operand &operand, const std::vector<SizeProduct> &groups,
                                    const std::vector<bool> &presence) {
  std::vector<OffsetTerm> terms;
  for (size_t g = 0; g < groups.size(); ++g) {
    if (!presence[g]) {
      continue;
    }
    OffsetTerm term;
    term.group = g;
    term.inner = innerOf(groups, g);
    term.size = groups[g];
    term.needsDivision = !term.inner.dims.empty();
    term.needsRemainder = g > 0;
    term.stride = groupStrideName(operand, groups[g]);
    terms.push_back(std::move(term));
  }
  return terms;
}

bool isPassedWhole(const FusedOperator &fused, const definition::Parameter &number) {
  return fused.hasIntegers && number.isInteger;
}

bool hasGeneralRows(const Operand &operand) {
  return operand.hasSomeRows() && !operand.hasAllRows();
}
bool hasGeneralColumns(const Operand &operand) {
  return operand.hasSomeColumns() && !operand.hasAllColumns();
}

std::vector<KernelParameter> kernelParameters(const FusedOperator &fused, KernelVariant variant) {
  return ParameterList(fused).run(variant);
}

std::string kernelName(const FusedOperator &fused, KernelVariant variant) {
  return fused.op.name + "_" + std::string(variantName(variant)) + "_kernel";
}

} // namespace nereid::generator
