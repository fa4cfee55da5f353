// What Plait's tests use of Catch2 (version 2), for machines that do not have it: the same words,
// the same last line, no values of a failed expression. Arguments of a program: the name of a case,
// [tag] or ~[tag]. Sections do not nest.
#pragma once
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace Catch {

// --- matchers and approximate numbers

class Contains {
 public:
  explicit Contains(std::string part) : parts_{{std::move(part), true}} {}
  Contains operator!() const {  // of one part
    Contains without = *this;
    without.parts_[0].wanted = !parts_[0].wanted;
    return without;
  }
  Contains operator&&(const Contains& o) const {
    Contains both = *this;
    both.parts_.insert(both.parts_.end(), o.parts_.begin(), o.parts_.end());
    return both;
  }
  bool matches(std::string_view text) const {
    for (const Part& p : parts_)
      if ((text.find(p.text) != std::string_view::npos) != p.wanted) return false;
    return true;
  }

 private:
  struct Part {
    std::string text;
    bool wanted;
  };
  std::vector<Part> parts_;
};
inline bool matches(std::string_view text, const Contains& c) { return c.matches(text); }
inline bool matches(std::string_view text, std::string_view whole) { return text == whole; }

class Approx {
 public:
  explicit Approx(double value) : value_(value) {}
  Approx& epsilon(double relative) { return relative_ = relative, *this; }
  Approx& margin(double absolute) { return absolute_ = absolute, *this; }
  friend bool operator==(double x, const Approx& a) {
    return std::abs(x - a.value_) <= std::max(a.absolute_, a.relative_ * std::abs(a.value_));
  }

 private:
  double value_, relative_ = 1.2e-5, absolute_ = 0;
};

namespace stand_in {

struct Case {
  const char *name, *tags;
  void (*body)();
};
struct Stop {};  // of a case, by REQUIRE; what failed has been reported

struct Run {
  std::vector<Case> cases;
  std::atomic<int> assertions{0}, failures{0};
  std::vector<std::string> infos;
  // Of the sections of a case each pass enters the next one.
  int section = 0, next_section = 0;
};
inline Run& run() {
  static Run r;
  return r;
}

struct Register {
  Register(void (*body)(), const char* name, const char* tags = "") {
    run().cases.push_back({name, tags, body});
  }
};

class Info {
 public:
  explicit Info(const std::ostringstream& text) { run().infos.push_back(text.str()); }
  ~Info() { run().infos.pop_back(); }
  Info(const Info&) = delete;
};

inline bool enter_section() { return run().section++ == run().next_section; }

inline bool check(bool held, const char* file, int line, std::string_view what) {
  ++run().assertions;
  if (held) return true;
  ++run().failures;
  std::printf("%s:%d: FAILED: %.*s\n", file, line, static_cast<int>(what.size()), what.data());
  for (const std::string& info : run().infos) std::printf("  with: %s\n", info.c_str());
  return false;
}
inline void require(bool held) {
  if (!held) throw Stop{};
}

template <class Body, class Accept>
bool throws(Body body, Accept accept) {
  try {
    body();
  } catch (...) {
    return accept();
  }
  return false;
}
template <class E>
bool is_current() {
  try {
    throw;
  } catch (const E&) {
    return true;
  } catch (...) {
    return false;
  }
}
template <class M>
bool current_says(const M& matcher) {
  try {
    throw;
  } catch (const std::exception& e) {
    return matches(e.what(), matcher);
  } catch (...) {
    return false;
  }
}

inline bool chosen(const Case& c, const std::vector<std::string_view>& filters) {
  const std::string_view tags = c.tags;
  for (std::string_view f : filters)
    if (f.starts_with("~[")  ? tags.find(f.substr(1)) != std::string_view::npos
        : f.starts_with("[") ? tags.find(f) == std::string_view::npos
                             : f != c.name)
      return false;
  return true;
}

inline void execute(const Case& c) {
  Run& r = run();
  const int before = r.failures;
  r.next_section = 0;
  do {
    r.section = 0;
    try {
      c.body();
    } catch (const Stop&) {
    } catch (const std::exception& e) {
      check(false, c.name, 0, std::string("exception: ") + e.what());
    } catch (...) {
      check(false, c.name, 0, "exception of an unknown type");
    }
    r.infos.clear();
  } while (++r.next_section < r.section);
  if (r.failures > before) std::printf("in: %s\n\n", c.name);
}

inline int main(int argc, char** argv) {
  Run& r = run();
  const std::vector<std::string_view> filters(argv + 1, argv + argc);
  int passed = 0, failed = 0;
  for (const Case& c : r.cases) {
    if (!chosen(c, filters)) continue;
    const int before = r.failures;
    execute(c);
    ++(r.failures > before ? failed : passed);
  }
  if (failed == 0 && passed > 0) {
    std::printf("All tests passed (%d assertions in %d test cases)\n", r.assertions.load(), passed);
    return 0;
  }
  std::printf("test cases: %d | %d passed | %d failed\n", passed + failed, passed, failed);
  return failed > 0 ? 1 : 2;
}

}  // namespace stand_in
}  // namespace Catch

