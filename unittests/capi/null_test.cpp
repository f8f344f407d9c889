// SPDX-License-Identifier: Apache-2.0
// Every function of the C interface with a null pointer in the place of each of its pointers in
// turn: refused with a text that names the function, or taken where the header says so.
#include "nereid/nereid.h"

#include <dlpack/dlpack.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>
#include <unistd.h>

namespace {

constexpr const char *source = "import triton\n"
                               "import triton.language as tl\n"
                               "@triton.jit\n"
                               "def one(x):\n"
                               "    tl.store(x, 1.0)\n";

int doNothing(void *) { return 0; }

constexpr const char *definitionText =
    "[operator]\nname = \"op\"\nsummary = \"s\"\n"
    "dtypes = [\"float32\"]\nbody = \"\"\"\nout = x + 1\n\"\"\"\n"
    "[inputs.x]\nshape = [\"N\"]\n[outputs.out]\n"
    "shape = [\"N\"]\n[performance]\ncases = [{ N = 4 }]\n";

const std::string softmaxPath = std::string(NEREID_SOURCE_DIR) + "/operators/softmax.toml";

/// What calls need besides the pointer that is null.
struct Things {
  const int64_t shape[2] = {2, 3}, strides[2] = {3, 1}, grid[3] = {1, 1, 1};
  float data[6] = {};
  std::string path = "/tmp/nereid_null_" + std::to_string(::getpid()) + ".npy";
  nereid_tensor *tensor = nullptr, *other = nullptr;
  nereid_kernel *kernel = nullptr;
  nereid_stream *stream = nullptr;
  nereid_event *event = nullptr;
  nereid_graph *graph = nullptr;
  nereid_operator *op = nullptr;
  nereid_parameter parameter{};
  nereid_comparison comparison{};
  nereid_time_options options{};
  nereid_time_pair_result timing{};
  nereid_argument argument{};
  double number = 0;
  nereid_dtype dtype = NEREID_F32;
  DLManagedTensor managed{};

  Things() {
    EXPECT_EQ(nereid_tensor_create(shape, 2, NEREID_F32, &tensor), NEREID_OK);
    EXPECT_EQ(nereid_tensor_fill(tensor, 1), NEREID_OK);
    EXPECT_EQ(nereid_tensor_save(tensor, path.c_str()), NEREID_OK);
    EXPECT_EQ(nereid_kernel_load_source(source, "one.py", nullptr, "*fp32", nullptr, &kernel),
              NEREID_OK)
        << nereid_last_error();
    EXPECT_EQ(nereid_stream_create("cpu", &stream), NEREID_OK);
    EXPECT_EQ(nereid_operator_load("softmax", &op), NEREID_OK) << nereid_last_error();
    EXPECT_EQ(nereid_stream_record(stream, &event), NEREID_OK);
    EXPECT_EQ(nereid_stream_begin_capture(stream), NEREID_OK);
    EXPECT_EQ(nereid_stream_end_capture(stream, &graph), NEREID_OK);
    argument.kind = NEREID_ARGUMENT_TENSOR;
    argument.value.tensor = tensor;
    options.minimum_samples = 2;
    options.budget_seconds = 0.01;
    int64_t *sizes = const_cast<int64_t *>(shape);
    managed.dl_tensor = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, sizes, nullptr, 0};
  }
  ~Things() {
    drop();
    nereid_tensor_free(tensor);
    nereid_kernel_free(kernel);
    nereid_event_free(event);
    nereid_graph_free(graph);
    nereid_stream_free(stream);
    nereid_operator_free(op);
    ::unlink(path.c_str());
  }
  /// A place for a result, emptied first.
  nereid_tensor **place() {
    drop();
    return &other;
  }
  void drop() {
    nereid_tensor_free(other);
    other = nullptr;
  }
};

/// `run(at)` passes null as pointer `at` and everything else as it should be; -1 = no null.
struct Call {
  const char *name;
  int pointers; ///< that must not be null; further ones may
  int optional;
  std::function<nereid_status(Things &, int at)> run;
};

