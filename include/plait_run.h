/* Runs programs that plait.export wrote, without Plait's recorder, planner and compiler, and
   without Python: link libplait_run (or libplait, which has these functions, too). See
   docs/export.md. */
#ifndef PLAIT_RUN_H
#define PLAIT_RUN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PLAIT_RUN_API __attribute__((visibility("default")))
#else
#define PLAIT_RUN_API
#endif

/* Of the library that runs: "0.1.0". What docs/abi.md promises is of its first two numbers. */
PLAIT_RUN_API const char* plait_version(void);

typedef struct plait_program plait_program;

/* An array in memory. */
typedef struct {
  void* data;        /* the first element: that of indices 0, 0, ...; no elements: may be NULL */
  size_t bytes;      /* at data; not looked at where strides are given */
  const char* dtype; /* NumPy's name: "float32", "int64", "bool", "bfloat16", ... */
  int32_t ndim;
  const int64_t* shape;   /* ndim extents */
  const int64_t* strides; /* ndim steps in bytes, of any sign; NULL: C-contiguous */
} plait_array;

/* What gives a const char* that is no name returns NULL, or what went wrong, which stays until this
   thread's next call. */

/* What kind of error that was: NumPy's exceptions. */
typedef enum {
  PLAIT_NO_ERROR = 0,
  PLAIT_ERROR = 1,        /* none of those below */
  PLAIT_VALUE_ERROR = 2,  /* shapes, pointers, files that are no programs: ValueError */
  PLAIT_DTYPE_ERROR = 3,  /* an argument of another dtype: TypeError */
  PLAIT_INDEX_ERROR = 4,  /* an index that is out of bounds: IndexError */
  PLAIT_MEMORY_ERROR = 5, /* MemoryError */
  PLAIT_OS_ERROR = 6,     /* a file that cannot be read: OSError */
  PLAIT_CANCELLED = 7     /* another thread's plait_cancel() */
} plait_error_kind;
/* Of this thread's last call of such a function. */
PLAIT_RUN_API plait_error_kind plait_last_error(void);

/* Reads a program, for this processor. The file holds machine code: who may write it decides what
   runs. */
PLAIT_RUN_API const char* plait_load(const char* path, plait_program** program);
/* The same of a file's bytes in memory, which may go afterwards. */
PLAIT_RUN_API const char* plait_load_memory(const void* file, size_t bytes,
                                            plait_program** program);
/* Another program that is the same: it shares code and constants, and has results of its own. */
PLAIT_RUN_API const char* plait_clone(const plait_program* program, plait_program** clone);

/* Runs it. Arguments: all fields filled in; what the function writes to is written, and the range
   of bytes from its first element to its last meets no other argument's. Results: where data is not
   NULL, and not a result of the last call's in the program's memory, they are stored there in C
   order, if that has bytes enough and is no other result's and no argument's that is written; else,
   memory of the program's, until its next call. The other fields are filled in; shapes stay until
   the next call. Arguments that are not C-contiguous, or not aligned as their dtype, are copied.

   Threads may run different programs side by side, clones of one included. A program that another
   thread is calling gives an error. */
PLAIT_RUN_API const char* plait_call(plait_program* program, const plait_array* arguments,
                                     size_t argument_count, plait_array* results,
                                     size_t result_count);

/* A wish that calls end, of any thread's. It stays cancelled: what is to run afterwards takes
   another one. It goes when each that shares it, its maker one of them, has freed it; NULL is
   none. */
typedef struct plait_token plait_token;
PLAIT_RUN_API const char* plait_token_new(plait_token** token);
PLAIT_RUN_API void plait_token_share(plait_token* token);
PLAIT_RUN_API void plait_token_free(plait_token* token);
/* From any thread; not from a handler of a signal, as it takes a lock. */
PLAIT_RUN_API void plait_cancel(plait_token* token);
PLAIT_RUN_API int32_t plait_cancelled(const plait_token* token); /* 1: it is */

/* plait_call() that ends soon after plait_cancel(token): between two steps, and in the middle of
   long loops. Then it is a PLAIT_CANCELLED, and nothing that is half done is called a result:
   `results` are not filled in, though memory that was given for them may hold anything, and
   arguments that the program writes to are as they were. The program may be called again. A call
   that has ended is not undone. */
PLAIT_RUN_API const char* plait_call_with_cancel(plait_token* token, plait_program* program,
                                                 const plait_array* arguments,
                                                 size_t argument_count, plait_array* results,
                                                 size_t result_count);

/* How many arguments it takes, and results it gives. */
PLAIT_RUN_API size_t plait_arguments(const plait_program* program);
PLAIT_RUN_API size_t plait_results(const plait_program* program);

/* What an argument or a result is. All of it stays as long as the program. */
typedef struct {
  const char* name; /* of a result: NULL */
  const char* dtype;
  int32_t ndim;
  const int64_t* shape;       /* ndim extents; -1: it differs from call to call */
  const char* const* extents; /* ndim names of those, equal ones are one extent; else NULL. Those of
                                 results have no names */
  int32_t written;            /* 1: an argument that the program writes to */
} plait_info;
PLAIT_RUN_API const char* plait_argument(const plait_program* program, size_t i, plait_info* info);
PLAIT_RUN_API const char* plait_result(const plait_program* program, size_t i, plait_info* info);

/* The argument's name where the program writes to it, else NULL. */
PLAIT_RUN_API const char* plait_written(const plait_program* program, size_t argument);

/* NULL is none. */
PLAIT_RUN_API void plait_free(plait_program* program);

/* What an application decides for all programs of the process. All zeros but `size` are the
   defaults. Of Plait, log, progress, allocate and free may call plait_cancel() and
   plait_cancelled() alone. */
typedef struct {
  size_t size;     /* sizeof(plait_options): members that come later are as if they were zero */
  int32_t threads; /* of a loop; 0: as it is, at first as PLAIT_NUM_THREADS says */
  /* Runs loops on threads of the application's in place of Plait's own: calls piece(data, i) for
     every i in [0, n), on any threads, in any order, and returns when all calls have returned. */
  void (*executor)(void* context, int32_t n, void (*piece)(void* data, int32_t i), void* data);
  void* executor_context;
  /* Takes the lines of the log, with their topic, in place of stderr. From any thread, one line at
     a time. */
  void (*log)(void* context, const char* topic, const char* text);
  void* log_context;
  /* As PLAIT_LOG has them: "program" (what is loaded, and the plan that is taken), "fallback" (code
     for a lesser processor, arguments that are copied), "all", ""; NULL: as they are. */
  const char* log_topics;
  /* Hears that so many steps of a long call are done: between two of them, every 5 ms at most, on
     the thread that calls. A program of one loop is one step. */
  void (*progress)(void* context, int32_t done, int32_t steps);
  void* progress_context;
  /* The memory of results, temporaries and constants. From any threads, several at once; NULL is
     PLAIT_MEMORY_ERROR of the call, after what is kept for reuse was given back. Freed blocks are
     kept for reuse, as PLAIT_POOL_LIMIT says. Both, before the first program is loaded, for as long
     as the process lives; or neither: as it is. */
  void* (*allocate)(void* context, size_t bytes, size_t alignment);
  void (*free)(void* context, void* memory, size_t bytes);
  void* memory_context;
} plait_options;
/* While no other thread calls Plait. An error has changed nothing. */
PLAIT_RUN_API const char* plait_configure(const plait_options* options);

#ifdef __cplusplus
}
#endif
#endif
