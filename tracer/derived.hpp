// What is kept of a value's contents beside it, as how labels group or a matrix as products read
// it. Callers hold the lock.
#pragma once
#include "node.hpp"

namespace plait::tracer {

// A number that stands for the contents that the node's memory has, or will have, and for no
// others: it goes when the memory may be written to, and with the node. 0 while somebody outside
// may write to it at any time.
std::uint64_t contents_of(Node& n);
// `view` shows memory of `of`, which has not been written to.
void share_contents(Node& view, const Node& of);
// Its memory may be written to from now on.
void forget_contents(Node& n);
// To be called with each number that goes.
void on_contents_gone(void (*gone)(std::uint64_t contents));

}  // namespace plait::tracer
