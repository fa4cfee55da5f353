#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "log_topic.hpp"

namespace plait {
namespace {

constexpr Log kTopics[] = {Log::Fusion,   Log::Code,     Log::Compile, Log::Cache,
                           Log::Fallback, Log::Transfer, Log::Loops,   Log::Program};

// --- texts as values ---

std::string lower(std::string_view text) {
  std::string s(text);
  for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s;
}

// In lower case; whatever switches something on or off, as that.
std::string word(std::string_view text) {
  std::string s = lower(text);
  if (s == "1" || s == "yes" || s == "true") return "on";
  if (s == "0" || s == "no" || s == "false") return "off";
  return s;
}

std::optional<std::int64_t> number(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t n = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc() || last != end || n < least || n > most) return {};
  return n;
}

// "512M", "1GB", "64 KiB": powers of 1024.
std::optional<std::int64_t> size_in_bytes(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string unit = lower(text.substr(digits));
  unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
  int shift = 0;
  if (!unit.empty() && unit != "b") {
    constexpr std::string_view prefixes = "kmgt";
    const std::size_t at = prefixes.find(unit[0]);
    const std::string rest = unit.substr(1);
    if (at == prefixes.npos || !(rest.empty() || rest == "b" || rest == "ib")) return {};
    shift = 10 * (static_cast<int>(at) + 1);
  }
  const auto n =
      number(text.substr(0, digits), 0, std::numeric_limits<std::int64_t>::max() >> shift);
  if (!n) return {};
  return *n << shift;
}

// --- kinds of settings ---

template <auto Member>
using MemberType = std::remove_reference_t<decltype(std::declval<Config&>().*Member)>;

template <class T>
SettingValue integer_of(T n) {
  return static_cast<std::int64_t>(n);
}
template <class T>
SettingValue integer_of(const std::optional<T>& n) {
  return n ? integer_of(*n) : SettingValue();
}

template <auto Member>
bool store(std::optional<std::int64_t> n, Config& c) {
  if (n) c.*Member = static_cast<MemberType<Member>>(*n);
  return n.has_value();
}

template <auto Member>
SettingValue integer(const Config& c) {
  return integer_of(c.*Member);
}

template <auto Member>
Allowed bytes() {
  return {"bytes, or with a unit: `512M`, `1GB`",
          [](std::string_view t, Config& c) { return store<Member>(size_in_bytes(t), c); },
          integer<Member>};
}

template <auto Member, std::int64_t Least, std::int64_t Most>
Allowed whole_number() {
  std::string text = "a whole number from " + std::to_string(Least);
  if (Most != std::numeric_limits<std::int64_t>::max()) text += " to " + std::to_string(Most);
  return {text,
          [](std::string_view t, Config& c) { return store<Member>(number(t, Least, Most), c); },
          integer<Member>};
}

struct Word {
  const char* text;
  int value;
};

template <auto Member, const auto& Words>
Allowed one_of() {
  std::string text;
  for (const Word& w : Words) text += (text.empty() ? "`" : ", `") + std::string(w.text) + "`";
  return {text,
          [](std::string_view t, Config& c) {
            for (const Word& w : Words)
              if (word(t) == w.text) {
                c.*Member = static_cast<MemberType<Member>>(w.value);
                return true;
              }
            return false;
          },
          [](const Config& c) -> SettingValue {
            for (const Word& w : Words)
              if (c.*Member == static_cast<MemberType<Member>>(w.value)) return std::string(w.text);
            return std::string();
          }};
}

constexpr Word kSwitch[] = {{"on", 1}, {"off", 0}};

template <auto Member>
Allowed toggle() {
  Allowed a = one_of<Member, kSwitch>();
  a.value = [](const Config& c) -> SettingValue { return c.*Member; };
  return a;
}

template <auto Member>
Allowed any(const char* text) {
  return {text, [](std::string_view t, Config& c) { return c.*Member = t, true; },
          [](const Config& c) -> SettingValue { return c.*Member; }};
}

Allowed topics() {
  std::string text = "comma-separated: ";
  for (const Log t : kTopics) text += "`" + std::string(topic(t)) + "`, ";
  return {text + "or `all`, or `off`",
          [](std::string_view t, Config& c) { return parse_topics(t, c.log); },
          [](const Config& c) -> SettingValue { return topics_text(c.log); }};
}

// What Python reads by itself.
Allowed pythons_switch() {
  return {"`on`, `off`", [](std::string_view, Config&) { return true; }, nullptr};
}

Allowed file() {
  return {"a file", [](std::string_view, Config&) { return true; }, nullptr};
}

constexpr auto kTierWords = [] {
  std::array<Word, kTiers.size()> words{};
  for (const CpuTier t : kTiers)
    words[static_cast<std::size_t>(t)] = {info(t).name, static_cast<int>(t)};
  return words;
}();
constexpr Word kJitModes[] = {{"background", static_cast<int>(JitMode::Background)},
                              {"blocking", static_cast<int>(JitMode::Blocking)},
                              {"off", static_cast<int>(JitMode::Off)}};
constexpr Word kPlanModes[] = {{"auto", static_cast<int>(PlanMode::Auto)},
                               {"always", static_cast<int>(PlanMode::Always)}};
constexpr Word kTeam[] = {{"auto", 0}, {"always", 1}};
constexpr Word kFloats[] = {{"bfloat16", static_cast<int>(DType::BFloat16)},
                            {"float16", static_cast<int>(DType::Float16)},
                            {"float32", static_cast<int>(DType::Float32)},
                            {"float64", static_cast<int>(DType::Float64)}};

constexpr std::int64_t kMostThreads = 65536;
constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();

std::vector<Setting> table() {
  return {
      {"PLAIT_NUM_THREADS", "threads", true, whole_number<&Config::threads, 1, kMostThreads>(),
       "`OMP_NUM_THREADS`, else the cores the process may use",
       "the most threads of one evaluation; `plait.set_num_threads(n)` changes it. Fewer work "
       "where the affinity mask or the control group's CPU quota gives fewer CPUs, where no more "
       "can be started, or where they have not paid lately. Results do not depend on it"},
      {"PLAIT_TEAM", "team", false, one_of<&Config::always_share, kTeam>(), "`auto`",
       "for tests: `always` cuts every loop into small pieces and shares it among all threads, "
       "whatever that costs"},
      {"PLAIT_LOG", "log", true, topics(), "`off`",
       "prints to standard error: plans, and what ran one operation at a time; loop IR and LLVM "
       "IR; compilations; the disk cache; calls that went to NumPy, with their call site, and what "
       "exported programs copy; copies to and from devices; Python's loops that are compiled, and "
       "why others are not; exported programs that are loaded, and their plans"},
      {"PLAIT_TRACE", nullptr, false, any<&Config::trace_file>("a file"), "none",
       "when what ran on which thread, for Perfetto and chrome://tracing; `%p` in the name is the "
       "process's number; see [profiling](profiling.md)"},
      {"PLAIT_JIT", "jit", true, one_of<&Config::jit, kJitModes>(), "`background`",
       "compile in a thread of its own while the interpreter runs; compile before the first run; "
       "interpreter only"},
      {"PLAIT_PLAN", "plan", true, one_of<&Config::plan, kPlanModes>(), "`auto`",
       "plan a graph only when its operations one by one would take longer than planning, and in "
       "the background what comes by again; plan every graph at once. The bits are the same, "
       "but for attention and products of casts of bfloat16"},
      {"PLAIT_FUSE", "fuse", true, toggle<&Config::fuse>(), "`on`",
       "`off`: one operation at a time. The reference to compare with when a fused result looks "
       "wrong"},
      {"PLAIT_WARN", nullptr, false, pythons_switch(), "`on`",
       "`off`: no `plait.PlaitPerformanceWarning`; see [measuring](measuring.md)"},
      {"PLAIT_CHECK_COMPILED", "check_compiled", true, toggle<&Config::check_compiled>(), "`off`",
       "`on`: each call of a function of `plait::compile` that a kept plan runs is made by the "
       "function, too, and an error says where the two differ"},
      {"PLAIT_CPU", "cpu", false, one_of<&Config::tier, kTierWords>(), "the best the CPU has",
       "instruction sets of the precompiled loops and of generated code, never above what the CPU "
       "has"},
      {"PLAIT_AMX", "amx", false, toggle<&Config::amx>(), "`on`",
       "`off`: products of bfloat16 and of bytes without the CPU's matrix tiles"},
      {"PLAIT_DETERMINISTIC", "deterministic", false, toggle<&Config::deterministic>(), "`off`",
       "`on`: `PLAIT_CPU` is at most `avx2`, `PLAIT_AMX` off and `PLAIT_PLAN` `always`, plans do "
       "not look at the sizes of caches, and an OpenBLAS that Plait loads takes the kernels of "
       "AVX2; see [below](#the-same-bits)"},
      {"PLAIT_EAGER_LIMIT", "eager_limit", true,
       whole_number<&Config::eager_limit, 0, kAnyNumber>(), "2048",
       "operands of up to so many elements that are already in memory are computed at once instead "
       "of recorded; `0` records everything"},
      {"PLAIT_CACHE", "disk_cache", true, toggle<&Config::disk_cache>(), "`on`",
       "the disk cache of machine code; its keys carry the build id of `libplait_jit.so`"},
      {"PLAIT_CACHE_DIR", "cache_dir", false, any<&Config::cache_dir>("a folder"),
       "`$XDG_CACHE_HOME/plait`, else `~/.cache/plait`",
       "where it lies. A folder that is not the user's own, or that others may write to, is not "
       "used"},
      {"PLAIT_CACHE_LIMIT", "cache_limit", true, bytes<&Config::cache_limit>(), "`256M`",
       "its size"},
      {"PLAIT_CODE_LIMIT", "code_limit", false, bytes<&Config::code_limit>(), "`64M`",
       "plans kept in memory, and as much of kernels that no plan holds"},
      {"PLAIT_POOL_LIMIT", "pool_limit", false, bytes<&Config::pool_limit>(),
       "a quarter of the memory that the machine or the container has, at most `2G`",
       "freed buffers that are kept for reuse"},
      {"PLAIT_PACKED_LIMIT", "packed_limit", true, bytes<&Config::packed_limit>(),
       "an eighth of the memory that the machine or the container has, at most `1G`",
       "right operands of products that were seen before with the same contents, kept as the tiles "
       "that multiply read them; `0` keeps none"},
      {"PLAIT_CUDA_POOL_LIMIT", "cuda_pool_limit", false, bytes<&Config::cuda_pool_limit>(),
       "half of the device's memory", "the same of each device"},
      {"PLAIT_DEVICE", "device", false, any<&Config::device>("`cpu`, `cuda`, `cuda:N`"), "`cpu`",
       "where arrays are created"},
      {"PLAIT_DEFAULT_DTYPE", "default_dtype", false, one_of<&Config::default_dtype, kFloats>(),
       "`float64`",
       "what creation functions and random numbers give where NumPy gives float64; see below"},
      {"PLAIT_BLAS", nullptr, false, any<&Config::blas_library>("a file"),
       "NumPy's, else `libopenblas.so.0`",
       "the BLAS and LAPACK of large products and of `linalg`; a named one multiplies wherever it "
       "can"},
      {"PLAIT_CUDA_LIBRARY", nullptr, false, file(), "found", "the CUDA driver"},
      {"PLAIT_NVRTC_LIBRARY", nullptr, false, file(), "found", "NVRTC"},
      {"PLAIT_CUBLASLT_LIBRARY", nullptr, false, file(), "found", "cuBLASLt"},
      {"PLAIT_JIT_LIBRARY", nullptr, false, any<&Config::jit_library>("a file"),
       "beside the library, the extension or the program that it is linked into, nowhere else",
       "the shared object with LLVM inside"},
  };
}

}  // namespace

