// A call of a function that was watched (tracer/capture.hpp), to be made again without the
// function: arrays in, arrays out, with what aliases what as it was recorded.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executable.hpp"
#include "tracer/capture.hpp"

namespace plait::engine {

// What a plan depends on of an array of Plait's: itself, and its storage's contents.
struct ArrayLayout {
  DType dtype;
  bool writeable;
  Dims shape, strides;
  std::int64_t offset;
  DType whole_dtype;
  Dims whole_shape, whole_strides;
  bool operator==(const ArrayLayout&) const = default;
};
// nullopt: it is not in memory of the host, or others look at that.
std::optional<ArrayLayout> layout_of(const tracer::Array& a);
// Whether layout_of() is this.
bool has_layout(const tracer::Array& a, const ArrayLayout& l);

class CapturedCall {
 public:
  // An array that the function got, and the node of its storage then.
  struct Argument {
    tracer::Array array;
    const tracer::Node* node;
  };
  // Contents that are somebody else's, as they were read: the caller gives their memory later.
  struct Outside {
    const tracer::Node* node;
  };
  // Where a result is.
  struct Place {
    std::int32_t argument = -1;  // a view of that one's storage
    std::int32_t value = -1;     // of a value that is computed, or of a constant
    std::int64_t offset = 0;     // bytes from the argument's first element, or the value's
    tracer::Array as;            // dtype, shape, strides
  };

  // The capture has ended, and nothing of `results` has been computed. Null: `why` says why the
  // call cannot be made again; it is "" where another could, as when `ahead`, which was empty, is
  // its plan now. The recorder's lock is held.
  static std::shared_ptr<CapturedCall> make(const tracer::Capture& capture,
                                            std::span<const Argument> arguments,
                                            std::span<const Outside> outside,
                                            std::span<const tracer::Array> results,
                                            PlanAhead& ahead, const char*& why);

  const std::vector<Place>& results() const { return results_; }
  // Of each argument: the first one of the same storage.
  const std::vector<std::int32_t>& storages() const { return storages_; }
  bool writes(std::size_t argument) const {
    return written_[static_cast<std::size_t>(storages_[argument])] >= 0;
  }
  // Whether another recording, with other numbers of the caller's, is this one but for them: they
  // are arguments from then on. Both were made with no memory outside.
  bool take_numbers(const CapturedCall& other, const Executable::Numbers& n);
  bool holds(std::span<const Scalar> numbers) const {
    return !executable_ || executable_->holds(numbers);
  }
  bool reads_outside(std::size_t i) const { return executable_ && executable_->reads(outside(i)); }

  // Memory of the arguments, laid out as it was; of those that share a storage, the first counts.
  // Makes the results that are values. False: an array that the function reads beside its arguments
  // has another layout now. Throws as Executable::run().
  bool run(std::span<const NodeMemory> arguments, std::span<const NodeMemory> outside,
           std::span<const Scalar> numbers, std::span<tracer::Array> results);

 private:
  struct Value {
    DType dtype;
    Dims shape, strides;
    NodeMemory constant;  // of those, each call has a copy
    std::int32_t computed = -1;
  };
  struct Other {
    Ref<tracer::Storage> storage;
    DType dtype;
    Dims shape, strides;
    bool operator==(const Other&) const = default;
  };
  // Of a run, kept for the next one.
  struct Frame {
    std::vector<NodeMemory> inputs;
    std::vector<Executable::Result> computed;
    std::vector<bool> taken;                 // of what was computed: a result has its memory
    std::vector<Ref<tracer::Storage>> made;  // of the values
  };
  bool compute(Frame& f, std::span<const NodeMemory> arguments, std::span<const NodeMemory> outside,
               std::span<const Scalar> numbers);
  Ref<tracer::Storage> make_value(std::size_t value, Frame& f,
                                  std::span<const NodeMemory> arguments);
  std::size_t outside(std::size_t i) const { return storages_.size() + others_.size() + i; }
  std::int32_t add_value(const tracer::Node& n);
  void copy_back(std::size_t argument, const NodeMemory& to, const Executable::Result& from) const;

  std::vector<std::int32_t> storages_, written_;
  std::vector<Other> others_;
  std::vector<Value> values_;
  std::vector<Place> results_;
  std::vector<std::unique_ptr<Frame>> idle_;
  std::vector<tracer::Node*> wanted_;       // while it is made
  std::shared_ptr<Executable> executable_;  // null: nothing is computed
};

}  // namespace plait::engine
