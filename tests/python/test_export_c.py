"""Exported programs run by C and C++ with libplait_run: nothing of Python, of the planner and of LLVM is in the process."""

import os
import pathlib
import platform
import shutil
import subprocess
import sys

import numpy as np
import plait
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = pathlib.Path(plait.__file__).with_name("libplait_jit.so").resolve().parents[1] / "src" / "run" / "libplait_run.so"
X86 = platform.machine() == "x86_64"
pytestmark = pytest.mark.skipif(not LIBRARY.exists() or not shutil.which("c++"), reason="there is no libplait_run, or no compiler")


def kmeans(X, means):
    return np.argmin(np.linalg.norm(X - means[:, None], axis=2), axis=0)


def layers(x, w):
    y = np.tanh(x @ w)
    return y, y.sum(), np.exp(-y).mean(axis=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    rng = np.random.default_rng(0)
    plait.export(kmeans, (rng.normal(size=(50, 2)), rng.normal(size=(4, 2))), folder / "kmeans.plait", dynamic=[0])
    plait.export(layers, (rng.normal(size=(50, 24)).astype("f4"), rng.normal(size=(24, 16)).astype("f4")), folder / "layers.plait", dynamic=[0])
    return folder


def built(folder, source, compiler):
    program = folder / pathlib.Path(source).stem
    command = [*compiler, "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", source, "-o", program, f"-L{LIBRARY.parent}", "-lplait_run"]
    subprocess.run([*command, f"-Wl,-rpath,{LIBRARY.parent}"], check=True)
    return program


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})


def test_the_library_is_small_and_needs_no_other_of_ours():
    assert LIBRARY.stat().st_size <= 2 << 20 or "PLAIT_SANITIZE" in os.environ
    needed = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True).stdout
    assert "LLVM" not in needed and "python" not in needed and "plait" not in needed


def test_the_sample_in_c(folder):
    program = built(folder, ROOT / "samples" / "exported" / "kmeans.c", ["cc", "-std=c99"])
    made = run(program, folder / "kmeans.plait", "5000")
    assert made.returncode == 0, made.stderr
    assert sum(int(line.split()[1]) for line in made.stdout.splitlines()) == 5000
    assert run(program, folder / "nowhere.plait").stderr.startswith("kmeans: ")
    (folder / "damaged.plait").write_bytes((folder / "kmeans.plait").read_bytes()[:-8])
    assert "damaged.plait: it is damaged" in run(program, folder / "damaged.plait").stderr
    assert "it takes 2 arrays and gives 3" in run(program, folder / "layers.plait").stderr


CPP = r"""
#include <plait/load.hpp>
#include <cstdio>
#include <fstream>
#include <vector>

template <class T>
std::vector<T> numbers(const char* path) {
  std::ifstream f(path, std::ios::binary | std::ios::ate);
  std::vector<T> v(static_cast<std::size_t>(f.tellg()) / sizeof(T));
  f.seekg(0);
  f.read(reinterpret_cast<char*>(v.data()), static_cast<std::streamsize>(v.size() * sizeof(T)));
  return v;
}

int main(int, char** argv) try {
  plait::program layers = plait::load(argv[1]);
  const auto x = numbers<float>(argv[2]), w = numbers<float>(argv[3]);
  const auto rows = static_cast<std::int64_t>(x.size() / 24);
  for (int again = 0; again < 2; ++again) {
    const auto results = layers({{x.data(), {rows, 24}}, {w.data(), {24, 16}}});
    std::ofstream out(argv[4], std::ios::binary);
    for (const auto& r : results) out.write(static_cast<const char*>(r.data()), static_cast<std::streamsize>(r.bytes()));
    if (results[0].shape() != std::vector<std::int64_t>{rows, 16} || !results[1].shape().empty()) return 2;
  }
  // Into memory of the caller's.
  plait_program* program;
  if (plait_load(argv[1], &program)) return 3;
  const std::int64_t xs[] = {rows, 24}, ws[] = {24, 16};
  const plait_array given[] = {{const_cast<float*>(x.data()), x.size() * 4, "float32", 2, xs, 0},
                               {const_cast<float*>(w.data()), w.size() * 4, "float32", 2, ws, 0}};
  std::vector<float> y(static_cast<std::size_t>(rows) * 16), mean(16);
  float sum = 0;
  plait_array into[] = {{y.data(), y.size() * 4, 0, 0, 0, 0}, {&sum, 4, 0, 0, 0, 0}, {mean.data(), 64, 0, 0, 0, 0}};
  if (const char* error = plait_call(program, given, 2, into, 3)) return std::puts(error), 4;
  const auto first = numbers<float>(argv[4]);
  for (std::size_t i = 0; i < y.size(); ++i)
    if (y[i] != first[i]) return 5;
  if (sum != first[y.size()] || into[0].data != y.data()) return 6;
  into[2].bytes = 60;
  std::puts(plait_call(program, given, 2, into, 3));
  plait_free(program);
  layers({{x.data(), {rows, 24}}, {w.data(), {24, 15}}});
} catch (const plait::Error& e) {
  std::puts(e.what());
}
"""


