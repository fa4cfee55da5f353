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

/* An array, C-contiguous. */
typedef struct {
  void* data;
  size_t bytes;      /* at data */
  const char* dtype; /* NumPy's name: "float32", "int64", "bool", "bfloat16", ... */
  int32_t ndim;
  const int64_t* shape; /* ndim extents */
} plait_array;

/* plait_load and plait_call return NULL, or what went wrong, which stays until this thread's next
   call. */

/* Reads a program, for this processor. The file holds machine code: who may write it decides what
   runs. */
PLAIT_RUN_API const char* plait_load(const char* path, plait_program** program);

/* Runs it. Arguments: all fields filled in; what the function writes to is written, and shares no
   memory with others. Results: where data is not NULL, and not a result of the last call's in the
   program's memory, they are stored there, if that has bytes enough and is no other result's and no
   argument's that is written; else, memory of the program's, until its next call. The other fields
   are filled in; shapes stay until the next call. Arrays that are not aligned as their dtype are
   copied. A program is called by one thread at a time. */
PLAIT_RUN_API const char* plait_call(plait_program* program, const plait_array* arguments,
                                     size_t argument_count, plait_array* results,
                                     size_t result_count);

/* How many results it gives. */
PLAIT_RUN_API size_t plait_results(const plait_program* program);

/* The argument's name where the program writes to it, else NULL. */
PLAIT_RUN_API const char* plait_written(const plait_program* program, size_t argument);

/* NULL is none. */
PLAIT_RUN_API void plait_free(plait_program* program);

#ifdef __cplusplus
}
#endif
#endif
