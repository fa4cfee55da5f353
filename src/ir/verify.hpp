// The parts of verify(), and what they share.
#pragma once
#include <string>

#include "ir.hpp"

namespace plait::ir {

std::string describe(const Kernel& k, Val v);
[[noreturn]] void fail(const Kernel& k, Val v, const std::string& what);
[[noreturn]] void fail_loop(const Kernel& k, std::int32_t l, const std::string& what);

// First: every index is in range and the blocks form a tree that holds each value once. Only then
// can the kernel be analysed.
void verify_structure(const Kernel& k);
// What a sequential kernel may not have, and what it alone may have.
void verify_sequential(const Kernel& k);
// Where locals lie.
void verify_locals(const Kernel& k);
// Last: what threads do to the locals that they share, and the barriers between that.
void verify_sharing(const Kernel& k);

}  // namespace plait::ir
