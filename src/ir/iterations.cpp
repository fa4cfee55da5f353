#include "iterations.hpp"

#include <algorithm>

#include "externals.hpp"

namespace plait::ir {
namespace {

std::string lacking(const Kernel& k) {
  if (std::any_of(k.buffers.begin(), k.buffers.end(), [](const BufferParam& b) { return b.heap; }))
    return "it makes arrays, lists or dicts";
  if (!std::all_of(k.locals.begin(), k.locals.end(), [](const Local& l) { return is_variable(l); }))
    return "it has work memory";
  for (const Inst& i : k.insts)
    if (i.op == Op::External && externals()[static_cast<std::size_t>(i.index)].has_effects)
      return "it calls " + std::string(externals()[static_cast<std::size_t>(i.index)].name) +
             "() of the host";
  return {};
}

}  // namespace

bool runs_apart(const Kernel& k, std::string* why) {
  const std::string lacks = lacking(k);
  if (why && !lacks.empty()) *why = lacks;
  return lacks.empty();
}

}  // namespace plait::ir
