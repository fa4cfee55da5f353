// Folds of any number of values, each a row: what the values start from, what a step makes of them
// and of an element, and how the states of two ranges join. A loop carries the values as folds of
// kind Last, and a step is operations of its body, so that every backend runs every row. Its order
// is that of the loop; cut into blocks of a fixed size, that of the blocks: extents alone decide
// it.
#pragma once
#include <functional>
#include <string_view>

#include "builder.hpp"

namespace plait::ir {

// Writes a row's operations where they are wanted.
class FoldCode {
 public:
  using Push = std::function<Val(const Inst&)>;
  using TypeOf = std::function<DType(Val)>;
  FoldCode(Push push, TypeOf type) : push_(std::move(push)), type_(std::move(type)) {}

  Val operator()(OpId fn, Val a, Val b = kNone, Val c = kNone) const;
  Val constant(const Scalar& s) const;
  Val number(double v, DType t) const;
  Val push(const Inst& i) const { return push_(i); }
  DType type(Val v) const { return type_(v); }

 private:
  Push push_;
  TypeOf type_;
};

using Values = std::vector<Val>;
struct FoldRow {
  std::string_view name;
  // Over elements of dtype `t`, in a loop whose first iteration is `begin`.
  Values (*start)(const FoldCode& code, DType t, Val begin);
  Values (*step)(const FoldCode& code, const Values& state, const Values& element);
  // `after` is the state of what comes behind.
  Values (*join)(const FoldCode& code, const Values& state, const Values& after);
};

// What the row makes of iterations [begin, end); `element` writes one into the loop.
using Element = std::function<Values(Val iteration)>;
Values fold(Builder& b, const FoldRow& row, DType t, Val begin, Val end, const Element& element);
// The same of iterations [0, end), where blocks fold by themselves and join in order.
Values fold_in_blocks(Builder& b, const FoldRow& row, DType t, Val end, std::int64_t block,
                      const Element& element);

// ArgMin and ArgMax as rows: the element is a value and its place, and so is the state.
const FoldRow& place_of_extreme(ReduceKind kind);
// Has the arg-reductions that `which` names carried by their loops, which become serial.
void carry_places(Kernel& k, const std::function<bool(const Reduction&)>& which);

}  // namespace plait::ir
