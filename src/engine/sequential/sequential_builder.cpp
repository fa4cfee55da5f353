#include "sequential_builder.hpp"

#include <algorithm>

#include "ir/externals.hpp"
#include "plait/error.hpp"

namespace plait::engine {
namespace {

constexpr ir::Coeff kByte{1};

void check_count(std::string_view function, int arity,
                 const std::vector<SequentialBuilder::Val>& operands) {
  if (operands.size() != static_cast<std::size_t>(arity))
    throw ValueError(std::string(function) + " takes " + std::to_string(arity) + " operands");
}

}  // namespace

const ir::Inst& SequentialBuilder::value(Val v) const {
  return b_.kernel().insts[static_cast<std::size_t>(checked(v))];
}

ir::Val SequentialBuilder::checked(Val v) const {
  if (v < 0 || static_cast<std::size_t>(v) >= b_.kernel().insts.size())
    throw ValueError("procedure " + name() + " has no value " + std::to_string(v));
  return static_cast<ir::Val>(v);
}

std::int32_t SequentialBuilder::known_buffer(Index buffer) const {
  if (buffer < 0 || static_cast<std::size_t>(buffer) >= b_.kernel().buffers.size())
    throw ValueError("procedure " + name() + " has no buffer " + std::to_string(buffer));
  return static_cast<std::int32_t>(buffer);
}

std::int32_t SequentialBuilder::known_local(Index local) const {
  if (local < 0 || static_cast<std::size_t>(local) >= b_.kernel().locals.size())
    throw ValueError("procedure " + name() + " has no variable " + std::to_string(local));
  return static_cast<std::int32_t>(local);
}

SequentialBuilder::Val SequentialBuilder::address(Index buffer) {
  const std::int32_t b = known_buffer(buffer);
  const Val v = param();
  addresses_.push_back({static_cast<std::size_t>(value(v).index), static_cast<std::size_t>(b)});
  return v;
}

SequentialBuilder::Val SequentialBuilder::get(Index local) {
  return b_.load_local(known_local(local), {});
}

void SequentialBuilder::set(Index local, Val v) {
  const std::int32_t to = known_local(local);
  if (type(v) != b_.kernel().locals[static_cast<std::size_t>(to)].dtype)
    throw DTypeError("a variable is set to a value of another dtype");
  b_.store_local(to, {}, static_cast<ir::Val>(v));
}

SequentialBuilder::Val SequentialBuilder::constant(const Scalar& s) {
  return b_.number({.op = ir::Op::Const, .type = s.dtype, .imm = s});
}

SequentialBuilder::Val SequentialBuilder::push(ir::Inst i, const std::vector<Val>& operands) {
  std::transform(operands.begin(), operands.end(), i.operands, [&](Val v) { return checked(v); });
  return b_.push(i);
}

SequentialBuilder::Val SequentialBuilder::apply(std::string_view ufunc,
                                                const std::vector<Val>& operands) {
  const OpId fn = find_op(ufunc);
  if (fn == OpId::Count_) throw ValueError("no operation " + std::string(ufunc));
  check_count(ufunc, op_info(fn).arity, operands);
  const DType in = type(operands[fn == OpId::Where ? 1 : 0]);
  if (op_info(fn).loops.find(code(in)) == std::string_view::npos)
    throw DTypeError(std::string(ufunc) + " has no loop for " + std::string(plait::name(in)));
  return push({.op = ir::Op::Apply, .type = result_type(fn, in), .fn = fn}, operands);
}

SequentialBuilder::Val SequentialBuilder::cast(Val v, DType dtype) {
  return b_.cast(checked(v), dtype);
}

SequentialBuilder::Val SequentialBuilder::load(Index buffer, Val offset) {
  return b_.gather(known_buffer(buffer), {}, checked(offset), kByte);
}

void SequentialBuilder::store(Index buffer, Val offset, Val v) {
  b_.scatter(OpId::Count_, known_buffer(buffer), {}, checked(offset), kByte, checked(v));
}

SequentialBuilder::Val SequentialBuilder::call(const std::string& function,
                                               const std::vector<Val>& operands) {
  const int n = ir::external(function);
  if (n < 0) throw ValueError("no function " + function);
  const ir::ExternalFunction& f = ir::externals()[static_cast<std::size_t>(n)];
  check_count(function, f.arity, operands);
  return push({.op = ir::Op::External, .type = f.result, .index = n}, operands);
}

SequentialBuilder::Val SequentialBuilder::overflows(std::string_view ufunc, Val a, Val b) {
  return push({.op = ir::Op::Overflows, .type = DType::Bool, .fn = find_op(ufunc)}, {a, b});
}

std::pair<SequentialBuilder::Index, SequentialBuilder::Val> SequentialBuilder::begin_count(
    Val begin, Val end) {
  const std::int32_t loop = b_.open_for(checked(begin), checked(end));
  return {loop, b_.var(loop)};
}

std::pair<SequentialBuilder::Index, SequentialBuilder::Val> SequentialBuilder::begin_fold(Val begin,
                                                                                          Val end) {
  const std::int32_t loop = b_.open_reduce(checked(begin), checked(end));
  return {loop, b_.var(loop)};
}

SequentialBuilder::Val SequentialBuilder::end_fold(std::string_view kind, Val v) {
  const auto* const known = std::find_if(std::begin(kReductions), std::end(kReductions),
                                         [&](const ReduceInfo& r) { return r.name == kind; });
  if (known == std::end(kReductions) || known->kind == ReduceKind::Last)
    throw ValueError("no fold " + std::string(kind));
  const bool ordered = is_float(type(v)) && known->has(kOrderShows);
  const ir::Order order = !ordered                         ? ir::Order::Any
                          : known->kind == ReduceKind::Sum ? ir::Order::Pairwise
                                                           : ir::Order::Sequential;
  return b_.close({{known->kind, static_cast<ir::Val>(v), order}}).front();
}

void SequentialBuilder::otherwise(bool rare) {
  if (b_.loop(b_.innermost()).kind != ir::LoopKind::If)
    throw ValueError("otherwise() stands in no if");
  b_.otherwise();
  b_.loop(b_.innermost()).rare = rare;
}

void SequentialBuilder::end(std::optional<Val> condition) {
  const std::int32_t open = b_.innermost();
  if (open == 0) throw ValueError("procedure " + name() + " has no open block");
  if (b_.loop(open).kind == ir::LoopKind::Repeat) return b_.close_repeat(checked(condition));
  if (condition) throw ValueError("only a repeat ends with a condition");
  b_.close();
}

void SequentialBuilder::leave(Index loop, std::optional<Val> condition) {
  if (loop <= 0 || static_cast<std::size_t>(loop) >= b_.kernel().loops.size())
    throw ValueError("procedure " + name() + " has no loop " + std::to_string(loop));
  b_.leave(static_cast<std::int32_t>(loop), checked(condition));
}

// Code that leaves the checks out where a loop's indices are known to stay inside looks for these
// very instructions.
std::pair<SequentialBuilder::Val, SequentialBuilder::Val> SequentialBuilder::index(Val i,
                                                                                   Val extent) {
  for (const Val v : {i, extent})
    if (type(v) != DType::Int64) throw DTypeError("an index is not int64");
  const ir::CheckedIndex c = b_.index(static_cast<ir::Val>(i), static_cast<ir::Val>(extent));
  return {c.index, c.outside};
}

std::unique_ptr<SequentialProgram> SequentialBuilder::finish() && {
  if (b_.innermost() != 0) throw ValueError("a block of procedure " + name() + " is still open");
  return std::make_unique<SequentialProgram>(std::move(b_), results_, std::move(addresses_));
}

}  // namespace plait::engine