template <class T> T *unless(bool isNull, T *pointer) { return isNull ? nullptr : pointer; }

const std::vector<Call> &calls() {
  static const std::vector<Call> all = {
      {"nereid_dtype_parse", 2, 0,
       [](Things &t, int at) {
         return nereid_dtype_parse(unless(at == 0, "float32"), unless(at == 1, &t.dtype));
       }},
      {"nereid_tensor_create", 2, 0,
       [](Things &t, int at) {
         return nereid_tensor_create(unless(at == 0, t.shape), 2, NEREID_F32,
                                     unless(at == 1, t.place()));
       }},
      {"nereid_tensor_create_on", 3, 0,
       [](Things &t, int at) {
         return nereid_tensor_create_on(unless(at == 0, "cpu"), unless(at == 1, t.shape), 2,
                                        NEREID_F32, unless(at == 2, t.place()));
       }},
      {"nereid_tensor_create_pinned", 3, 0,
       [](Things &t, int at) {
         return nereid_tensor_create_pinned(unless(at == 0, "cpu"), unless(at == 1, t.shape), 2,
                                            NEREID_F32, unless(at == 2, t.place()));
       }},
      {"nereid_tensor_borrow", 3, 1,
       [](Things &t, int at) {
         return nereid_tensor_borrow(unless<void>(at == 0, t.data), unless(at == 1, t.shape),
                                     unless(at == 3, t.strides), 2, NEREID_F32,
                                     unless(at == 2, t.place()));
       }},
      {"nereid_tensor_view", 3, 1,
       [](Things &t, int at) {
         return nereid_tensor_view(unless(at == 0, t.tensor), 0, unless(at == 1, t.shape),
                                   unless(at == 3, t.strides), 2, unless(at == 2, t.place()));
       }},
      {"nereid_tensor_from_dlpack", 2, 0,
       [](Things &t, int at) {
         return nereid_tensor_from_dlpack(unless(at == 0, &t.managed), unless(at == 1, t.place()));
       }},
      {"nereid_tensor_to_dlpack", 2, 0,
       [](Things &t, int at) {
         DLManagedTensor *made = nullptr;
         const nereid_status status =
             nereid_tensor_to_dlpack(unless(at == 0, t.tensor), unless(at == 1, &made));
         if (made) {
           made->deleter(made);
         }
         return status;
       }},
      {"nereid_tensor_load", 2, 0,
       [](Things &t, int at) {
         return nereid_tensor_load(unless(at == 0, t.path.c_str()), unless(at == 1, t.place()));
       }},
      {"nereid_tensor_save", 2, 0,
       [](Things &t, int at) {
         return nereid_tensor_save(unless(at == 0, t.tensor), unless(at == 1, t.path.c_str()));
       }},
      {"nereid_tensor_convert", 2, 0,
       [](Things &t, int at) {
         return nereid_tensor_convert(unless(at == 0, t.tensor), NEREID_F16,
                                      unless(at == 1, t.place()));
       }},
      {"nereid_tensor_poison", 1, 0,
       [](Things &t, int at) { return nereid_tensor_poison(unless(at == 0, t.tensor)); }},
      {"nereid_tensor_fill", 1, 0,
       [](Things &t, int at) { return nereid_tensor_fill(unless(at == 0, t.tensor), 1); }},
      {"nereid_tensor_fill_normal", 1, 0,
       [](Things &t, int at) { return nereid_tensor_fill_normal(unless(at == 0, t.tensor), 1); }},
      {"nereid_tensor_fill_uniform", 1, 0,
       [](Things &t, int at) {
         return nereid_tensor_fill_uniform(unless(at == 0, t.tensor), 1, 0, 1);
       }},
      {"nereid_tensor_fill_integers", 1, 0,
       [](Things &t, int at) {
         return nereid_tensor_fill_integers(unless(at == 0, t.tensor), 1, 0, 9);
       }},
      {"nereid_kernel_load", 3, 2,
       [](Things &t, int at) {
         const std::string path = std::string(NEREID_SOURCE_DIR) + "/kernels/relu/relu.py";
         nereid_kernel *made = nullptr;
         const nereid_status status =
             nereid_kernel_load(unless(at == 0, path.c_str()), unless(at == 3, "relu"),
                                unless(at == 1, "*fp32, *fp32, i32, 64"), unless(at == 4, "cpu"),
                                unless(at == 2, &made));
         nereid_kernel_free(made);
         return status;
       }},
      {"nereid_kernel_load_on", 4, 2,
       [](Things &, int at) {
         const std::string path = std::string(NEREID_SOURCE_DIR) + "/kernels/relu/relu.py";
         nereid_kernel *made = nullptr;
         const nereid_status status = nereid_kernel_load_on(
             unless(at == 0, "cpu:0"), unless(at == 1, path.c_str()), unless(at == 4, "relu"),
             unless(at == 2, "*fp32, *fp32, i32, 64"), unless(at == 5, "cpu"),
             unless(at == 3, &made));
         nereid_kernel_free(made);
         return status;
       }},
      {"nereid_kernel_load_source_on", 4, 3,
       [](Things &, int at) {
         nereid_kernel *made = nullptr;
         const nereid_status status = nereid_kernel_load_source_on(
             unless(at == 0, "cpu:0"), unless(at == 1, source), unless(at == 4, "one.py"),
             unless(at == 5, "one"), unless(at == 2, "*fp32"), unless(at == 6, "cpu"),
             unless(at == 3, &made));
         nereid_kernel_free(made);
         return status;
       }},
      {"nereid_kernel_load_source", 3, 3,
       [](Things &t, int at) {
         nereid_kernel *made = nullptr;
         const nereid_status status = nereid_kernel_load_source(
             unless(at == 0, source), unless(at == 3, "one.py"), unless(at == 4, "one"),
             unless(at == 1, "*fp32"), unless(at == 5, "cpu"), unless(at == 2, &made));
         nereid_kernel_free(made);
         return status;
       }},
      {"nereid_import_path_add", 1, 0,
       [](Things &, int at) { return nereid_import_path_add(unless(at == 0, "/tmp")); }},
      {"nereid_kernel_launch", 3, 0,
       [](Things &t, int at) {
         return nereid_kernel_launch(unless(at == 0, t.kernel), unless(at == 1, t.grid),
                                     unless(at == 2, &t.argument), 1);
       }},
      {"nereid_stream_create", 2, 0,
       [](Things &, int at) {
         nereid_stream *made = nullptr;
         const nereid_status status =
             nereid_stream_create(unless(at == 0, "cpu:0"), unless(at == 1, &made));
         nereid_stream_free(made);
         return status;
       }},
      // The CPU has no streams of other libraries; stream_test.cpp wraps one.
      {"nereid_stream_wrap", 2, 0,
       [](Things &t, int at) {
         nereid_stream *made = nullptr;
         const nereid_status status =
             nereid_stream_wrap(unless(at == 0, "cpu:0"), t.data, unless(at == 1, &made));
         return at < 0 && std::string(nereid_last_error_code()) == "E0417" ? NEREID_OK : status;
       }},
      {"nereid_stream_wait", 2, 0,
       [](Things &t, int at) {
         return nereid_stream_wait(unless(at == 0, t.stream), unless(at == 1, t.event));
       }},
      {"nereid_stream_copy_in", 3, 0,
       [](Things &t, int at) {
         return nereid_stream_copy_in(unless(at == 0, t.stream), unless(at == 1, t.tensor),
                                      unless<void>(at == 2, t.data), sizeof t.data);
       }},
      {"nereid_stream_copy_out", 3, 0,
       [](Things &t, int at) {
         return nereid_stream_copy_out(unless(at == 0, t.stream), unless(at == 1, t.tensor),
                                       unless<void>(at == 2, t.data), sizeof t.data);
       }},
      {"nereid_stream_launch", 4, 0,
       [](Things &t, int at) {
         return nereid_stream_launch(unless(at == 0, t.stream), unless(at == 1, t.kernel),
                                     unless(at == 2, t.grid), unless(at == 3, &t.argument), 1);
       }},
      {"nereid_stream_record", 2, 0,
       [](Things &t, int at) {
         nereid_event *made = nullptr;
         const nereid_status status =
             nereid_stream_record(unless(at == 0, t.stream), unless(at == 1, &made));
         nereid_event_free(made);
         return status;
       }},
      {"nereid_stream_synchronize", 1, 0,
       [](Things &t, int at) { return nereid_stream_synchronize(unless(at == 0, t.stream)); }},
      {"nereid_stream_begin_capture", 1, 0,
       [](Things &t, int at) {
         nereid_graph *made = nullptr;
         const nereid_status status = nereid_stream_begin_capture(unless(at == 0, t.stream));
         if (status == NEREID_OK) {
           EXPECT_EQ(nereid_stream_end_capture(t.stream, &made), NEREID_OK);
         }
         nereid_graph_free(made);
         return status;
       }},
      {"nereid_stream_end_capture", 2, 0,
       [](Things &t, int at) {
         nereid_graph *made = nullptr;
         EXPECT_EQ(nereid_stream_begin_capture(t.stream), NEREID_OK);
         const nereid_status status =
             nereid_stream_end_capture(unless(at == 0, t.stream), unless(at == 1, &made));
         if (status != NEREID_OK) {
           EXPECT_EQ(nereid_stream_end_capture(t.stream, &made), NEREID_OK) << "it went on";
         }
         nereid_graph_free(made);
         return status;
       }},
      {"nereid_graph_launch", 2, 0,
       [](Things &t, int at) {
         return nereid_graph_launch(unless(at == 0, t.graph), unless(at == 1, t.stream));
       }},
      {"nereid_event_elapsed", 3, 0,
       [](Things &t, int at) {
         return nereid_event_elapsed(unless(at == 0, t.event), unless(at == 1, t.event),
                                     unless(at == 2, &t.number));
       }},
      {"nereid_eager", 3, 1,
       [](Things &t, int at) {
         const nereid_tensor *inputs[] = {t.tensor};
         return nereid_eager(unless(at == 0, "relu"), unless(at == 1, inputs), 1,
                             unless(at == 3, "{}"), unless(at == 2, t.place()));
       }},
      {"nereid_compare", 3, 0,
       [](Things &t, int at) {
         return nereid_compare(unless(at == 0, t.tensor), unless(at == 1, t.tensor), 0, 0,
                               unless(at == 2, &t.comparison));
       }},
      {"nereid_operator_load", 2, 0,
       [](Things &, int at) {
         nereid_operator *made = nullptr;
         const nereid_status status =
             nereid_operator_load(unless(at == 0, softmaxPath.c_str()), unless(at == 1, &made));
         nereid_operator_free(made);
         return status;
       }},
      {"nereid_operator_load_source", 2, 1,
       [](Things &, int at) {
         nereid_operator *made = nullptr;
         const nereid_status status = nereid_operator_load_source(
             unless(at == 0, definitionText), unless(at == 2, "t.toml"), unless(at == 1, &made));
         nereid_operator_free(made);
         return status;
       }},
      {"nereid_operator_input", 2, 0,
       [](Things &t, int at) {
         return nereid_operator_input(unless(at == 0, t.op), 0, unless(at == 1, &t.parameter));
       }},
      {"nereid_operator_output", 2, 0,
       [](Things &t, int at) {
         return nereid_operator_output(unless(at == 0, t.op), 0, unless(at == 1, &t.parameter));
       }},
      {"nereid_operator_infer", 3, 0,
       [](Things &t, int at) {
         nereid_layout layout{};
         return nereid_operator_infer(unless(at == 0, t.op), unless(at == 1, &t.argument), 1,
                                      unless(at == 2, &layout), 1);
       }},
      {"nereid_operator_call", 3, 1,
       [](Things &t, int at) {
         return nereid_operator_call(unless(at == 0, t.op), unless(at == 1, &t.argument), 1,
                                     unless(at == 2, t.place()), 1, unless(at == 3, t.stream));
       }},
      {"nereid_operator_backward", 3, 0,
       [](Things &t, int at) {
         nereid_operator *made = nullptr;
         const char *names[] = {"x"};
         const nereid_status status = nereid_operator_backward(
             unless(at == 0, t.op), unless(at == 1, names), 1, unless(at == 2, &made));
         nereid_operator_free(made);
         return status;
       }},
      {"nereid_operator_verify", 4, 0,
       [](Things &t, int at) {
         nereid_operator *made = nullptr;
         EXPECT_EQ(nereid_operator_load(softmaxPath.c_str(), &made), NEREID_OK);
         const nereid_tensor *list[] = {t.tensor};
         nereid_verdict verdict{};
         const nereid_status status = nereid_operator_verify(
             unless(at == 0, made), unless(at == 1, list), 1, unless(at == 2, list), 1,
             NEREID_ROUNDS_RESULTS, unless(at == 3, &verdict));
         nereid_operator_free(made);
         return status;
       }},
      {"nereid_time", 2, 2,
       [](Things &t, int at) {
         nereid_samples samples{};
         return nereid_time(at == 0 ? nullptr : &doNothing, unless<void>(at == 2, &t),
                            unless(at == 3, &t.options), unless(at == 1, &samples));
       }},
      {"nereid_time_pair", 3, 3,
       [](Things &t, int at) {
         // Without options the budget would be five seconds; it ends as soon as times are steady.
         const auto callback = [&](int place) { return at == place ? nullptr : &doNothing; };
         return nereid_time_pair(callback(0), unless<void>(at == 3, &t), callback(1),
                                 unless<void>(at == 4, &t), unless(at == 5, &t.options),
                                 unless(at == 2, &t.timing));
       }},
      {"nereid_copy_bandwidth", 1, 0,
       [](Things &t, int at) {
         // Measuring it is not what is tested here.
         return at < 0 ? NEREID_OK : nereid_copy_bandwidth(unless(at == 0, &t.number));
       }},
  };
  return all;
}

