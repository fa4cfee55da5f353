#include "json.hpp"

#include <algorithm>
#include <cstdio>

namespace plait::json {
namespace {

// Bytes of the character of UTF-8 that begins there; 0: there is none.
std::size_t utf8_bytes(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char c = byte(0);
  const std::size_t n = c < 0x80   ? 1
                        : c < 0xC2 ? 0
                        : c < 0xE0 ? 2
                        : c < 0xF0 ? 3
                        : c < 0xF5 ? 4
                                   : 0;
  if (n > s.size()) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (n > 2) {  // too long for what it says, a half of a pair, beyond the last
    const unsigned char d = byte(1);
    if ((c == 0xE0 && d < 0xA0) || (c == 0xED && d > 0x9F) || (c == 0xF0 && d < 0x90) ||
        (c == 0xF4 && d > 0x8F))
      return 0;
  }
  return n;
}

}  // namespace

std::string quoted(std::string_view s) {
  std::string out = "\"";
  while (!s.empty()) {
    const std::size_t n = utf8_bytes(s);
    if (n == 0) {
      out += "\\ufffd";
    } else if (n == 1 && (s[0] == '"' || s[0] == '\\')) {
      (out += '\\') += s[0];
    } else if (n == 1 && static_cast<unsigned char>(s[0]) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", s[0]);
      out += code;
    } else {
      out += s.substr(0, n);
    }
    s.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return out += '"';
}

void begin_member(std::string& members, std::string_view name) {
  if (!members.empty()) members += ',';
  members += quoted(name) + ':';
}

}  // namespace plait::json