@pytest.mark.parametrize("rows", [1, 7, 600])
def test_programs_in_cpp_give_the_same_bits(folder, rows):
    program = folder / "layers"
    if not program.exists():
        (folder / "layers.cpp").write_text(CPP)
        built(folder, folder / "layers.cpp", ["c++", "-std=c++17"])
    rng = np.random.default_rng(rows)
    x, w = rng.normal(size=(rows, 24)).astype("f4"), rng.normal(size=(24, 16)).astype("f4")
    x.tofile(folder / "x"), w.tofile(folder / "w")
    made = run(program, folder / "layers.plait", folder / "x", folder / "w", folder / "out")
    assert made.returncode == 0, made
    assert made.stdout.splitlines() == [
        "result 2 takes 64 bytes, and has 60",
        "argument 'w' has shape (24, 15): axis 1 has to be 16",
    ]
    expected = plait.load(folder / "layers.plait")(x, w)
    if rows == 1:  # a BLAS multiplies by a vector in Python
        found = np.fromfile(folder / "out", "f4")
        np.testing.assert_allclose(found, np.concatenate([np.ravel(r) for r in expected]), rtol=1e-5, atol=1e-5)
    else:
        assert (folder / "out").read_bytes() == b"".join(np.asarray(r).tobytes() for r in expected)


def test_the_comparison_runs_without_others():
    """benchmarks/start_up.py compares results as well."""
    command = [sys.executable, ROOT / "benchmarks" / "start_up.py", "--library", LIBRARY.parent, "--points", "5000", "--starts", "1", "--rounds", "1", "--seconds", "0.01"]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    rows = [line.split(" | ")[0] for line in made.stdout.splitlines() if line.startswith("| ")][2:]
    assert rows == ["| libplait_run, C", "| plait.load, Python"]


def looked_up(u, table, ids):
    u += table[ids]
    return u.sum()


C = r"""
#include <plait_run.h>
#include <stdio.h>

int main(int n, char** argv) {
  plait_program* program;
  const char* error = plait_load(argv[n - 1], &program);
  if (error) return puts(error), 1;
  double u[3] = {1, 2, 3}, table[4] = {10, 20, 30, 40};
  int64_t ids[3] = {3, -4, 1}, three = 3, four = 4;
  plait_array given[] = {{u, sizeof u, "float64", 1, &three, 0}, {table, sizeof table, "float64", 1, &four, 0}, {ids, sizeof ids, "int64", 1, &three, 0}};
  plait_array sum = {0, 0, 0, 0, 0, 0};
  error = plait_call(program, given, 3, &sum, 1);
  if (error) return puts(error), 2;
  printf("%g %g %g %g\n", u[0], u[1], u[2], *(double*)sum.data);
  ids[1] = 4;
  error = plait_call(program, given, 3, &sum, 1);
  puts(error ? error : "no error");
  printf("%g %g %g\n", u[0], u[1], u[2]);
  plait_free(program);
  return 0;
}
"""


def test_arguments_that_are_written_and_indices(folder):
    plait.export(looked_up, (np.ones(5), np.ones(7), np.zeros(5, np.int64)), folder / "looked_up.plait", dynamic={"u": {0: "n"}, "ids": {0: "n"}, "table": [0]})
    (folder / "looked_up.c").write_text(C)
    made = run(built(folder, folder / "looked_up.c", ["cc", "-std=c99"]), folder / "looked_up.plait")
    assert made.stdout.splitlines() == ["41 12 23 76", "an index is out of bounds", "41 12 23"], made.stdout + made.stderr