TEST(NullPointers, AreRefusedOneByOne) {
  Things things;
  for (const Call &call : calls()) {
    EXPECT_EQ(call.run(things, -1), NEREID_OK) << call.name << ": " << nereid_last_error();
    things.drop();
    for (int at = 0; at < call.pointers; ++at) {
      EXPECT_EQ(call.run(things, at), NEREID_ERROR_ARGUMENT) << call.name << " " << at;
      EXPECT_STREQ(nereid_last_error_code(), "E0031") << call.name << " " << at;
      EXPECT_NE(std::string(nereid_last_error()).find(call.name), std::string::npos)
          << nereid_last_error();
      EXPECT_EQ(things.other, nullptr) << call.name << " left a result behind";
    }
    for (int at = call.pointers; at < call.pointers + call.optional; ++at) {
      EXPECT_EQ(call.run(things, at), NEREID_OK)
          << call.name << " " << at << ": " << nereid_last_error();
    }
  }
}

TEST(NullPointers, ArgumentsOfALaunchAndInputs) {
  Things things;
  nereid_argument none{};
  for (nereid_argument_kind kind : {NEREID_ARGUMENT_TENSOR, NEREID_ARGUMENT_DLPACK}) {
    none.kind = kind;
    EXPECT_EQ(nereid_kernel_launch(things.kernel, things.grid, &none, 1), NEREID_ERROR_LAUNCH);
    EXPECT_STREQ(nereid_last_error_code(), "E0408");
  }
  for (nereid_argument_kind kind : {-1, 4, INT32_MAX, INT32_MIN}) {
    none.kind = kind;
    EXPECT_EQ(nereid_kernel_launch(things.kernel, things.grid, &none, 1), NEREID_ERROR_LAUNCH);
  }
  const nereid_tensor *inputs[] = {things.tensor, nullptr};
  EXPECT_EQ(nereid_eager("add", inputs, 2, nullptr, things.place()), NEREID_ERROR_ARGUMENT);
  EXPECT_NE(std::string(nereid_last_error()).find("input 1"), std::string::npos);
}

