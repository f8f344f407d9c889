/* SPDX-License-Identifier: Apache-2.0
 *
 * Nereid's C interface (C99): compile Triton-language kernels without Python and launch them on
 * tensors the program owns. nereid.hpp wraps it for C++. Every function that can fail returns a
 * nereid_status; nereid_last_error() then holds the full text for the calling thread. No function
 * throws, exits or keeps a pointer it was given beyond what it says. Null pointers, sizes and
 * numbers that cannot be, and texts that are not UTF-8 or longer than a name can be (4096 bytes, a
 * signature or a list of attributes 1 MiB) are refused with NEREID_ERROR_ARGUMENT; functions
 * without a status take NULL as an empty tensor or kernel. All functions may be called from several
 * threads at once; one tensor must not be written by two of them. */
#ifndef NEREID_NEREID_H
#define NEREID_NEREID_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define NEREID_API __attribute__((visibility("default")))
#else
#define NEREID_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define NEREID_VERSION_MAJOR 0
#define NEREID_VERSION_MINOR 1
#define NEREID_VERSION_PATCH 0

typedef enum nereid_status {
  NEREID_OK = 0,
  NEREID_ERROR_ARGUMENT = 1, /* a null pointer, an impossible size, an unknown name */
  NEREID_ERROR_COMPILE = 2,  /* the kernel was refused; the text has place and caret */
  NEREID_ERROR_LAUNCH = 3,   /* arguments or grid do not fit the kernel, or a device assertion */
  NEREID_ERROR_MEMORY = 4,   /* memory cannot be had */
  NEREID_ERROR_FILE = 5,     /* a file cannot be read or written */
  NEREID_ERROR_INTERNAL = 6  /* a bug of this library */
} nereid_status;

/* "0.1.0" */
NEREID_API const char *nereid_version(void);
/* Text and code ("E0206") of the last failure on this thread; "" before the first one. Valid until
 * the next call of this library on this thread. */
NEREID_API const char *nereid_last_error(void);
NEREID_API const char *nereid_last_error_code(void);

/* Threads that launches and eager operations use. 0 = every CPU this process may run on. Must not
 * be called while another thread launches. */
NEREID_API nereid_status nereid_set_thread_count(int threads);
NEREID_API int nereid_thread_count(void);

/* ---- tensors ------------------------------------------------------------------------------- */

/* Numbers that callers pass are integers and not enumerations: any value may arrive, and one that
 * is none of these is refused. */
typedef int32_t nereid_dtype;
enum {
  NEREID_BOOL,
  NEREID_I8,
  NEREID_I16,
  NEREID_I32,
  NEREID_I64,
  NEREID_U8,
  NEREID_U16,
  NEREID_U32,
  NEREID_U64,
  NEREID_F16,
  NEREID_BF16,
  NEREID_F32,
  NEREID_F64,
  NEREID_F8E4M3FN,
  NEREID_F8E5M2,
  NEREID_F8E4M3FNUZ,
  NEREID_F8E5M2FNUZ,
  NEREID_F8E4B15 /* no infinity, no NaN; Triton's own, "float8e4b15" */
};

typedef struct nereid_tensor nereid_tensor;
struct DLManagedTensor;

/* "float32" and "fp32" are both understood; writes the type and returns NEREID_OK. */
NEREID_API nereid_status nereid_dtype_parse(const char *name, nereid_dtype *dtype);
/* "float32"; "" for a value that is none of the enumerators. */
NEREID_API const char *nereid_dtype_name(nereid_dtype dtype);
NEREID_API size_t nereid_dtype_bytes(nereid_dtype dtype);

/* Contiguous and uninitialised. */
NEREID_API nereid_status nereid_tensor_create(const int64_t *shape, int rank, nereid_dtype dtype,
                                              nereid_tensor **tensor);
/* The same in the memory of a device: 'cpu', or with a number, 'cpu:0'. */
NEREID_API nereid_status nereid_tensor_create_on(const char *device, const int64_t *shape, int rank,
                                                 nereid_dtype dtype, nereid_tensor **tensor);