bool parse_topics(std::string_view list, unsigned& mask) {
  unsigned found = 0;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string name = word(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    bool known = name.empty() || name == "off";
    for (const Log t : kTopics)
      if (name == topic(t) || name == "all") {
        found |= static_cast<unsigned>(t);
        known = true;
      }
    if (!known) return false;
  }
  mask = found;
  return true;
}

std::string topics_text(unsigned mask) {
  std::string text;
  for (const Log t : kTopics)
    if (mask & static_cast<unsigned>(t)) text += (text.empty() ? "" : ",") + std::string(topic(t));
  return text.empty() ? "off" : text;
}

std::span<const Setting> settings() {
  static const auto& all = *new std::vector<Setting>(table());
  return all;
}

namespace {

constexpr std::string_view kPrefix = "PLAIT_";

// Variables of the project's own scripts and tests, which the library does not read.
constexpr std::string_view kOfScripts[] = {
    "BUILD",      "CMAKE",    "CUDA_HEADERS", "CXX",      "FAKE",         "FUZZ",
    "GPU_DOUBLE", "LEFT_OUT", "LIBRARIES",    "LINT",     "NVRTC_BEHIND", "OUT",
    "SOURCE",     "SUITE",    "TEST",         "THOROUGH", "VENV",         "WHEEL"};

bool is_of_scripts(std::string_view rest) {
  return std::any_of(std::begin(kOfScripts), std::end(kOfScripts), [&](std::string_view name) {
    return rest == name || (rest.starts_with(name) && rest[name.size()] == '_');
  });
}

// How many letters are to be changed, added or left out to make one of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      corner = std::exchange(
          row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, corner + (a[i] == b[j] ? 0 : 1)}));
  }
  return row.back();
}

