// Hash tables in a heap, ordered as Python's dict: what compiled programs call. An entry keeps its
// number until it is removed, or the table cleared, so that programs keep values in arrays of their
// own, by number. A table begins with number 0 again once it is empty.
#pragma once
#include <cstdint>

namespace plait::heap {

// Of keys of 1 to 4 words, which are equal where their bits are. 0 where memory is short.
std::int64_t table_new(std::int64_t words);
// Says a word of the key that the functions without a word take.
std::int64_t table_key(std::int64_t table, std::int64_t position, std::int64_t word);
std::int64_t table_find(std::int64_t table);    // the entry's number, or -1
std::int64_t table_insert(std::int64_t table);  // of the entry there is, or of a new one; -1 where
                                                // memory is short
std::int64_t table_remove(std::int64_t table);  // the number that it had, or -1
// The same of tables of one word.
std::int64_t table_find1(std::int64_t table, std::int64_t word);
std::int64_t table_insert1(std::int64_t table, std::int64_t word);
std::int64_t table_remove1(std::int64_t table, std::int64_t word);
std::int64_t table_size(std::int64_t table);
// In order: the numbers below it, but those that are not alive.
std::int64_t table_entries(std::int64_t table);
std::int64_t table_alive(std::int64_t table, std::int64_t entry);  // 0 or 1
std::int64_t table_word(std::int64_t table, std::int64_t entry, std::int64_t position);
std::int64_t table_clear(std::int64_t table);

}  // namespace plait::heap
