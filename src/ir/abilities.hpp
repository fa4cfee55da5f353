// What a backend runs of where kernels lie and who takes their loops.
#pragma once
#include "ir.hpp"

namespace plait::ir {

constexpr std::uint32_t bit(Space s) { return 1U << static_cast<int>(s); }
constexpr std::uint32_t bit(Scope s) { return 1U << static_cast<int>(s); }

struct Abilities {
  std::uint32_t spaces, scopes;  // a bit each
  constexpr bool has(Space s) const { return (spaces & bit(s)) != 0; }
  constexpr bool has(Scope s) const { return (scopes & bit(s)) != 0; }
};

// The first thing that the kernel wants and the backend has not; empty: it has everything.
// Barriers, copies, stages and layouts are of shared memory.
std::string lacking(const Kernel& k, const Abilities& a);

}  // namespace plait::ir