/* The same in host memory that copies of the device's streams need not stage (pinned): they do not
 * keep their caller waiting. A device without such memory gives plain memory. */
NEREID_API nereid_status nereid_tensor_create_pinned(const char *device, const int64_t *shape,
                                                     int rank, nereid_dtype dtype,
                                                     nereid_tensor **tensor);
/* Memory the caller keeps alive. strides: in elements, NULL = contiguous. Every element must lie
 * within the address space, at a multiple of its size. */
NEREID_API nereid_status nereid_tensor_borrow(void *data, const int64_t *shape,
                                              const int64_t *strides, int rank, nereid_dtype dtype,
                                              nereid_tensor **tensor);
/* Part of a tensor, sharing its memory: starts `offset` elements after its first one. Every element
 * of the view must lie within the extent of the original. */
NEREID_API nereid_status nereid_tensor_view(const nereid_tensor *tensor, int64_t offset,
                                            const int64_t *shape, const int64_t *strides, int rank,
                                            nereid_tensor **view);
/* On success the tensor owns `managed` and calls its deleter when freed; on failure nothing was
 * taken over. */
NEREID_API nereid_status nereid_tensor_from_dlpack(struct DLManagedTensor *managed,
                                                   nereid_tensor **tensor);
/* Shares the memory; the receiver calls the deleter. The memory lives until both are gone. */
NEREID_API nereid_status nereid_tensor_to_dlpack(const nereid_tensor *tensor,
                                                 struct DLManagedTensor **managed);
/* NumPy .npy files. */
NEREID_API nereid_status nereid_tensor_load(const char *path, nereid_tensor **tensor);
NEREID_API nereid_status nereid_tensor_save(const nereid_tensor *tensor, const char *path);
/* NULL is allowed. */
NEREID_API void nereid_tensor_free(nereid_tensor *tensor);

/* 'cpu:0' */
NEREID_API const char *nereid_tensor_device(const nereid_tensor *tensor);
/* An address of the tensor's device, which the host can reach only if that is the CPU. */
NEREID_API void *nereid_tensor_data(const nereid_tensor *tensor);
NEREID_API int nereid_tensor_rank(const nereid_tensor *tensor);
/* `rank` values each, valid as long as the tensor. */
NEREID_API const int64_t *nereid_tensor_shape(const nereid_tensor *tensor);
NEREID_API const int64_t *nereid_tensor_strides(const nereid_tensor *tensor);
NEREID_API nereid_dtype nereid_tensor_dtype(const nereid_tensor *tensor);
NEREID_API int64_t nereid_tensor_element_count(const nereid_tensor *tensor);
NEREID_API int nereid_tensor_is_contiguous(const nereid_tensor *tensor);
/* Element number `index` in row-major order; 0 and no effect when out of range. Where the tensor's
 * device fails, NaN and no effect; nereid_last_error has the text. */
NEREID_API double nereid_tensor_get(const nereid_tensor *tensor, int64_t index);
NEREID_API void nereid_tensor_set(nereid_tensor *tensor, int64_t index, double value);
/* A contiguous copy in another type. */
NEREID_API nereid_status nereid_tensor_convert(const nereid_tensor *tensor, nereid_dtype dtype,
                                               nereid_tensor **converted);
/* Floats become NaN, all other bytes 0xCD. */
NEREID_API nereid_status nereid_tensor_poison(nereid_tensor *tensor);
NEREID_API nereid_status nereid_tensor_fill(nereid_tensor *tensor, double value);
/* The same numbers on every machine and thread count; integers are in [low, high). Bounds are
 * finite, in order, and such that the tensor's type holds them. */
NEREID_API nereid_status nereid_tensor_fill_normal(nereid_tensor *tensor, uint64_t seed);
NEREID_API nereid_status nereid_tensor_fill_uniform(nereid_tensor *tensor, uint64_t seed,
                                                    double low, double high);
NEREID_API nereid_status nereid_tensor_fill_integers(nereid_tensor *tensor, uint64_t seed,
                                                     int64_t low, int64_t high);