// The setting that may be meant by a name that is none: what it is a part of, or is spelt alike.
const char* meant(std::string_view rest) {
  const char* nearest = nullptr;
  std::size_t least = 3;
  for (const Setting& s : settings()) {
    const std::string_view name = std::string_view(s.variable).substr(kPrefix.size());
    if (rest.size() > 2 && name.find(rest) != name.npos) return s.variable;
    if (const std::size_t d = edit_distance(rest, name); d < least) least = d, nearest = s.variable;
  }
  return nearest;
}

}  // namespace

void name_unknown_variables() {
  for (char** v = environ; v && *v; ++v) {
    const std::string_view entry = *v, variable = entry.substr(0, entry.find('='));
    if (!variable.starts_with(kPrefix)) continue;
    const std::string_view rest = variable.substr(kPrefix.size());
    const auto known = [&](const Setting& s) { return variable == s.variable; };
    if (is_of_scripts(rest) || std::any_of(settings().begin(), settings().end(), known)) continue;
    const char* near = meant(rest);
    std::fprintf(stderr, "plait: %.*s is no setting%s%s%s\n", static_cast<int>(variable.size()),
                 variable.data(), near ? "; " : "", near ? near : "", near ? " is one" : "");
  }
}

void read_environment(Config& c) {
  for (const Setting& s : settings()) {
    const char* text = std::getenv(s.variable);
    if (!text || !*text || s.allowed.parse(text, c)) continue;
    std::string allowed = s.allowed.text;
    std::erase(allowed, '`');
    std::fprintf(stderr, "plait: %s: '%s' is not allowed and ignored; allowed: %s\n", s.variable,
                 text, allowed.c_str());
  }
}

}  // namespace plait
