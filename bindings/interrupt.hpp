#pragma once

namespace plait::py {

void install_interrupt_hook();

}  // namespace plait::py