/* ---- kernels ------------------------------------------------------------------------------- */

typedef struct nereid_kernel nereid_kernel;

/* Compiles, or takes from the cache, one @triton.jit function of a .py file. function: NULL = the
 * only kernel in the file. signature: "*fp32:16, *fp32, i32, 1024" or by name. target: NULL = this
 * machine's CPU. */
NEREID_API nereid_status nereid_kernel_load(const char *path, const char *function,
                                            const char *signature, const char *target,
                                            nereid_kernel **kernel);
/* The same on a device, for NULL as `target` compiled for it; else the target is of its kind.
 * Without a device a kernel is loaded on the first one of the target's kind. */
NEREID_API nereid_status nereid_kernel_load_on(const char *device, const char *path,
                                               const char *function, const char *signature,
                                               const char *target, nereid_kernel **kernel);
/* Both from text; `name` stands for the file in messages. */
NEREID_API nereid_status nereid_kernel_load_source(const char *source, const char *name,
                                                   const char *function, const char *signature,
                                                   const char *target, nereid_kernel **kernel);
NEREID_API nereid_status nereid_kernel_load_source_on(const char *device, const char *source,
                                                      const char *name, const char *function,
                                                      const char *signature, const char *target,
                                                      nereid_kernel **kernel);
/* Also looks for the modules that kernels import in this folder, after the folders of the kernel's
 * own file and before those of NEREID_IMPORT_PATH: for every kernel this process loads from now on.
 */
NEREID_API nereid_status nereid_import_path_add(const char *folder);
NEREID_API void nereid_kernel_free(nereid_kernel *kernel);
/* Name and canonical specialisation, valid as long as the kernel. */
NEREID_API const char *nereid_kernel_name(const nereid_kernel *kernel);
NEREID_API const char *nereid_kernel_signature(const nereid_kernel *kernel);
NEREID_API int nereid_kernel_argument_count(const nereid_kernel *kernel);

typedef int32_t nereid_argument_kind;
enum {
  NEREID_ARGUMENT_TENSOR = 0,  /* value.tensor */
  NEREID_ARGUMENT_DLPACK = 1,  /* value.dlpack: a DLTensor, read during the launch only */
  NEREID_ARGUMENT_INTEGER = 2, /* value.integer; for a uint64 parameter its 64 bits */
  NEREID_ARGUMENT_FLOAT = 3,   /* value.number */
  NEREID_ARGUMENT_DEFAULT = 4  /* of a number of an operator: what its definition says */
};

typedef struct nereid_argument {
  nereid_argument_kind kind;
  union {
    const nereid_tensor *tensor;
    const void *dlpack;
    int64_t integer;
    double number;
  } value;
} nereid_argument;

/* Runs grid[0] × grid[1] × grid[2] program instances and waits for all of them. The arguments are
 * the run-time parameters in order; constexpr parameters have none. A tensor descriptor, in the
 * signature "tensordesc<fp16[128,64]>", takes a tensor of as many dimensions. */
NEREID_API nereid_status nereid_kernel_launch(const nereid_kernel *kernel, const int64_t grid[3],
                                              const nereid_argument *arguments, size_t count);

/* ---- streams of devices -------------------------------------------------------------------- */

/* Work of a device, done in order. On the CPU each call returns when its work is done; on other
 * devices copies and launches are queued, and host memory that they name must stay as it is until
 * the stream was waited for. One thread at a time uses a stream. Nothing orders the work of two
 * streams but nereid_stream_wait; functions that name no stream return when their work is done and
 * wait for no stream. A call that fails has queued nothing, and may tell a failure of earlier work.
 * docs/streams.md has the whole contract. */
typedef struct nereid_stream nereid_stream;
typedef struct nereid_event nereid_event;
typedef struct nereid_graph nereid_graph;

NEREID_API nereid_status nereid_stream_create(const char *device, nereid_stream **stream);
/* A stream of another library on this device, by its handle (a CUstream, NULL being the one without
 * a name): the work of both is in the order of the calls. It stays that library's, and must live as
 * long as `stream`. */
