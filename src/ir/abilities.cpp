#include "abilities.hpp"

namespace plait::ir {
namespace {

const char* text(Space s) {
  switch (s) {
    case Space::Cache:
      return "a local in cache";
    case Space::Register:
      return "a local in registers";
    case Space::Shared:
      return "a local in shared memory";
    case Space::Global:
      return "a local in global scratch";
  }
  return "?";
}

const char* text(Scope s) {
  switch (s) {
    case Scope::Serial:
      return "a serial loop";
    case Scope::Unrolled:
      return "an unrolled loop";
    case Scope::Grid:
      return "a loop of the grid";
    case Scope::Block:
      return "a loop of a block";
    case Scope::Warp:
      return "a loop of a warp";
    case Scope::Lanes:
      return "a vector loop";
  }
  return "?";
}

}  // namespace

std::string lacking(const Kernel& k, const Abilities& a) {
  for (const Loop& l : k.loops)
    if (!a.has(l.scope)) return text(l.scope);
  const bool shared = a.has(Space::Shared);
  for (const Local& l : k.locals) {
    if (!a.has(l.space)) return text(l.space);
    if (!shared && (l.stages > 1 || l.layout != Layout{})) return "a local with a layout";
  }
  for (const Inst& i : k.insts)
    if (!shared && (i.op == Op::Barrier || i.op == Op::AsyncCopy))
      return i.op == Op::Barrier ? "a barrier" : "an asynchronous copy";
  return {};
}

}  // namespace plait::ir
