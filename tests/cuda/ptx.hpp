// PTX, as the real NVRTC makes it of a generated program, run on the CPU an instruction at a time:
// what the emulation (emulation.hpp) takes for granted - what NVVM makes of the source, libdevice's
// functions, saturating conversions, shifts beyond the width, flushed subnormals of approximations
// - happens here as the PTX ISA has it. Of the ISA there is what NVRTC uses for these programs;
// anything else stops the parser.
//
// The threads of a block run one after the other, each to the next barrier or shuffle. Faults are
// those of the emulation, and shared memory is watched for races.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulated_launch.hpp"

namespace ptx {

enum class Op : std::uint8_t {
  Abs,
  Activemask,
  Add,
  Addc,
  And,
  Atom,
  Bar,
  BarWarp,
  Bfe,
  Bfi,
  Bra,
  Brev,
  Brx,
  Call,
  Clz,
  Cnot,
  Copysign,
  Cos,
  CpAsync,
  Cvt,
  Cvta,
  CvtaTo,
  Div,
  Ex2,
  Exit,
  Fma,
  Ld,
  Ldmatrix,
  Lg2,
  Lop3,
  Mad,
  Madc,
  Max,
  Min,
  Mma,
  Mov,
  Mul,
  Neg,
  Nop,
  Not,
  Or,
  Popc,
  Prmt,
  Red,
  Rcp,
  Rem,
  Ret,
  Rsqrt,
  Sad,
  Selp,
  Set,
  Setp,
  Shf,
  Shfl,
  Shl,
  Shr,
  Sin,
  Slct,
  Sqrt,
  St,
  Sub,
  Subc,
  Tanh,
  Testp,
  Trap,
  Xor
};
enum class Type : std::uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F32,
  F64
};
enum class Space : std::uint8_t { Generic, Global, Shared, Local, Const, Param };
enum class Round : std::uint8_t { Nearest, Zero, Down, Up };
enum class Compare : std::uint8_t {
  None,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Lo,
  Ls,
  Hi,
  Hs,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};

constexpr int bits(Type t) {
  constexpr std::uint8_t kBits[] = {64, 1, 8, 16, 32, 64, 8, 16, 32, 64, 8, 16, 32, 64, 16, 32, 64};
  return kBits[static_cast<int>(t)];
}
inline bool is_signed(Type t) { return t >= Type::S8 && t <= Type::S64; }
inline bool is_float(Type t) { return t >= Type::F16; }

// Every operand is a slot of the frame: registers, then immediate values, special registers and
// addresses, which stand there before the first instruction.
using Slot = std::int32_t;
constexpr Slot kNone = -1;
class Slots {
 public:
  void push_back(Slot s) { slots_.at(size_++) = s; }
  std::size_t size() const { return size_; }
  Slot operator[](std::size_t n) const { return slots_[n]; }

 private:
  std::array<Slot, 10> slots_{};  // what mma reads
  std::size_t size_ = 0;
};

struct Instruction {
  Op op;
  Type type = Type::None, from = Type::None;  // `from`: of a conversion
  Space space = Space::Generic;
  Round round = Round::Nearest;
  Compare compare = Compare::None;
  char combine = 0;  // setp: '&', '|', '^' with a third operand
  char mode = 0;     // mul, mad: 'l', 'h', 'w'; shfl: 'i', 'u', 'd', 'b'; shf: 'l', 'r'; testp;
                     // ldmatrix: 't' of the transpose
  bool to_integral = false;  // cvt.rni and its like
  bool flush = false, saturate = false, approximate = false, nan = false, wrap = false;
  bool carry_in = false, carry_out = false;
  bool negate_guard = false, negate_last = false;
  Slot guard = kNone;
  Slots to, in;              // more than one where a vector stands
  std::int64_t offset = 0;   // of an address
  std::int32_t target = -1;  // instruction of a branch, function of a call
  std::vector<std::int32_t>
      targets;  // brx: instructions; call: where results, then arguments are in the frame
  int line = 0;
};

// A slot that holds something else in every thread, block or frame.
enum class Special : std::uint8_t {
  ThreadX,
  BlockX,
  BlockSizeX,
  GridSizeX,
  Lane,
  One,
  Zero,
  InFrame,
  Arguments
};
struct Preset {
  Slot slot;
  Special what;
  std::int64_t offset;  // in the frame
};

struct Function {
  std::string name;
  std::vector<Instruction> code;
  std::vector<std::uint8_t> widths;    // bits of each slot
  std::vector<std::uint64_t> initial;  // what stands in each slot at first
  std::vector<Preset> presets;
  std::size_t frame_bytes = 0;  // local memory and parameters
  struct Parameter {
    std::size_t at, bytes;
  };
  std::vector<Parameter> results, parameters;
  std::size_t argument_bytes = 0;  // of a kernel
};

struct Module {
  std::vector<Function> functions;
  std::vector<std::unique_ptr<std::uint64_t[]>> memory;  // of variables outside the functions
  std::vector<emulated::Range> variables;
};

// Throws std::runtime_error with the line that it cannot read.
std::shared_ptr<const Module> parse(std::string_view text);
// The kernel of this name, or null.
const Function* find(const Module& m, std::string_view name);
// To the end of the last block, or what went wrong.
const char* run(const Module& m, const Function& kernel, const void* arguments,
                const emulated::Launch& l);

}  // namespace ptx
