/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels compiled ahead of time share (C99). `nereid compile KERNEL.py --emit static` writes
 * a library, and a header with one typed function for the kernel that includes this file. Behind it
 * are the kernel's machine code and a small runtime: no compiler, no Python. No function exits,
 * aborts or throws; all may be called from several threads at once. */
#ifndef NEREID_AOT_H
#define NEREID_AOT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define NEREID_AOT_API __attribute__((visibility("default")))
#else
#define NEREID_AOT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nereid_aot_status {
  NEREID_AOT_OK = 0,
  NEREID_AOT_ERROR_NULL = 1,           /* a tensor's address is NULL */
  NEREID_AOT_ERROR_ALIGNMENT = 2,      /* an address breaks a promise of the signature */
  NEREID_AOT_ERROR_DIVISIBILITY = 3,   /* an integer does */
  NEREID_AOT_ERROR_SPECIALIZATION = 4, /* the arguments fit none of the specializations */
  NEREID_AOT_ERROR_GRID = 5,           /* the grid has a negative or too large size, or no value */
  NEREID_AOT_ERROR_CPU = 6,            /* compiled for instruction sets this machine lacks */
  NEREID_AOT_ERROR_MEMORY = 7,         /* scratch memory cannot be had */
  NEREID_AOT_ERROR_ASSERTION = 8,      /* a device assertion failed */
  NEREID_AOT_ERROR_DEADLOCK = 9,       /* programs that wait for each other cannot get on */
  NEREID_AOT_ERROR_POOL = 10,          /* the caller's parallel_for failed or left tasks undone */
  NEREID_AOT_ERROR_VERSION = 11,       /* the kernel and this runtime are of different versions */
  NEREID_AOT_ERROR_DRIVER = 12,        /* no driver of the device, or one that is too old */
  NEREID_AOT_ERROR_DEVICE = 13         /* the device has no code, or refuses a call, or is lost */
} nereid_aot_status;

/* One line in English for a nereid_aot_status; never NULL, whatever the number. */
NEREID_AOT_API const char *nereid_aot_status_text(int status);

/* How the program instances of a launch reach threads. `threads` is the number of tasks a launch is
 * split into at most. parallel_for calls task(data, index) once for each index from 0 to tasks - 1,
 * in any order, on any threads, at the same time or not, and returns 0 when all are done; anything
 * else makes the launch fail. NULL: the launch runs on the calling thread. */
typedef struct nereid_aot_pool {
  int threads;
  void *context;
  int (*parallel_for)(void *context, int tasks, void (*task)(void *data, int index), void *data);
} nereid_aot_pool;

/* A pool of this library; the calling thread works too. threads 0: every CPU this process may use,
 * or NEREID_THREADS. NULL when memory is short. Launches of several threads may share it: while it
 * is busy, a further launch runs on its own caller alone. */
NEREID_AOT_API nereid_aot_pool *nereid_aot_pool_create(int threads);
/* NULL is allowed. No launch may be using the pool. */
NEREID_AOT_API void nereid_aot_pool_destroy(nereid_aot_pool *pool);
/* Everything on the calling thread. */
NEREID_AOT_API const nereid_aot_pool *nereid_aot_no_pool(void);

/* NULL instead of it, and a member that is 0, mean the default. Kernels on devices take the message
 * alone. */
typedef struct nereid_aot_options {
  /* The default is one pool for the process, made at the first launch that needs it. */
  const nereid_aot_pool *pool;
  /* Memory for what a program keeps beside its tensors. The kernel's header says how many bytes a
   * thread needs; it is divided among as many threads as it is enough for. The default is memory
   * that the runtime allocates and keeps for further launches. */
  void *scratch;
  size_t scratch_bytes;
  /* Receives the text of an error: parameter, what it expects and what it got. */
  char *message;
  size_t message_bytes;
  /* Receives each line of tl.device_print, without its end. The default is standard output. */
  void (*print)(void *context, const char *line);
  void *print_context;
} nereid_aot_options;

/* What a launch with the same arguments would run; on a device the target is what of the library's
 * code it takes, and there is no scratch memory. */
typedef struct nereid_aot_selection {
  int specialization;    /* from 0, in the order of the kernel's header */
  const char *signature; /* of that specialization */
  const char *target;    /* the instruction set chosen on this machine, "x86-64-v3" */
  int64_t grid[3];
  size_t scratch_bytes; /* for each thread */
} nereid_aot_selection;

/* Ends the default pool and frees memory kept for further launches, which may follow all the same.
 * For leak checkers and before unloading. No launch may be running. */
NEREID_AOT_API void nereid_aot_release(void);

#ifdef __cplusplus
}
#endif
#endif