MISUSE = r"""
#include <plait_run.h>
#include <stdio.h>
#include <string.h>

static void say(const char* what, const char* error) { printf("%s: %s\n", what, error ? error : "no error"); }

int main(int n, char** argv) {
  plait_program *moved, *twice, *none;
  say("path", plait_load(NULL, &none));
  say("program", plait_load(argv[1], NULL));
  for (int i = 3; i < n; ++i) say("file", strrchr(plait_load(argv[i], &none), ':'));
  if (plait_load(argv[1], &moved) || plait_load(argv[2], &twice)) return 1;
  printf("%s %d %d %d\n", plait_written(moved, 0), plait_written(moved, 1) == NULL, plait_written(moved, 9) == NULL, plait_written(NULL, 0) == NULL);

  double c[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, bytes[6];
  const int64_t four = 4, huge = INT64_MAX, minus = -4;
  plait_array sum = {0, 0, 0, 0, 0, 0};
#define ARRAY(p, shape) {p, 32, "float64", 1, shape, 0}
#define CALL(program, what, x, y, result) { plait_array given[] = {x, y}; say(what, plait_call(program, given, 2, result, 1)); }
  plait_array whole = ARRAY(c, &four), next = ARRAY(c + 3, &four), far = ARRAY(c + 4, &four);
  CALL(moved, "equal", whole, whole, &sum)
  CALL(moved, "meet", next, whole, &sum)
  say("no program", plait_call(NULL, &whole, 1, &sum, 1));
  say("no arguments", plait_call(moved, NULL, 2, &sum, 1));
  say("no results", plait_call(twice, NULL, 2, NULL, 1));
  plait_array lacks = ARRAY(NULL, &four), wide = ARRAY(c, &huge), negative = ARRAY(c, &minus), shapeless = ARRAY(c, NULL);
  CALL(moved, "no data", lacks, far, &sum)
  CALL(moved, "huge", wide, far, &sum)
  CALL(moved, "negative", negative, far, &sum)
  CALL(moved, "no shape", shapeless, far, &sum)
  printf("%g %g %g\n", c[0], c[4], c[11]);
  plait_array at_c = {c, sizeof c, 0, 0, 0, 0};
  CALL(moved, "a result over what is written", whole, far, &at_c)
  printf("%g\n", c[0]);

  /* Results over what is read: reversed, where each place is read after it was written. */
  CALL(twice, "in place", whole, far, &at_c)
  printf("%g %g %g %g %g\n", c[0], c[1], c[2], c[3], c[4]);
  plait_array shifted = {c + 2, 32, 0, 0, 0, 0};
  CALL(twice, "shifted", whole, far, &shifted)
  printf("%g %g %g %g\n", c[2], c[3], c[4], c[5]);

  /* One struct for the results of all calls: the program's memory is wanted again. Then as an argument. */
  plait_array again = {0, 0, 0, 0, 0, 0};
  plait_array z = ARRAY(c + 8, &four);
  for (int i = 0; i < 3; ++i) CALL(twice, "again", z, z, &again)
  printf("%g %g\n", ((double*)again.data)[0], ((double*)again.data)[3]);
  plait_array last = again;
  CALL(twice, "a result as an argument", last, z, &again)
  printf("%g %g\n", ((double*)again.data)[0], ((double*)again.data)[3]);

  /* Not aligned. */
  char* odd = (char*)bytes + 1;
  memcpy(odd, c + 8, 32);
  plait_array skew = ARRAY(odd, &four);
  char room[33];
  plait_array into = {room + 1, 32, 0, 0, 0, 0};
  CALL(twice, "skew", skew, z, &into)
  double first;
  memcpy(&first, room + 1, 8);
  CALL(moved, "skew", skew, z, &sum)
  double written;
  memcpy(&written, odd, 8);
  printf("%g %g\n", first, written);
  plait_free(moved);
  plait_free(twice);
  plait_free(NULL);
  return 0;
}
"""


def moved(a, b):
    a += 2 * b
    return b.sum()


def twice(a, b):
    return a[::-1] + b


