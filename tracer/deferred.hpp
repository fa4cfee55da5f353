// Memory that others may write to is read at each operation. While code runs of which it is known
// that nobody else writes, operations over it wait and join their regions, as those over our own.
#pragma once
#include <utility>

namespace plait::tracer {

// Whether what this thread records over such memory waits, until other code gets memory of ours or
// this is called again; what has waited is evaluated then. Gives what was said before.
bool let_reads_wait(bool wait);

}  // namespace plait::tracer
