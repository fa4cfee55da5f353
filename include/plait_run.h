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

/* Runs it. Arguments: all fields filled in, aligned as the dtype; what the function writes to is
   written. Results: where data is not NULL, they are stored there, if that has bytes enough; else,
   memory of the program's, until its next call. The other fields are filled in; shapes stay until
   the next call. A program is called by one thread at a time. */
PLAIT_RUN_API const char* plait_call(plait_program* program, const plait_array* arguments,
                                     size_t argument_count, plait_array* results,
                                     size_t result_count);

/* How many results it gives. */
PLAIT_RUN_API size_t plait_results(const plait_program* program);

/* NULL is none. */
PLAIT_RUN_API void plait_free(plait_program* program);

#ifdef __cplusplus
}
#endif
#endif
