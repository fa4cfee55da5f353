#include "ndarray.hpp"  // Python's headers first

#include "native_call.hpp"

#include <cstring>

#include "functions.hpp"
#include "procedure.hpp"

namespace pb = pybind11;

namespace plait::py {
NativeCall::Source NativeCall::source(const pb::handle& pair) {
  const auto p = pb::reinterpret_borrow<pb::tuple>(pair);
  const auto kind = p[0].cast<std::string>();
  const From from = kind == "fixed" ? From::Fixed : kind == "operand" ? From::Operand : From::Word;
  return {from, p[1].cast<std::int64_t>()};
}

NativeCall::NativeCall(pb::object procedure, const pb::sequence& arrays, const pb::sequence& params,
                       const pb::sequence& args)
    : held_(std::move(procedure)), program_(&held_.cast<const Procedure&>().program()) {
  for (const pb::handle& a : arrays) arrays_.push_back(source(a));
  for (const pb::handle& p : params) params_.push_back(source(p));
  for (const pb::handle& a : args) args_.push_back(source(a));
  const ir::Kernel& k = program_->kernel();
  if (!program_->optimised() || k.buffers.size() > kMost || params_.size() > kMost)
    throw pb::value_error("a procedure without code for C");
  if (arrays_.size() != program_->array_count() || params_.size() != program_->param_count() ||
      args_.size() != program_->arguments().size() || args_.size() > kMost)
    throw pb::value_error("not what the procedure is given");
}

NativeCall::Outcome NativeCall::run(char* const* operands, const std::int64_t* words,
                                    Scalar* results) const {
  const auto number = [&](const Source& s) {
    return s.from == From::Fixed ? s.value : words[s.value];
  };
  void* arrays[kMost];
  std::int64_t params[kMost];
  Scalars room;
  Scalar* const args = room.all;
  for (std::size_t n = 0; n < arrays_.size(); ++n)
    arrays[n] = arrays_[n].from == From::Fixed ? reinterpret_cast<void*>(arrays_[n].value)
                                               : operands[arrays_[n].value];
  for (std::size_t n = 0; n < params_.size(); ++n) params[n] = number(params_[n]);
  for (std::size_t n = 0; n < args_.size(); ++n)
    args[n] = Scalar::of(program_->arguments()[n], number(args_[n]));
  // Nobody can raise here what a handler of signals would.
  program_->run({arrays, params, args}, results, nullptr,
                engine::SequentialProgram::Interrupts::Unheard);
  return has_to_tell(results) ? Outcome::Told : Outcome::Quiet;
}

pb::tuple numbers_of(const Scalar* results, std::size_t count) {
  pb::tuple all(count);
  for (std::size_t n = 0; n < count; ++n) {
    PyObject* const number = python_number(results[n]);
    if (!number) throw pb::error_already_set();
    all[n] = pb::reinterpret_steal<pb::object>(number);
  }
  return all;
}

pb::tuple integers_of(const std::int64_t* numbers, std::size_t count) {
  pb::tuple all(count);
  for (std::size_t n = 0; n < count; ++n) all[n] = pb::int_(numbers[n]);
  return all;
}

void add_native_calls(pb::module_& m) {
  pb::class_<NativeCall>(m, "NativeCall")
      .def(pb::init<pb::object, const pb::sequence&, const pb::sequence&, const pb::sequence&>(),
           pb::arg("procedure"), pb::arg("arrays"), pb::arg("params"), pb::arg("args"));
  add_native_ufuncs(m);
  add_native_functions(m);
}

}  // namespace plait::py