TEST(NullPointers, PropertiesOfNothing) {
  EXPECT_EQ(nereid_tensor_data(nullptr), nullptr);
  EXPECT_EQ(nereid_tensor_rank(nullptr), 1);
  EXPECT_EQ(nereid_tensor_shape(nullptr)[0], 0);
  EXPECT_NE(nereid_tensor_strides(nullptr), nullptr);
  EXPECT_EQ(nereid_tensor_dtype(nullptr), NEREID_F32);
  EXPECT_EQ(nereid_tensor_element_count(nullptr), 0);
  EXPECT_EQ(nereid_tensor_is_contiguous(nullptr), 1);
  EXPECT_EQ(nereid_tensor_get(nullptr, 0), 0);
  nereid_tensor_set(nullptr, 0, 1);
  nereid_tensor_free(nullptr);
  nereid_kernel_free(nullptr);
  nereid_stream_free(nullptr);
  nereid_event_free(nullptr);
  nereid_graph_free(nullptr);
  EXPECT_STREQ(nereid_tensor_device(nullptr), "cpu:0");
  EXPECT_STREQ(nereid_kernel_name(nullptr), "");
  EXPECT_STREQ(nereid_kernel_signature(nullptr), "");
  EXPECT_EQ(nereid_kernel_argument_count(nullptr), 0);
  nereid_operator_free(nullptr);
  EXPECT_STREQ(nereid_operator_name(nullptr), "");
  EXPECT_EQ(nereid_operator_input_count(nullptr), 0);
  EXPECT_EQ(nereid_operator_output_count(nullptr), 0);
  EXPECT_EQ(nereid_operator_dtype_count(nullptr), 0);
  EXPECT_EQ(nereid_operator_dtype(nullptr, 0), NEREID_OWN_DTYPE);
  EXPECT_STREQ(nereid_verdict_text(nullptr), "");
}

