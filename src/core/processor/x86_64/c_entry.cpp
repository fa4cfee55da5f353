#include "../c_entry.hpp"

#include <cstddef>

asm(R"(
  .pushsection .rodata
  .globl plait_entry_begin, plait_entry_end
  .hidden plait_entry_begin, plait_entry_end
plait_entry_begin:
  endbr64
  pushq %rbp
  movq %rsp, %rbp
  subq $128, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movsd %xmm0, 48(%rsp)
  movsd %xmm1, 56(%rsp)
  movsd %xmm2, 64(%rsp)
  movsd %xmm3, 72(%rsp)
  movsd %xmm4, 80(%rsp)
  movsd %xmm5, 88(%rsp)
  movsd %xmm6, 96(%rsp)
  movsd %xmm7, 104(%rsp)
  movq %rsp, %rsi
  movabsq $0x1111111111111111, %rdi
  movabsq $0x2222222222222222, %rax
  call *%rax
  movq %rax, %xmm0
  leave
  ret
plait_entry_end:
  .popsection
)");
extern "C" const char plait_entry_begin[], plait_entry_end[];

namespace plait {

std::string_view c_entry() {
  return {plait_entry_begin, static_cast<std::size_t>(plait_entry_end - plait_entry_begin)};
}

}  // namespace plait