NEREID_API nereid_status nereid_stream_wrap(const char *device, void *handle,
                                            nereid_stream **stream);
/* NULL is allowed. Waits for what is queued, unless the stream is another library's. */
NEREID_API void nereid_stream_free(nereid_stream *stream);
/* All elements of a contiguous tensor of the stream's device, from and to host memory. bytes: the
 * size of the tensor. */
NEREID_API nereid_status nereid_stream_copy_in(nereid_stream *stream, nereid_tensor *tensor,
                                               const void *from, size_t bytes);
NEREID_API nereid_status nereid_stream_copy_out(nereid_stream *stream, const nereid_tensor *tensor,
                                                void *to, size_t bytes);
/* nereid_kernel_launch of a kernel of the stream's device, without waiting. Tensors and kernel must
 * live until the stream was waited for. */
NEREID_API nereid_status nereid_stream_launch(nereid_stream *stream, const nereid_kernel *kernel,
                                              const int64_t grid[3],
                                              const nereid_argument *arguments, size_t count);
/* A point behind all that was queued. */
NEREID_API nereid_status nereid_stream_record(nereid_stream *stream, nereid_event **event);
/* What is queued from here on begins when the event's stream has come to its point. The event, of a
 * device of the same kind, may be freed at once. */
NEREID_API nereid_status nereid_stream_wait(nereid_stream *stream, const nereid_event *event);
/* Waits until nothing that was queued touches memory any more, and tells what failed first since
 * the last time. */
NEREID_API nereid_status nereid_stream_synchronize(nereid_stream *stream);
/* From here on launches and copies are recorded and not run; a graph reads and writes host memory
 * when it runs. All other calls on the stream fail meanwhile, and the capture goes on. Fails on
 * devices that have no graphs: the CPU and NVIDIA's GPUs have. */
NEREID_API nereid_status nereid_stream_begin_capture(nereid_stream *stream);
/* Ends the capture, also when it fails. What was recorded can be launched as often as wanted:
 * arguments keep their values, tensors and host memory must live, kernels may be freed. */
NEREID_API nereid_status nereid_stream_end_capture(nereid_stream *stream, nereid_graph **graph);
/* Queues all of it on a stream of the graph's device. One thread at a time uses a graph. */
NEREID_API nereid_status nereid_graph_launch(const nereid_graph *graph, nereid_stream *stream);
/* NULL is allowed. When the streams that it was launched on were waited for. */
NEREID_API void nereid_graph_free(nereid_graph *graph);
/* NULL is allowed. */
NEREID_API void nereid_event_free(nereid_event *event);
/* Waits for both events, of one device. */
NEREID_API nereid_status nereid_event_elapsed(const nereid_event *start, const nereid_event *end,
                                              double *nanos);

/* ---- eager operations, comparison and timing: what generated companions are written with ------
 */

/* One PyTorch-named operation ("add", "softmax", …) run at once on whole tensors. attributes: a
 * JSON object such as {"dim": -1}, or NULL. */
NEREID_API nereid_status nereid_eager(const char *operation, const nereid_tensor *const *inputs,
                                      size_t count, const char *attributes, nereid_tensor **out);

typedef struct nereid_comparison {
  int agrees; /* 1 when no element is out of tolerance */
  int64_t mismatches;
  int64_t first_mismatch;  /* row-major element number, -1 = none */
  double actual, expected; /* at the first mismatch */
  double max_absolute_error, max_relative_error;
  double mean_absolute_error; /* of elements that are finite on both sides */
} nereid_comparison;

/* |actual - expected| <= absolute + relative * |expected| for every element; NaN agrees with NaN
 * only, an infinity with the same infinity only. Fails when the shapes differ or a tolerance is
 * negative or not finite. */
NEREID_API nereid_status nereid_compare(const nereid_tensor *actual, const nereid_tensor *expected,
                                        double relative, double absolute,
                                        nereid_comparison *result);

/* ---- operators ----------------------------------------------------------------------------- */

/* An operator as its definition (.toml) describes it. Calls compile its kernels when they are
 * needed, once for a type and a way to cut sizes, and keep them as long as the operator. */
