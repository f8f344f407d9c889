// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/onnx/AttributeKinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <sstream>

namespace nereid::importer {
namespace {

/// Names as the standard has them in all operator sets, each kind's split by spaces.
struct Kind {
  size_t alternative; ///< of Attribute
  std::string_view what, names;
};

template <class T> constexpr size_t alternativeOf() { return Attribute(T{}).index(); }

const Kind kinds[] = {
    {alternativeOf<int64_t>(), "an integer",
     "align_corners allowzero antialias axis batch_axis batch_dims block_size blocksize broadcast "
     "ceil_mode center_point_box count_include_pad detect_negative detect_positive dtype end "
     "exclude_outside exclusive fmod group hidden_size ignore_index input_forget interleaved "
     "is_causal is_test k keepdims kv_num_heads largest layout left_window_size "
     "linear_before_reset noop_with_empty_axes num_groups num_heads num_outputs output_dtype "
     "output_sequence p precision q_num_heads qk_matmul_output_mode reverse right_window_size "
     "rotary_embedding_dim saturate seed select_last_index size softmax_precision sorted spatial "
     "start stash_type storage_order time_axis to training_mode transA transB upper value_int"},
    {alternativeOf<double>(), "a number",
     "alpha beta bias clip cubic_coeff_a epsilon extrapolation_value gamma height_scale high lambd "
     "low max mean min momentum p ratio scale seed softcap value value_float width_scale"},
    {alternativeOf<std::string>(), "a word",
     "approximate auto_pad coordinate_transformation_mode direction equation "
     "keep_aspect_ratio_policy mode nearest_mode padding_mode reduction round_mode to "
     "value_string"},
    {alternativeOf<std::vector<int64_t>>(), "a list of integers",
     "axes consumed_inputs dilations ends kernel_shape output_padding output_shape paddings pads "
     "perm shape split starts strides value_ints"},
    {alternativeOf<std::vector<double>>(), "a list of numbers",
     "activation_alpha activation_beta scales value_floats"},
    {alternativeOf<std::vector<std::string>>(), "a list of words", "activations value_strings"},
    {alternativeOf<Tensor>(), "a tensor", "value sparse_value"},
};

/// The kinds that each name has.
const std::map<std::string, std::vector<const Kind *>> &kindsByName() {
  static const std::map<std::string, std::vector<const Kind *>> made = [] {
    std::map<std::string, std::vector<const Kind *>> table;
    for (const Kind &kind : kinds) {
      std::istringstream text{std::string(kind.names)};
      for (std::string name; text >> name;) {
        table[name].push_back(&kind);
      }
    }
    return table;
  }();
  return made;
}

std::string unknownName(const std::string &name) {
  std::vector<std::string> all;
  for (const auto &[known, of] : kindsByName()) {
    all.push_back(known);
  }
  const std::vector<std::string> near = nearestNames(name, all);
  return near.empty()
             ? "no standard operator has it"
             : fmt::format("no standard operator has it, nearest are {}", fmt::join(near, ", "));
}

} // namespace

std::optional<std::string> findWrongKind(const std::string &name, const Attribute &value) {
  if (std::holds_alternative<Subgraph>(value)) {
    return std::nullopt;
  }
  const auto known = kindsByName().find(name);
  if (known == kindsByName().end()) {
    return unknownName(name);
  }
  std::vector<std::string_view> expected;
  for (const Kind *kind : known->second) {
    if (kind->alternative == value.index()) {
      return std::nullopt;
    }
    expected.push_back(kind->what);
  }
  std::string_view given = "something else";
  for (const Kind &kind : kinds) {
    given = kind.alternative == value.index() ? kind.what : given;
  }
  return fmt::format("expects {}, but is {}", fmt::join(expected, " or "), given);
}

} // namespace nereid::importer
