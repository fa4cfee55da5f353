// The names of PTX, and how a line falls into words.
#pragma once
#include <map>
#include <string_view>
#include <vector>

#include "ptx.hpp"

namespace ptx {

inline const std::map<std::string_view, Op> kOps = {
    {"abs", Op::Abs},     {"activemask", Op::Activemask},
    {"add", Op::Add},     {"addc", Op::Addc},
    {"and", Op::And},     {"atom", Op::Atom},
    {"red", Op::Red},     {"bfe", Op::Bfe},
    {"bfi", Op::Bfi},     {"bra", Op::Bra},
    {"brev", Op::Brev},   {"brx", Op::Brx},
    {"call", Op::Call},   {"clz", Op::Clz},
    {"cnot", Op::Cnot},   {"copysign", Op::Copysign},
    {"cos", Op::Cos},     {"cvt", Op::Cvt},
    {"cvta", Op::Cvta},   {"div", Op::Div},
    {"ex2", Op::Ex2},     {"exit", Op::Exit},
    {"fma", Op::Fma},     {"ld", Op::Ld},
    {"mma", Op::Mma},     {"ldmatrix", Op::Ldmatrix},
    {"cp", Op::CpAsync},  {"ldu", Op::Ld},
    {"lg2", Op::Lg2},     {"lop3", Op::Lop3},
    {"mad", Op::Mad},     {"madc", Op::Madc},
    {"max", Op::Max},     {"min", Op::Min},
    {"mov", Op::Mov},     {"mul", Op::Mul},
    {"neg", Op::Neg},     {"not", Op::Not},
    {"or", Op::Or},       {"popc", Op::Popc},
    {"prmt", Op::Prmt},   {"rcp", Op::Rcp},
    {"rem", Op::Rem},     {"ret", Op::Ret},
    {"rsqrt", Op::Rsqrt}, {"sad", Op::Sad},
    {"selp", Op::Selp},   {"set", Op::Set},
    {"setp", Op::Setp},   {"shf", Op::Shf},
    {"shfl", Op::Shfl},   {"shl", Op::Shl},
    {"shr", Op::Shr},     {"sin", Op::Sin},
    {"slct", Op::Slct},   {"sqrt", Op::Sqrt},
    {"st", Op::St},       {"sub", Op::Sub},
    {"subc", Op::Subc},   {"tanh", Op::Tanh},
    {"testp", Op::Testp}, {"trap", Op::Trap},
    {"xor", Op::Xor},     {"membar", Op::Nop},
    {"fence", Op::Nop},   {"prefetch", Op::Nop},
    {"pragma", Op::Nop}};
inline const std::map<std::string_view, Type> kTypes = {
    {"pred", Type::Pred}, {"b8", Type::B8},   {"b16", Type::B16}, {"b32", Type::B32},
    {"b64", Type::B64},   {"u8", Type::U8},   {"u16", Type::U16}, {"u32", Type::U32},
    {"u64", Type::U64},   {"s8", Type::S8},   {"s16", Type::S16}, {"s32", Type::S32},
    {"s64", Type::S64},   {"f16", Type::F16}, {"f32", Type::F32}, {"f64", Type::F64}};
inline const std::map<std::string_view, Space> kSpaces = {{"global", Space::Global},
                                                          {"shared", Space::Shared},
                                                          {"local", Space::Local},
                                                          {"const", Space::Const},
                                                          {"param", Space::Param}};
inline const std::map<std::string_view, Compare> kCompares = {
    {"eq", Compare::Eq},   {"ne", Compare::Ne},   {"lt", Compare::Lt},   {"le", Compare::Le},
    {"gt", Compare::Gt},   {"ge", Compare::Ge},   {"lo", Compare::Lo},   {"ls", Compare::Ls},
    {"hi", Compare::Hi},   {"hs", Compare::Hs},   {"equ", Compare::Equ}, {"neu", Compare::Neu},
    {"ltu", Compare::Ltu}, {"leu", Compare::Leu}, {"gtu", Compare::Gtu}, {"geu", Compare::Geu},
    {"num", Compare::Num}, {"nan", Compare::Nan}};
inline const std::map<std::string_view, Round> kRounds = {
    {"rn", Round::Nearest},  {"rz", Round::Zero},  {"rm", Round::Down},  {"rp", Round::Up},
    {"rni", Round::Nearest}, {"rzi", Round::Zero}, {"rmi", Round::Down}, {"rpi", Round::Up}};
inline const std::map<std::string_view, Special> kSpecials = {
    {"%tid.x", Special::ThreadX},     {"%ctaid.x", Special::BlockX},
    {"%ntid.x", Special::BlockSizeX}, {"%nctaid.x", Special::GridSizeX},
    {"%laneid", Special::Lane},       {"%tid.y", Special::Zero},
    {"%tid.z", Special::Zero},        {"%ctaid.y", Special::Zero},
    {"%ctaid.z", Special::Zero},      {"%ntid.y", Special::One},
    {"%ntid.z", Special::One},        {"%nctaid.y", Special::One},
    {"%nctaid.z", Special::One}};

inline bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
inline std::size_t padded(std::size_t n, std::size_t alignment) {
  return (n + alignment - 1) / alignment * alignment;
}

// What a statement is made of: names and numbers, strings, and single characters.
inline std::vector<std::string_view> tokens(std::string_view s) {
  std::vector<std::string_view> all;
  for (std::size_t i = 0; i < s.size();) {
    std::size_t end = i + 1;
    if (std::isspace(static_cast<unsigned char>(s[i]))) {
      i = end;
      continue;
    }
    if (s[i] == '"')
      end = s.find('"', i + 1) + 1;
    else if (in_name(s[i]) || (s[i] == '-' && end < s.size() && std::isdigit(s[end])))
      while (end < s.size() && in_name(s[end])) ++end;
    all.push_back(s.substr(i, end - i));
    i = end;
  }
  return all;
}

inline std::vector<std::string_view> split(std::string_view s, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= s.size();) {
    const std::size_t end = std::min(s.find(at, begin), s.size());
    parts.push_back(s.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace ptx