typedef struct nereid_operator nereid_operator;

/* By name, "softmax", from the folders of NEREID_OPERATOR_PATH or those that are installed; or by
 * the path of a definition, which has more than letters, digits and underscores.
 * NEREID_ERROR_FILE when there is none or it cannot be read, NEREID_ERROR_ARGUMENT when it is no
 * definition. */
NEREID_API nereid_status nereid_operator_load(const char *path, nereid_operator **made);
/* From a definition's text, of at most 1 MiB; `name` stands for the file in messages, NULL = none.
 */
NEREID_API nereid_status nereid_operator_load_source(const char *source, const char *name,
                                                     nereid_operator **made);
/* The operator of the gradients: its inputs are those of the outputs ("grad_out"), then the inputs
 * and outputs that it reads, its outputs the gradients of `inputs`, of all float tensors without
 * any. E0620 where there is no gradient. */
NEREID_API nereid_status nereid_operator_backward(const nereid_operator *made,
                                                  const char *const *inputs, size_t count,
                                                  nereid_operator **backward);
/* NULL is allowed. When the streams that it was called on were waited for. */
NEREID_API void nereid_operator_free(nereid_operator *made);

#define NEREID_OWN_DTYPE (-1) /* the type in which the operator is called */

typedef struct nereid_parameter {
  const char *name;        /* valid as long as the operator */
  const char *shape;       /* "[..., D]", valid until the next such call on this thread */
  const char *description; /* valid as long as the operator */
  nereid_dtype dtype;      /* NEREID_OWN_DTYPE unless the definition gives one */
  int is_number;           /* 1: no tensor, but a number with a default */
  int is_integer;          /* of a number: the default has no fraction */
  double value;            /* of a number: the default */
  const char *memory;      /* of an output: the input that it is written into; NULL: none */
} nereid_parameter;

NEREID_API const char *nereid_operator_name(const nereid_operator *made);
/* Inputs are counted in the order of a call: the tensors, then the numbers. */
NEREID_API int nereid_operator_input_count(const nereid_operator *made);
NEREID_API nereid_status nereid_operator_input(const nereid_operator *made, int index,
                                               nereid_parameter *parameter);
NEREID_API int nereid_operator_output_count(const nereid_operator *made);
NEREID_API nereid_status nereid_operator_output(const nereid_operator *made, int index,
                                                nereid_parameter *parameter);
/* The types that the operator can be called in; NEREID_OWN_DTYPE behind the last one. */
NEREID_API int nereid_operator_dtype_count(const nereid_operator *made);
NEREID_API nereid_dtype nereid_operator_dtype(const nereid_operator *made, int index);

typedef struct nereid_layout {
  nereid_dtype dtype;
  int rank;
  const int64_t *shape; /* valid until the next nereid_operator_infer on this thread */
} nereid_layout;

/* Type and shape of each output of a call with these arguments, which is checked but not made. */
NEREID_API nereid_status nereid_operator_infer(const nereid_operator *made,
                                               const nereid_argument *arguments, size_t count,
                                               nereid_layout *outputs, size_t output_count);
/* Calls the operator on the device of its tensors. arguments: the tensors, then the numbers, of
 * which the last ones may be left out. outputs: a tensor to write for each output, or NULL for one
 * to be made, which the caller then owns; on failure none is. An output may be an input, the very
 * same tensor, and overlaps nothing else; one that is written into an input is that tensor, and
 * NULL makes another handle of its memory. stream: of that device, under the rules of
 * nereid_stream_launch, where the operator must live as kernels must; NULL = waits until it is
 * done. Tensors may have gaps between their rows; with other strides they are copied, or refused
 * where that cannot be waited for. */
NEREID_API nereid_status nereid_operator_call(const nereid_operator *made,
                                              const nereid_argument *arguments, size_t count,
                                              nereid_tensor **outputs, size_t output_count,
                                              nereid_stream *stream);