@pytest.fixture(scope="module")
def pair(folder):
    for fn in (moved, twice):
        plait.export(fn, (np.ones(9), np.ones(9)), folder / f"{fn.__name__}.plait", dynamic=[0], targets="host")
    return folder / "moved.plait", folder / "twice.plait"


def test_what_is_no_call_is_an_error(folder, pair):
    (folder / "misuse.c").write_text(MISUSE)
    (folder / "empty").write_bytes(b"")
    (folder / "junk").write_bytes(b"q" + pair[0].read_bytes()[1:])
    (folder / "cut").write_bytes(pair[0].read_bytes()[:99])
    if not (folder / "pipe").exists():
        os.mkfifo(folder / "pipe")
    program = built(folder, folder / "misuse.c", ["cc", "-std=c99"])
    made = run(program, *pair, folder / "empty", folder / "junk", folder / "cut", folder / "pipe", folder, folder / "nowhere")
    share = "arguments 'a' and 'b' share memory, and it writes to 'a': it was exported with arrays that lie apart"
    assert made.stdout.splitlines() == [
        "path: the path is NULL",
        "program: where the program is to go is NULL",
        "file: : it is empty",
        "file: : it is no exported program",
        "file: : it is damaged",
        "file: : it is no regular file",
        "file: : it is no regular file",
        "file: : No such file or directory",
        "a 1 1 1",
        f"equal: {share}",
        f"meet: {share}",
        "no program: the program is NULL",
        "no arguments: the arrays are NULL",
        "no results: the arrays are NULL",
        "no data: argument 'a' has no data",
        "huge: array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.",
        "negative: argument 'a' has a negative extent",
        "no shape: argument 'a' has no shape",
        "0 4 11",
        "a result over what is written: result 0 shares memory with argument 'a', which is written",
        "0",
        "in place: no error",
        "7 7 7 7 4",
        "shifted: no error",
        "11 12 13 14",
        *["again: no error"] * 3,
        "19 19",
        "a result as an argument: no error",
        "27 30",
        "skew: no error",
        "skew: no error",
        "19 24",
    ], made.stdout + made.stderr


CONST = r"""
#include <plait/load.hpp>
#include <cstdio>
#include <vector>

int main(int, char** argv) try {
  plait::program moved = plait::load(argv[1]);
  std::vector<double> a(9, 1.0);
  const std::vector<double> b(9, 2.0), fixed(9, 1.0);
  moved({{a.data(), {9}}, {b.data(), {9}}});
  moved({plait::written(a.data(), {9}), {b.data(), {9}}});
  std::printf("%g\n", a[8]);
#ifdef REFUSED
  plait::written(fixed.data(), {9});
#endif
  try {
    moved({{fixed.data(), {9}}, {b.data(), {9}}});
  } catch (const plait::Error& e) {
    std::printf("%s; %g\n", e.what(), fixed[0]);
  }
  plait::program other = std::move(moved);
  moved({{a.data(), {9}}, {b.data(), {9}}});
} catch (const plait::Error& e) {
  std::puts(e.what());
}
"""


def test_programs_write_to_no_const(folder, pair):
    (folder / "const.cpp").write_text(CONST)
    made = run(built(folder, folder / "const.cpp", ["c++", "-std=c++17"]), pair[0])
    assert made.stdout.splitlines() == ["9", "argument 'a' is written to, and is const; 1", "the program is NULL"], made
    refused = subprocess.run(["c++", "-std=c++17", "-DREFUSED", "-fsyntax-only", f"-I{ROOT / 'include'}", folder / "const.cpp"], capture_output=True, text=True)
    assert "the program writes to this argument: it cannot be const" in refused.stderr


