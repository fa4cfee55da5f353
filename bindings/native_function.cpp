// Pointers to C functions that run compiled loops of Python's.
#include "ndarray.hpp"  // Python's headers first

#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/os/pages.hpp"
#include "core/processor/c_entry.hpp"
#include "native_call.hpp"

namespace pb = pybind11;

namespace plait::py {
namespace {

constexpr std::size_t kIntegers = 6, kFloats = 8;  // registers
constexpr std::size_t kStack = (128 + 16) / 8;     // where the other arguments begin, in words

// A value as C has it, in a word whose other bytes are anything; and the same as code takes it.
std::int64_t widened(std::uint64_t word, DType type) {
  switch (type) {
    case DType::Bool:
      return (word & 0xff) != 0;
    case DType::Int8:
      return static_cast<std::int8_t>(word);
    case DType::Int16:
      return static_cast<std::int16_t>(word);
    case DType::Int32:
      return static_cast<std::int32_t>(word);
    case DType::UInt8:
      return static_cast<std::uint8_t>(word);
    case DType::UInt16:
      return static_cast<std::uint16_t>(word);
    case DType::UInt32:
      return static_cast<std::uint32_t>(word);
    case DType::Float32:
      return std::bit_cast<std::int64_t>(
          double{std::bit_cast<float>(static_cast<std::uint32_t>(word))});
    default:
      return static_cast<std::int64_t>(word);
  }
}

// A number that the code gives, as C's caller takes it.
std::uint64_t returned(const Scalar& s, DType type) {
  double real = 0;
  std::int64_t whole = 0;
  switch (s.dtype) {
    case DType::Float64:
      real = s.as<double>();
      break;
    case DType::Float32:
      real = s.as<float>();
      break;
    default:
      std::memcpy(&whole, s.bytes, 8);
      whole = widened(static_cast<std::uint64_t>(whole), s.dtype);
      real = s.dtype == DType::UInt64 ? static_cast<double>(static_cast<std::uint64_t>(whole))
                                      : static_cast<double>(whole);
  }
  if (type == DType::Float64) return std::bit_cast<std::uint64_t>(real);
  if (type == DType::Float32) return std::bit_cast<std::uint32_t>(static_cast<float>(real));
  if (type == DType::Bool) return whole != 0;
  return static_cast<std::uint64_t>(widened(static_cast<std::uint64_t>(whole), type));
}

// What is returned where Python raises, as nothing else can be.
std::uint64_t nothing(std::optional<DType> type) {
  Scalar nan = Scalar::of(DType::Float64, std::numeric_limits<double>::quiet_NaN());
  const bool real = type == DType::Float64 || type == DType::Float32;
  return real ? returned(nan, *type) : 0;
}

class NativeFunction {
 public:
  // arguments: dtypes of C's, "int64" for pointers; result: its dtype, or None. told(results,
  // words) returns what the function returns where the code has something to tell.
  NativeFunction(const NativeCall& call, const pb::sequence& arguments, const pb::object& result,
                 std::size_t result_at, pb::object told)
      : call_(call), result_at_(result_at), told_(std::move(told)) {
    if (!result.is_none()) result_ = *parse_dtype(result.ptr());
    std::size_t integers = 0, floats = 0, others = kStack;
    for (const pb::handle& a : arguments) {
      const DType t = *parse_dtype(a.ptr());
      const bool real = t == DType::Float64 || t == DType::Float32;
      std::size_t& used = real ? floats : integers;
      const bool fits = used < (real ? kFloats : kIntegers);
      places_.push_back({fits ? (real ? kIntegers : 0) + used++ : others++, t});
    }
    if (places_.size() > NativeCall::kMost) throw pb::value_error("too many arguments");
    if (result_ && result_at_ >= call_.result_count()) throw pb::value_error("no such result");
    make_entry();
  }
  NativeFunction(const NativeFunction&) = delete;
  ~NativeFunction() {
    if (code_) os::unmap_pages(code_, os::page_bytes());
  }

  std::intptr_t address() const { return reinterpret_cast<std::intptr_t>(code_); }

 private:
  static std::uint64_t entered(const NativeFunction* self, const std::uint64_t* saved) noexcept {
    return self->called(saved);
  }

  std::uint64_t called(const std::uint64_t* saved) const {
    std::int64_t words[NativeCall::kMost];
    for (std::size_t n = 0; n < places_.size(); ++n)
      words[n] = widened(saved[places_[n].first], places_[n].second);
    char* operands[NativeCall::kMost];
    for (std::size_t n = 0; n < places_.size(); ++n)
      operands[n] = reinterpret_cast<char*>(words[n]);
    NativeCall::Scalars room;
    Scalar* const results = room.all;
    if (call_.run(operands, words, results) == NativeCall::Outcome::Told)
      return tell(results, words);
    return result_ ? returned(results[result_at_], *result_) : 0;
  }

  std::uint64_t tell(const Scalar* results, const std::int64_t* words) const {
    const pb::gil_scoped_acquire held;
    const pb::error_scope before;  // which Python's half would find
    try {
      const pb::object found =
          told_(numbers_of(results, call_.result_count()), integers_of(words, places_.size()));
      if (!result_) return 0;
      const bool real = *result_ == DType::Float64 || *result_ == DType::Float32;
      if (!found.is_none()) {
        if (const auto s = pack(found.ptr(), real ? DType::Float64 : DType::Int64))
          return returned(*s, *result_);
      }
    } catch (pb::error_already_set& e) {
      e.restore();
      PyErr_WriteUnraisable(told_.ptr());
    } catch (...) {
      set_python_error();
      PyErr_WriteUnraisable(told_.ptr());
    }
    return nothing(result_);
  }

  void make_entry() {
    std::string code(c_entry());
    if (code.empty()) throw pb::type_error("C functions are made on x86-64 alone");
    const auto put = [&](std::uint64_t mark, const void* address) {
      const std::string pattern(reinterpret_cast<const char*>(&mark), sizeof mark);
      code.replace(code.find(pattern), sizeof mark, reinterpret_cast<const char*>(&address),
                   sizeof address);
    };
    put(kEntryOwner, this);
    put(kEntryTarget, reinterpret_cast<const void*>(&entered));
    code_ = os::map_pages(os::page_bytes());
    if (!code_) throw std::bad_alloc();
    std::memcpy(code_, code.data(), code.size());
    if (!os::make_executable(code_, os::page_bytes()))
      throw pb::type_error("this system does not let memory be made executable");
  }

  NativeCall call_;
  std::vector<std::pair<std::size_t, DType>> places_;  // of the arguments among what is saved
  std::optional<DType> result_;
  std::size_t result_at_;
  pb::object told_;
  std::byte* code_ = nullptr;
};

}  // namespace

void add_native_functions(pb::module_& m) {
  pb::class_<NativeFunction>(m, "NativeFunction")
      .def(pb::init<const NativeCall&, const pb::sequence&, const pb::object&, std::size_t,
                    pb::object>(),
           pb::arg("call"), pb::arg("arguments"), pb::arg("result"), pb::arg("result_at"),
           pb::arg("told"))
      .def_property_readonly("address", &NativeFunction::address);
}

}  // namespace plait::py
