#include "plait/export_program.hpp"

#include <unistd.h>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <future>
#include <iterator>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/config.hpp"
#include "plait/load.hpp"
#include "plait/plait.hpp"

using plait::any_array;
using plait::array;

namespace {

// A file that goes with the test.
class Path {
 public:
  explicit Path(const char* name)
      : path_("/tmp/plait_" + std::to_string(getpid()) + "_" + name + ".plait") {}
  ~Path() { std::remove(path_.c_str()); }
  operator const std::string&() const { return path_; }
  bool exists() const { return access(path_.c_str(), F_OK) == 0; }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  const std::string path_;
};

array<std::int64_t> kmeans(const array<double>& X, const array<double>& means) {
  auto d = plait::linalg::norm(X - plait::view(means, plait::all(), plait::newaxis()), {2});
  return plait::argmin(d, 0);
}

template <class T>
std::vector<T> elements(const plait::program_result& r) {
  return {r.data_as<T>(), r.data_as<T>() + r.bytes() / sizeof(T)};
}
template <class T>
std::vector<T> elements(const array<T>& a) {
  return {a.begin(), a.end()};
}

// A program of `moved`, which writes to its first argument.
array<double> moved(array<double>& a, const array<double>& b) {
  a += 2 * b;
  return plait::sum(b);
}
void export_moved(const Path& path) {
  plait::export_program(moved, path, std::tuple(plait::ones({9}), plait::ones({9})), {0},
                        {{"a", "b"}, {"host"}});
}
// And one that does not.
void export_doubled(const Path& path) {
  plait::export_program([](const array<double>& x) { return x * 2 + 1; }, path,
                        std::tuple(plait::ones({5, 3})), {0}, {{"x"}, {"host"}});
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const plait::Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("an exported function gives its own bits for other extents, by C++ and C") {
  const Path path("kmeans");
  plait::export_program(
      kmeans, path,
      std::tuple(plait::random::randn<double>({50, 2}), plait::random::randn<double>({4, 2})), {0},
      {{"X", "means"}, {}, "kmeans"});
  plait::program step = plait::load(path);
  array<double> means = plait::random::randn<double>({4, 2});
  for (const std::int64_t n : {1, 2, 50, 70001}) {
    array<double> X = plait::random::randn<double>({n, 2});
    const array<std::int64_t> expected = kmeans(X, means);
    const std::vector<plait::program_result> found = step({X, means});
    REQUIRE(found[0].shape() == expected.shape());
    CHECK(elements<std::int64_t>(found[0]) == elements(expected));

    plait_program* program;
    REQUIRE(plait_load(static_cast<const std::string&>(path).c_str(), &program) == nullptr);
    const std::int64_t shape[] = {n, 2}, mean_shape[] = {4, 2};
    const plait_array given[] = {{X.data(), X.size() * 8, "float64", 2, shape, nullptr},
                                 {means.data(), 64, "float64", 2, mean_shape, nullptr}};
    plait_array labels{};
    REQUIRE(plait_call(program, given, 2, &labels, 1) == nullptr);
    CHECK(std::memcmp(labels.data, expected.data(), expected.size() * 8) == 0);
    plait_free(program);
  }
}

TEST_CASE("what an exported function returns: arrays, tuples, vectors, nothing") {
  const Path path("returned");
  plait::export_program(
      [](const array<float>& x) {
        return std::tuple(plait::sqrt(x), plait::sum(x), plait::transpose(x), x);
      },
      path, std::tuple(plait::ones<float>({3, 4})), {0, 1}, {{}, {"host"}});
  plait::program tuple = plait::load(path);
  array<float> x = plait::arange<float>(10).reshape({5, 2});
  const auto made = tuple({x});
  REQUIRE(made.size() == 4);
  CHECK(elements<float>(made[0]) == elements(array<float>(plait::sqrt(x))));
  CHECK(elements<float>(made[1]) == std::vector<float>{45});
  CHECK(made[2].shape() == plait::shape_type{2, 5});
  CHECK(elements<float>(made[2]) == elements(plait::transpose(x)));
  CHECK(elements<float>(made[3]) == elements(x));
  CHECK(tuple.arguments()[0].name == "argument0");

  plait::export_program(
      [](const std::vector<any_array>& in) {
        return std::vector<any_array>{in[0] + in[1], in[0] * in[1]};
      },
      path, std::vector<any_array>{plait::ones<float>({6}), plait::ones<double>({6})}, {},
      {{}, {"host"}});
  std::vector<float> a{1, 2, 3, 4, 5, 6};
  std::vector<double> b(6, 0.5);
  plait::program list = plait::load(path);
  const auto both = list({{a.data(), {6}}, {b.data(), {6}}});
  CHECK(elements<double>(both[1]) == std::vector<double>{0.5, 1, 1.5, 2, 2.5, 3});

  plait::export_program([](array<double>& y) { y += 1; }, path, std::tuple(plait::zeros({3})), {0},
                        {{}, {"host"}});
  CHECK(plait::load(path)({{b.data(), {6}}}).empty());
  CHECK(b == std::vector<double>(6, 1.5));
}

TEST_CASE("what an exported function captures is a constant") {
  const Path path("constant");
  array<double> scale = plait::arange<double>(3);
  plait::export_program([&](const array<double>& x) { return array<double>(x * scale); }, path,
                        std::tuple(plait::ones({5, 3})), {0}, {{}, {"host"}});
  scale += 100;
  array<double> x = plait::ones({2, 3});
  CHECK(elements<double>(plait::load(path)({x})[0]) == std::vector<double>{0, 1, 2, 0, 1, 2});
}

TEST_CASE("what cannot be exported is an error that says why, and leaves no file") {
  const Path path("refused");
  const auto of = [&](auto f, plait::dynamic_extents dynamic = {},
                      plait::export_options options = {}) {
    return error_of(
        [&] { plait::export_program(f, path, std::tuple(plait::ones({8, 3})), dynamic, options); });
  };
  const auto doubled = [](const array<double>& x) { return x * 2; };
  const std::string begin = "export_program: f cannot be exported: ";
  CHECK(of([](const array<double>& x) { return x * plait::sum(x).item(); }).rfind(begin, 0) == 0);
  CHECK(of([](const array<double>& x) {
          return x + plait::random::randn<double>({8, 3});
        }).rfind(begin, 0) == 0);
  CHECK(of([](const array<double>& x) { return x[x > 0]; }).rfind(begin, 0) == 0);
  CHECK(of([](array<double>& x) { x = x * 2; }) ==
        "export_program: it assigns another array to argument 'argument0', which nobody sees: "
        "view(x) = y writes to its elements");
  int calls = 0;
  CHECK(of([&](const array<double>& x) { return x * ++calls; }) ==
        "export_program: the exported program does not give what the function does; is it pure?");
  CHECK_THROWS_WITH(of([](const array<double>& x) -> array<double> {
                      throw std::runtime_error("no " + std::to_string(x.ndim()));
                    }),
                    "no 2");
  CHECK(of(doubled, {2}) == "export_program: axis 2 is out of bounds for array of dimension 2");
  CHECK(of(doubled, {{1, 0}}) ==
        "export_program: a dynamic extent is argument 1's, and there are 1");
  CHECK(of(doubled, {{0, 0, "n"}, {0, 1, "n"}}) ==
        "export_program: the extent 'n' is 3 in argument 'argument0', and has to be the same of "
        "all, and 1 at least in the example");
  CHECK(of(doubled, {}, {{}, {"pdp-11"}}).rfind("export_program: target 'pdp-11' is none of ", 0) ==
        0);
  CHECK(!path.exists());
  CHECK(error_of([&] {
          plait::export_program(doubled, "/nowhere/x.plait", std::tuple(plait::ones({8, 3})));
        }).rfind("export_program: '/nowhere/x.plait.part': ", 0) == 0);
}

TEST_CASE("a program says what it takes and gives") {
  const Path path("described");
  plait::export_program(
      [](array<float>& x, const array<std::int64_t>& k) {
        x += 1;
        return std::tuple(plait::sum(x, 0), plait::concatenate({k, k}));
      },
      path, std::tuple(plait::ones<float>({5, 3}), plait::arange<std::int64_t>(7)),
      {{0, 0, "rows"}, {1, 0}}, {{"x", "k"}, {"host"}});
  const plait::program program = plait::load(path);
  const auto arguments = program.arguments(), results = program.results();
  REQUIRE(arguments.size() == 2);
  CHECK(arguments[0].name == "x");
  CHECK(arguments[0].dtype == "float32");
  CHECK(arguments[0].shape == plait::shape_type{-1, 3});
  CHECK(arguments[0].extents == std::vector<std::string>{"rows", ""});
  CHECK(arguments[0].written);
  CHECK(arguments[1].dtype == "int64");
  CHECK(arguments[1].extents == std::vector<std::string>{"k_0"});
  CHECK(!arguments[1].written);
  REQUIRE(results.size() == 2);
  CHECK(results[0].dtype == "float32");
  CHECK(results[0].shape == plait::shape_type{3});
  CHECK(results[1].shape == plait::shape_type{-1});

  plait_info info;
  CHECK(plait_argument(nullptr, 0, &info) == std::string("the program is NULL"));
  plait_program* p;
  REQUIRE(plait_load(static_cast<const std::string&>(path).c_str(), &p) == nullptr);
  CHECK(plait_arguments(p) == 2);
  CHECK(plait_argument(p, 2, &info) == std::string("it has 2 arguments, so none has number 2"));
  CHECK(plait_result(p, 2, &info) == std::string("it has 2 results, so none has number 2"));
  CHECK(plait_result(p, 0, nullptr) == std::string("where the description is to go is NULL"));
  plait_free(p);
}

TEST_CASE("a program is loaded from memory") {
  const Path path("memory");
  export_doubled(path);
  std::string file = path.bytes();
  plait::program program = plait::load(file.data(), file.size());
  CHECK(error_of([&] { plait::load(file.data(), file.size() - 8); }) == "it is damaged");
  CHECK(error_of([&] { plait::load(nullptr, 8); }) == "the file is NULL");
  CHECK(error_of([&] { plait::load("plait", 0); }) == "it is empty");
  file.assign(file.size(), 'x');
  array<double> x = plait::ones({2, 3});
  CHECK(elements<double>(program({x})[0]) == std::vector<double>(6, 3));
}

TEST_CASE("arguments with strides, not aligned, and of no elements") {
  const Path doubled("strided"), written("strided_written");
  export_doubled(doubled);
  export_moved(written);
  plait::program program = plait::load(doubled);
  const std::vector<double> given{0, 1, 2, 3, 4, 5};
  const plait::program_argument in_c_order(given.data(), {2, 3});
  CHECK(elements<double>(program({in_c_order.with_strides({24, 8})})[0]) ==
        std::vector<double>{1, 3, 5, 7, 9, 11});
  // Transposed, reversed, and one row for all.
  CHECK(elements<double>(program({in_c_order.with_strides({8, 16})})[0]) ==
        std::vector<double>{1, 5, 9, 3, 7, 11});
  CHECK(elements<double>(program(
            {plait::program_argument(given.data() + 5, {2, 3}).with_strides({-24, -8})})[0]) ==
        std::vector<double>{11, 9, 7, 5, 3, 1});
  CHECK(elements<double>(program({in_c_order.with_strides({0, 8})})[0]) ==
        std::vector<double>{1, 3, 5, 1, 3, 5});
  CHECK(error_of([&] { in_c_order.with_strides({8}); }) == "there are 1 strides for 2 axes");
  array<double> columns = plait::arange<double>(6).reshape({3, 2});
  array<double> across = plait::transpose(columns);
  CHECK(elements<double>(program({across})[0]) == std::vector<double>{1, 5, 9, 3, 7, 11});

  alignas(8) char bytes[49];
  std::memcpy(bytes + 1, given.data(), 48);
  const auto odd = program({{reinterpret_cast<const double*>(bytes + 1), {2, 3}}});
  CHECK(elements<double>(odd[0]) == std::vector<double>{1, 3, 5, 7, 9, 11});

  plait::program move = plait::load(written);
  std::vector<double> room{0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<double> b{10, 20, 30};
  const plait::program_argument at(room.data() + 6, {3}), by(b.data(), {3});
  CHECK(elements<double>(move({at.with_strides({-16}), by})[0]) == std::vector<double>{60});
  CHECK(room == std::vector<double>{0, 1, 62, 3, 44, 5, 26, 7});
  CHECK(error_of([&] { move({at.with_strides({0}), by}); }) ==
        "argument 'a' has elements that share memory, and is written to");
  CHECK(error_of([&] {
          move({at.with_strides({-16}), plait::program_argument(room.data() + 3, {3})});
        }).rfind("arguments 'a' and 'b' share memory", 0) == 0);
  CHECK(room == std::vector<double>{0, 1, 62, 3, 44, 5, 26, 7});

  const plait::program_argument none(static_cast<double*>(nullptr), {0, 3});
  const auto empty = program({none});
  CHECK(empty[0].shape() == plait::shape_type{0, 3});
  CHECK(empty[0].bytes() == 0);
  const plait::program_argument of_none(static_cast<double*>(nullptr), {0});
  CHECK(elements<double>(move({of_none, of_none})[0]) == std::vector<double>{0});
}

TEST_CASE("a reduction of no elements is NumPy's error") {
  const Path path("empty_reduction");
  plait::export_program([](const array<double>& x) { return plait::max(x, 0); }, path,
                        std::tuple(plait::ones({5, 3})), {0}, {{"x"}, {"host"}});
  plait::program program = plait::load(path);
  const plait::program_argument none(static_cast<double*>(nullptr), {0, 3});
  CHECK(error_of([&] { program({none}); }) == "no plan in it is for extents of x_0 = 0");
}

TEST_CASE("clones of a program run in threads at the same time") {
  const Path path("clones");
  export_doubled(path);
  plait::program first = plait::load(path);
  const auto expected = [](double x) { return std::vector<double>(3000, x * 2 + 1); };
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t, mine = first.clone()]() mutable {
      const std::vector<double> x(3000, t);
      for (int i = 0; i < 200; ++i)
        wrong += elements<double>(mine({{x.data(), {1000, 3}}})[0]) != expected(t);
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  // Of one program, a call is refused or right.
  for (std::thread& t : threads)
    t = std::thread([&] {
      const std::vector<double> x(3000, 1);
      std::vector<double> to(3000);
      const std::string refused =
          "another thread is calling the program: plait_clone() gives each "
          "its own";
      for (int i = 0; i < 200; ++i) {
        const std::string error = error_of([&] { first({{x.data(), {1000, 3}}}); });
        wrong += error != "no error" && error != refused;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  plait::program other = std::move(first);
  CHECK(error_of([&] { first({}); }) == "the program is NULL");
  CHECK(error_of([&] { first.arguments(); }) == "the program is NULL");
  CHECK(error_of([&] { first.clone(); }) == "the program is NULL");
}

TEST_CASE("a call of a program ends when a token is cancelled, its own or one around it") {
  const Path path("cancelled");
  export_moved(path);
  plait::program program = plait::load(path);
  std::vector<double> a(9, 1.0);
  const std::vector<double> b(9, 2.0);
  const auto call = [&](const plait::cancel_token& t) {
    return program({plait::written(a.data(), {9}), {b.data(), {9}}}, t);
  };
  const plait::cancel_token fresh, stop;
  CHECK(elements<double>(call(fresh)[0])[0] == 18);
  stop.cancel();
  CHECK_THROWS_AS(call(stop), plait::Cancelled);
  CHECK_THROWS_AS(plait::with_cancel(stop, [&] { return call(fresh); }), plait::Cancelled);
  CHECK(plait_last_error() == PLAIT_CANCELLED);
  CHECK(a == std::vector<double>(9, 5.0));
  CHECK(elements<double>(call(fresh)[0])[0] == 18);
  CHECK(plait_last_error() == PLAIT_NO_ERROR);
  CHECK(a == std::vector<double>(9, 9.0));
}

TEST_CASE("errors of programs are of NumPy's kinds") {
  const Path path("kinds");
  export_doubled(path);
  plait::program program = plait::load(path);
  const std::vector<float> narrow(6);
  const std::vector<double> x(6);
  CHECK_THROWS_AS(program({{narrow.data(), {2, 3}}}), plait::DTypeError);
  CHECK_THROWS_AS(program({{x.data(), {3, 2}}}), plait::ValueError);
  CHECK_THROWS_AS(plait::load("/nowhere/a.plait"), plait::Error);
  CHECK(plait_last_error() == PLAIT_OS_ERROR);
  CHECK_THROWS_AS(plait::load("", 0), plait::ValueError);
  const Path gathers("gathers");
  plait::export_program([](const array<double>& t, const array<std::int64_t>& k) { return t[k]; },
                        gathers, std::tuple(plait::ones({5}), plait::zeros<std::int64_t>({3})));
  plait::program gather = plait::load(gathers);
  const std::vector<std::int64_t> k{0, 5, 1};
  CHECK_THROWS_AS(gather({{x.data(), {5}}, {k.data(), {3}}}), plait::IndexError);
}

TEST_CASE("the log says what is loaded, the plan that is taken, and what is copied") {
  const Path path("logged");
  export_doubled(path);
  std::vector<std::string> lines;
  plait_options o{};
  o.size = sizeof o;
  o.log_topics = "program,fallback";
  o.log = [](void* context, const char* topic, const char* text) {
    static_cast<std::vector<std::string>*>(context)->push_back(std::string(topic) + ": " + text);
  };
  o.log_context = &lines;
  const unsigned kept = plait::config().log;
  REQUIRE(plait_configure(&o) == nullptr);
  plait::program program = plait::load(path);
  const std::vector<double> x(12);
  for (int i = 0; i < 2; ++i)
    program({plait::program_argument(x.data(), {2, 3}).with_strides({48, 16})});
  o = {};
  o.size = sizeof o;
  REQUIRE(plait_configure(&o) == nullptr);
  plait::config().log = kept;
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "program: reads " + static_cast<const std::string&>(path));
  lines.erase(lines.begin());
  CHECK(lines[0].rfind("program: loaded: ", 0) == 0);
  CHECK(lines[1] == "fallback: an argument of a program is copied: 'x' is not in C order");
  CHECK(lines[2].rfind("program: plan ", 0) == 0);
  CHECK(lines[2].find(": x_0 = 2") != std::string::npos);
  CHECK(lines[3] == lines[1]);
}

TEST_CASE("the C interface is configured: threads, an executor, the log") {
  const Path path("configured");
  export_doubled(path);
  plait::program program = plait::load(path);
  const int before = plait::num_threads();
  // In the middle of a loop of one program, another thread's call of a clone comes to its end.
  struct Seen {
    plait::program other;
    std::atomic<int> loops{0};
    std::string meanwhile = {};
  } seen{program.clone()};
  plait_options o{};
  o.size = sizeof o;
  o.threads = 3;
  o.executor = [](void* context, std::int32_t n, void (*piece)(void*, std::int32_t), void* data) {
    Seen& seen = *static_cast<Seen*>(context);
    if (seen.loops++ == 0) {
      const auto call = [&seen] {
        const std::vector<double> x(6, 1);
        return elements<double>(seen.other({{x.data(), {2, 3}}})[0])[5] == 3 ? "right" : "wrong";
      };
      std::packaged_task<std::string()> task(call);
      std::future<std::string> result = task.get_future();
      std::thread thread(std::move(task));
      const bool ended = result.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
      seen.meanwhile = ended ? result.get() : "it waits";
      if (ended)
        thread.join();
      else
        thread.detach();
    }
    for (std::int32_t i = 0; i < n; ++i) piece(data, i);
  };
  o.executor_context = &seen;
  REQUIRE(plait_configure(&o) == nullptr);
  CHECK(plait::num_threads() == 3);
  array<double> x = plait::ones({400000, 3});
  x.eval();
  for (int i = 0; i < 20 && seen.loops == 0; ++i) program({x});
  CHECK(seen.loops > 0);
  CHECK(seen.meanwhile == "right");
  o.threads = -1;
  CHECK(plait_configure(&o) == std::string("the number of threads must be at least 1, not -1"));
  o.threads = 1;
  o.log_topics = "nonsense";
  CHECK(std::string(plait_configure(&o)).rfind("log_topics may be ", 0) == 0);
  CHECK(plait::num_threads() == 3);
  CHECK(plait_configure(nullptr) == std::string("what is to be configured is NULL"));
  o = {};
  o.size = sizeof o;
  o.threads = before;
  REQUIRE(plait_configure(&o) == nullptr);
  seen.loops = 0;
  program({x});
  CHECK(seen.loops == 0);
}
