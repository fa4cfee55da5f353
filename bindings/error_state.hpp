// NumPy's state of floating-point errors (numpy.errstate), which is the recorder's, too.
#pragma once

namespace plait::py {

// What this thread records from now on has the state that NumPy has in the context at hand. Needs
// the GIL. Every call from Python begins with it: where nothing changed, it costs a look at a
// context variable.
void take_error_state();

}  // namespace plait::py
