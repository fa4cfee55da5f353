// A directory of checked, private, bounded entries. Anything wrong with the directory or an entry
// is a miss, never an error: a damaged or foreign entry is ignored and written anew, an unwritable
// directory is done without. PLAIT_LOG=cache says what happened.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plait::cache {

// The bytes stored under `key`; the whole key is kept in the entry and compared.
std::optional<std::string> load(std::string_view key);
std::uint64_t hits();  // of load(), so far
void store(std::string_view key, std::string_view bytes);
// A 64-bit hash of the bytes: file names and checksums.
std::uint64_t hash(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace plait::cache