DESCRIBED = r"""
#include <plait_run.h>
#include <stdio.h>
#include <stdlib.h>

static void show(const plait_info* info) {
  printf("%s %s%s:", info->name ? info->name : "-", info->dtype, info->written ? " written" : "");
  for (int d = 0; d < info->ndim; ++d) printf(" %d %s", (int)info->shape[d], info->extents[d] ? info->extents[d] : "-");
  puts("");
}

static void say(const char* error) { puts(error ? error : "no error"); }

int main(int n, char** argv) {
  char* file = malloc(1 << 20);
  FILE* in = fopen(argv[n - 1], "rb");
  size_t bytes = fread(file, 1, 1 << 20, in);
  fclose(in);
  plait_program *program, *other;
  if (plait_load_memory(file, bytes, &program) || plait_clone(program, &other)) return 1;
  free(file);
  plait_info info;
  for (size_t i = 0; i < plait_arguments(program); ++i) if (!plait_argument(program, i, &info)) show(&info);
  for (size_t i = 0; i < plait_results(program); ++i) if (!plait_result(program, i, &info)) show(&info);
  say(plait_argument(program, 3, &info));
  say(plait_load_memory(NULL, 0, &program));
  if (program) return 2;

  /* Every second element, backwards; and none. */
  double u[6] = {1, 2, 3, 4, 5, 6}, table[1] = {10};
  int64_t ids[3] = {0, 0, 0}, three = 3, one = 1, zero = 0, back = -16;
  plait_array given[] = {{u + 4, 0, "float64", 1, &three, &back}, {table, 8, "float64", 1, &one, NULL}, {ids, 24, "int64", 1, &three, NULL}};
  plait_array sum = {0};
  say(plait_call(other, given, 3, &sum, 1));
  printf("%g %g %g %g %g %g: %g\n", u[0], u[1], u[2], u[3], u[4], u[5], *(double*)sum.data);
  given[0].shape = given[2].shape = &zero;
  given[0].data = given[2].data = NULL;
  say(plait_call(other, given, 3, &sum, 1));
  printf("%g\n", *(double*)sum.data);
  plait_options options = {.size = sizeof options};
  options.threads = 2;
  say(plait_configure(&options));
  plait_free(other);
  return 0;
}
"""


def test_programs_describe_themselves(folder):
    plait.export(looked_up, (np.ones(5), np.ones(7), np.zeros(5, np.int64)), folder / "described.plait", dynamic={"u": {0: "n"}, "ids": {0: "n"}, "table": [0]})
    (folder / "described.c").write_text(DESCRIBED)
    made = run(built(folder, folder / "described.c", ["cc", "-std=c99"]), folder / "described.plait")
    assert made.stdout.splitlines() == [
        "u float64 written: -1 n",
        "table float64: -1 table_0",
        "ids int64: -1 n",
        "- float64:",
        "it has 3 arguments, so none has number 3",
        "the file is NULL",
        "no error",
        "11 2 13 4 15 6: 39",
        "no error",
        "0",
        "no error",
    ], made


