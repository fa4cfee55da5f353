#pragma once
#include <cstdint>

namespace plait {

// FPSR has the exceptions, FPCR the control.
inline constexpr unsigned kInvalid = 0x01, kDivide = 0x02, kOver = 0x04, kUnder = 0x08;

PLAIT_FLOAT_UNIT unsigned float_exceptions() {
  std::uint64_t fpsr;
  asm volatile("mrs %0, fpsr" : "=r"(fpsr)::"memory");
  return static_cast<unsigned>(fpsr) & 0x9fU;
}
PLAIT_FLOAT_UNIT void set_float_exceptions(unsigned e) {
  std::uint64_t fpsr;
  asm volatile("mrs %0, fpsr" : "=r"(fpsr)::"memory");
  fpsr = (fpsr & ~std::uint64_t{0x9f}) | e;
  asm volatile("msr fpsr, %0" ::"r"(fpsr) : "memory");
}

PLAIT_FLOAT_UNIT unsigned float_control() {
  std::uint64_t fpcr;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr)::"memory");
  return static_cast<unsigned>(fpcr);
}
PLAIT_FLOAT_UNIT void set_float_control(unsigned control) {
  if (float_control() == control) return;
  const std::uint64_t fpcr = control;
  asm volatile("msr fpcr, %0" ::"r"(fpcr) : "memory");
}

}  // namespace plait