/// A function that joins the header joins these tests.
TEST(NullPointers, NoFunctionOfTheHeaderIsLeftOut) {
  std::set<std::string> tested = {
      // Without pointers:
      "nereid_version", "nereid_last_error", "nereid_last_error_code", "nereid_set_thread_count",
      "nereid_thread_count", "nereid_dtype_name", "nereid_dtype_bytes",
      // Without a status, above:
      "nereid_tensor_data", "nereid_tensor_rank", "nereid_tensor_shape", "nereid_tensor_strides",
      "nereid_tensor_dtype", "nereid_tensor_element_count", "nereid_tensor_is_contiguous",
      "nereid_tensor_get", "nereid_tensor_set", "nereid_tensor_free", "nereid_kernel_free",
      "nereid_tensor_device", "nereid_stream_free", "nereid_event_free", "nereid_graph_free",
      "nereid_kernel_name", "nereid_kernel_signature", "nereid_kernel_argument_count",
      "nereid_operator_free", "nereid_operator_name", "nereid_operator_input_count",
      "nereid_operator_output_count", "nereid_operator_dtype_count", "nereid_operator_dtype",
      "nereid_verdict_text"};
  for (const Call &call : calls()) {
    tested.insert(call.name);
  }
  std::ifstream file(std::string(NEREID_SOURCE_DIR) + "/include/nereid/nereid.h");
  std::stringstream text;
  text << file.rdbuf();
  const std::string header = text.str();
  const std::regex declared("NEREID_API[^;(]*[ *](nereid_[a-z_0-9]+)\\(");
  int found = 0;
  for (std::sregex_iterator at(header.begin(), header.end(), declared), end; at != end; ++at) {
    ++found;
    EXPECT_TRUE(tested.count((*at)[1])) << (*at)[1];
  }
  EXPECT_EQ(found, static_cast<int>(tested.size()));
}

} // namespace