EMBEDDED = r"""
#include <plait_run.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const char* what, const char* error) {
  printf("%s: %d %s\n", what, (int)plait_last_error(), error ? error : "no error");
}

static struct { atomic_long blocks, live; atomic_int empty; } memory;
static void* take(void* context, size_t bytes, size_t alignment) {
  if (context != &memory) abort();
  if (memory.empty) return NULL;
  ++memory.blocks;
  memory.live += (long)bytes;
  return aligned_alloc(alignment, bytes);
}
static void give(void* context, void* block, size_t bytes) {
  if (context != &memory) abort();
  memory.live -= (long)bytes;
  free(block);
}

static char lines[4096];
static void note(void* context, const char* topic, const char* text) {
  size_t n = strlen(lines);
  snprintf(lines + n, sizeof lines - n, "%s%s| %s\n", (const char*)context, topic, text);
}

static int heard, of;
static void hear(void* context, int32_t done, int32_t steps) {
  *(int*)context = done;
  of = steps;
}

/* The loop has begun when another thread ends it. */
static atomic_int begun;
static plait_token* token;
static void run_pieces(void* context, int32_t n, void (*piece)(void*, int32_t), void* data) {
  (void)context;
  begun = 1;
  while (token && !plait_cancelled(token)) sched_yield();
  for (int32_t i = 0; i < n; ++i) piece(data, i);
}
static void* ends(void* context) {
  while (!begun) sched_yield();
  plait_cancel(context);
  plait_token_free(context);
  return NULL;
}

int main(int n, char** argv) {
  if (n != 3) return 1;
  /* Sizes of the struct: none, an older header's, and a newer one's with and without its member. */
  struct { plait_options known; void* later; } newer = {{0}, NULL};
  plait_options* options = &newer.known;
  say("no size", plait_configure(options));
  options->size = sizeof newer;
  say("newer", plait_configure(options));
  newer.later = &newer;
  say("unknown", plait_configure(options));
  options->size = offsetof(plait_options, progress);
  options->threads = 2;
  options->progress = hear; /* it is behind what that header has */
  options->progress_context = &heard;
  say("older", plait_configure(options));
  options->size = sizeof *options;
  options->allocate = take;
  say("half", plait_configure(options));
  options->free = give;
  options->memory_context = &memory;
  options->log = note;
  options->log_context = "> ";
  options->log_topics = "program,fallback";
  say("all", plait_configure(options));

  plait_program *layers, *moved;
  say("load", plait_load(argv[1], &layers));
  say("load", plait_load(argv[2], &moved));
  say("nowhere", strrchr(plait_load("/nowhere/a.plait", &(plait_program*){0}), ':'));
  enum { kRows = 400000 };
  int64_t xs[] = {kRows, 24}, ws[] = {24, 16};
  float *x = calloc(kRows * 24, 4), *w = calloc(24 * 16, 4), *y = malloc(kRows * 64);
  plait_array given[] = {{x, kRows * 96, "float32", 2, xs, NULL}, {w, 24 * 64, "float32", 2, ws, NULL}};
  plait_array results[3] = {{0}};
  const long before = memory.blocks;
  for (int i = 0; i < 20 && heard == 0; ++i)
    if (plait_call(layers, given, 2, results, 3)) return 2;
  printf("steps %d of more than one %d, blocks %d\n", heard == of, of > 1, memory.blocks > before);
  options->memory_context = NULL;
  say("late", plait_configure(options));
  options->memory_context = &memory;
  say("again", plait_configure(options));

  given[1].dtype = "float64";
  say("dtype", plait_call(layers, given, 2, results, 3));
  given[1].dtype = "float32";
  given[0].ndim = 1;
  say("shape", strchr(plait_call(layers, given, 2, results, 3), ':'));
  given[0].ndim = 2;

  /* An end by another thread, in the middle of a loop: nothing is called a result. */
  options->executor = run_pieces;
  options->progress = NULL;
  say("executor", plait_configure(options));
  say("token", plait_token_new(&token));
  plait_token_share(token);
  pthread_t other;
  pthread_create(&other, NULL, ends, token);
  plait_array none[3] = {{y, kRows * 64, NULL, 0, NULL, NULL}};
  const char* error = NULL;
  for (int i = 0; i < 20 && !error; ++i) error = plait_call_with_cancel(token, layers, given, 2, none, 3);
  say("ended", error);
  begun = 1;
  pthread_join(other, NULL);
  printf("%d %d %d %d\n", none[0].dtype == NULL, none[0].shape == NULL, none[1].data == NULL, (int)plait_cancelled(token));
  /* It stays cancelled; what a program writes to stays as it was. */
  double a[3] = {1, 2, 3}, b[3] = {1, 1, 1};
  int64_t three = 3, back = -8;
  plait_array pair[] = {{a, sizeof a, "float64", 1, &three, NULL}, {b + 2, 0, "float64", 1, &three, &back}};
  plait_array sum = {0};
  say("at once", plait_call_with_cancel(token, moved, pair, 2, &sum, 1));
  printf("%g %g %g\n", a[0], a[1], a[2]);
  say("without", plait_call_with_cancel(NULL, moved, pair, 2, &sum, 1));
  printf("%g %g %g\n", a[0], a[1], a[2]);
  plait_token_free(token);
  token = NULL;
  plait_token_free(token);
  say("afterwards", plait_call(layers, given, 2, none, 3));
  printf("%d %g\n", none[0].data == y, y[kRows * 16 - 1]);

  memory.empty = 1;
  xs[0] = kRows - 1;
  plait_array anywhere[3] = {{0}};
  say("memory", plait_call(layers, given, 2, anywhere, 3));
  plait_free(layers);
  plait_free(moved);
  fputs(lines, stdout);
  return 0;
}
"""