/* How the implementation that is judged rounds. */
typedef int32_t nereid_rounding;
enum {
  NEREID_ROUNDS_RESULTS = 0, /* a fused kernel: computes in float32, rounds its results */
  NEREID_ROUNDS_EACH = 1     /* an eager framework: rounds after each operation */
};

typedef struct nereid_verdict {
  int agrees;       /* 1 when there is no mismatch and at most 5 % cannot be verified */
  int64_t elements; /* of all outputs */
  int64_t mismatches;
  int64_t unverifiable;  /* elements where a right implementation may leave its type's range */
  int first_output;      /* of the first mismatch, -1 = none */
  int64_t first_element; /* row-major, -1 = none */
  double actual, expected, bound; /* at the first mismatch */
  double max_absolute;            /* error of a finite element */
  double mean_absolute;           /* of the errors of all finite elements */
  int64_t finite;                 /* elements, on both sides, without the unverifiable */
  double max_of_bound;            /* largest error over its bound; above 1 is a mismatch */
} nereid_verdict;

/* Holds outputs against the definition's reference in float64, each element within a bound of its
 * own, as `nereid verify` does: an infinity agrees with the same infinity only, NaN with NaN only,
 * a zero with one of the same sign where IEEE 754 defines it. inputs: the tensor parameters in
 * order, and numbers have their defaults; or all parameters, numbers as tensors of one element.
 * Of inputs that the operator writes: what they held before the call.
 * Fails when shapes or types do not fit the definition; a mismatch is no failure. */
NEREID_API nereid_status nereid_operator_verify(const nereid_operator *made,
                                                const nereid_tensor *const *inputs,
                                                size_t input_count,
                                                const nereid_tensor *const *outputs,
                                                size_t output_count, nereid_rounding rounding,
                                                nereid_verdict *verdict);
/* "element 17 expects 1.5 ± 1e-07, but got nan (3 of 1024 differ; max error 0.25, mean 0.001)" in
 * UTF-8; "" for a verdict that agrees. Valid until the next call of this function on this thread.
 */
NEREID_API const char *nereid_verdict_text(const nereid_verdict *verdict);

typedef int (*nereid_callback)(void *context); /* 0 = went well; anything else ends the timing */

typedef struct nereid_time_options {
  int minimum_samples;           /* 20 at least, whatever is asked; at most 1000000 */
  double budget_seconds;         /* 0 = 5 */
  nereid_callback before_sample; /* e.g. poison the outputs; not timed; may be NULL */
  void *context;
  int cold_caches; /* 1: before each sample, of one run then, the processor's caches are emptied */
} nereid_time_options;

typedef struct nereid_samples {
  int count;
  double median_nanos, p90_nanos, p99_nanos;
  double relative_deviation; /* of the samples, 0.05 = 5 % */
  double mean_nanos, minimum_nanos;
  int is_noisy; /* 1: the deviation stayed above 5 %, or p90 above 1.5 times the median */
} nereid_samples;

typedef struct nereid_time_pair_result {
  nereid_samples first, second;
  double speedup;     /* median of first / median of second */
  double probability; /* Mann-Whitney U: of a difference like this between equal versions */
  int is_noisy;       /* 1 when a relative deviation stayed above 5 % */
} nereid_time_pair_result;

/* Times one callable: warmed up until two runs agree, then 20 samples at least, more while they
 * scatter and the budget lasts. Runs of less than 20 us are repeated within a sample. What it
 * queues on a device it also waits for. */
NEREID_API nereid_status nereid_time(nereid_callback callback, void *context,
                                     const nereid_time_options *options, nereid_samples *result);
/* Times two callables alternately in one run, each as nereid_time does. */
NEREID_API nereid_status nereid_time_pair(nereid_callback first, void *first_context,
                                          nereid_callback second, void *second_context,
                                          const nereid_time_options *options,
                                          nereid_time_pair_result *result);

/* Bytes per second that copying large tensors reaches on this machine with the current thread
 * count (bytes read plus bytes written); calibrated once and kept in the user's cache folder. */
NEREID_API nereid_status nereid_copy_bandwidth(double *bytes_per_second);

#ifdef __cplusplus
}
#endif
#endif