using Catch::Approx;

#define PLAIT_TEST_JOIN2(a, b) a##b
#define PLAIT_TEST_JOIN(a, b) PLAIT_TEST_JOIN2(a, b)
#define PLAIT_TEST_CASE(function, ...)                                                          \
  static void function();                                                                       \
  static const Catch::stand_in::Register PLAIT_TEST_JOIN(function, _is)(function, __VA_ARGS__); \
  static void function()
#define TEST_CASE(...) PLAIT_TEST_CASE(PLAIT_TEST_JOIN(test_case_, __LINE__), __VA_ARGS__)
#define SECTION(name) if (Catch::stand_in::enter_section())

#define PLAIT_TEST_CHECK(held, text) Catch::stand_in::check(held, __FILE__, __LINE__, text)
#define CHECK(...) PLAIT_TEST_CHECK(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__)
#define CHECK_FALSE(...) PLAIT_TEST_CHECK(!(__VA_ARGS__), "not " #__VA_ARGS__)
#define REQUIRE(...) Catch::stand_in::require(CHECK(__VA_ARGS__))
#define REQUIRE_FALSE(...) Catch::stand_in::require(CHECK_FALSE(__VA_ARGS__))
#define STATIC_REQUIRE(...) static_assert(__VA_ARGS__)

#define CHECK_THROWS_AS(expression, type)                                          \
  PLAIT_TEST_CHECK(Catch::stand_in::throws([&] { static_cast<void>(expression); }, \
                                           Catch::stand_in::is_current<type>),     \
                   #expression " throws " #type)
#define CHECK_THROWS_WITH(expression, ...)                                                 \
  PLAIT_TEST_CHECK(                                                                        \
      Catch::stand_in::throws([&] { static_cast<void>(expression); },                      \
                              [&] { return Catch::stand_in::current_says(__VA_ARGS__); }), \
      #expression " throws with " #__VA_ARGS__)
#define CHECK_NOTHROW(...)                                                                    \
  PLAIT_TEST_CHECK(                                                                           \
      !Catch::stand_in::throws([&] { static_cast<void>(__VA_ARGS__); }, [] { return true; }), \
      #__VA_ARGS__ " does not throw")
#define REQUIRE_THROWS_AS(expression, type) \
  Catch::stand_in::require(CHECK_THROWS_AS(expression, type))
#define REQUIRE_THROWS_WITH(expression, ...) \
  Catch::stand_in::require(CHECK_THROWS_WITH(expression, __VA_ARGS__))
#define CHECK_THAT(text, ...) \
  PLAIT_TEST_CHECK(Catch::matches(text, __VA_ARGS__), #text " matches " #__VA_ARGS__)

#define PLAIT_TEST_TEXT(...) (std::ostringstream() << "" __VA_OPT__(<< __VA_ARGS__))
#define INFO(...) \
  const Catch::stand_in::Info PLAIT_TEST_JOIN(info_, __LINE__)(PLAIT_TEST_TEXT(__VA_ARGS__))
#define FAIL_CHECK(...) PLAIT_TEST_CHECK(false, PLAIT_TEST_TEXT(__VA_ARGS__).str())
#define FAIL(...) Catch::stand_in::require(FAIL_CHECK(__VA_ARGS__))
#define SUCCEED(...) PLAIT_TEST_CHECK(true, "")

#ifdef CATCH_CONFIG_MAIN
int main(int argc, char** argv) { return Catch::stand_in::main(argc, argv); }
#endif