def test_an_application_decides(folder):
    (folder / "embedded.c").write_text(EMBEDDED)
    program = built(folder, folder / "embedded.c", ["cc", "-std=c11", "-pthread"])
    lesser = folder / "lesser.plait"
    plait.export(moved, (np.ones(9), np.ones(9)), lesser, dynamic=[0], targets="x86-64-v2" if X86 else None)
    made = subprocess.run([program, folder / "layers.plait", lesser], capture_output=True, text=True, env={**os.environ, "PLAIT_POOL_LIMIT": "0"})
    lines = made.stdout.splitlines()
    said, logged = [line for line in lines if "| " not in line], [line for line in lines if "| " in line]
    assert said == [
        "no size: 2 plait_options::size has to be sizeof(plait_options)",
        "newer: 0 no error",
        "unknown: 2 plait_options has what this library does not know",
        "older: 0 no error",
        "half: 2 allocate and free belong together",
        "all: 0 no error",
        "load: 0 no error",
        "load: 0 no error",
        "nowhere: 6 : No such file or directory",
        "steps 1 of more than one 1, blocks 1",
        "late: 2 the allocator is chosen before the first program is loaded",
        "again: 0 no error",
        "dtype: 3 argument 'w' has to be of float32, not of float64",
        "shape: 2 : it was exported with 2 axes",
        "executor: 0 no error",
        "token: 0 no error",
        "ended: 7 interrupted",
        "1 1 1 1",
        "at once: 7 interrupted",
        "1 2 3",
        "without: 0 no error",
        "3 4 5",
        "afterwards: 0 no error",
        "1 0",
        "memory: 5 memory is short",
    ], made
    assert made.returncode == 0, made
    fallbacks = [line for line in logged if line.startswith("> fallback| ")]
    assert fallbacks[-1] == "> fallback| an argument of a program is copied: 'b' is not in C order", logged
    assert len(fallbacks) == 1 + X86 and fallbacks[0].startswith("> fallback| a program runs code for x86-64-v2: it has none for x86-64-v" if X86 else "> "), logged
    assert sum(line.startswith("> program| loaded: ") for line in logged) == 2, logged
    assert any(line.startswith("> program| plan ") and line.endswith(": x_0 = 400000") for line in logged), logged


EXPORTS = r"""
#include <plait/export_program.hpp>
#include <plait/plait.hpp>

int main(int, char** argv) {
  using namespace plait;
  const auto kmeans = [](const array<double>& X, const array<double>& means) {
    return argmin(linalg::norm(X - view(means, all(), newaxis()), {2}), 0);
  };
  export_program(kmeans, argv[1], std::tuple(ones({50, 2}), ones({4, 2})), {0}, {{"X", "means"}, {}, "kmeans"});
  const auto steps = [](array<float>& x, const array<float>& v) {
    x += 0.5f * v;
    return std::tuple(sum(x, 1), x * 2);
  };
  export_program(steps, argv[2], std::tuple(ones<float>({3, 4}), ones<float>({4})), {{0, 0, "rows"}});
}
"""


def test_python_loads_what_cpp_exports(folder):
    build = LIBRARY.parents[2]
    (folder / "exports.cpp").write_text(EXPORTS)
    program, library = folder / "exports", build / "include"
    flags = [f"-I{ROOT / 'include'}", f"-I{library / 'generated'}", f"-L{library}", "-lplait", f"-Wl,-rpath,{library}"]
    subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", folder / "exports.cpp", "-o", program, *flags], check=True)
    made = run(program, folder / "cpp_kmeans.plait", folder / "cpp_steps.plait")
    assert made.returncode == 0, made
    step = plait.load(folder / "cpp_kmeans.plait")
    rng = np.random.default_rng(1)
    for n in (1, 50, 3000):
        X, means = rng.normal(size=(n, 2)), rng.normal(size=(4, 2))
        np.testing.assert_array_equal(step(X, means), kmeans(X, means))
    manifest = plait.load(folder / "kmeans.plait").manifest
    assert step.manifest == manifest  # Python exported the same
    x, v = rng.normal(size=(5, 4)).astype("f4"), rng.normal(size=4).astype("f4")
    wanted = x + np.float32(0.5) * v
    sums, doubled = plait.load(folder / "cpp_steps.plait")(x, v)
    np.testing.assert_array_equal(x, wanted)
    np.testing.assert_array_equal(doubled, wanted * 2)
    np.testing.assert_allclose(sums, wanted.sum(axis=1), rtol=1e-6)
    assert plait.load(folder / "cpp_steps.plait").manifest["arguments"][0] == {"name": "argument0", "dtype": "float32", "shape": ["rows", 4]}
