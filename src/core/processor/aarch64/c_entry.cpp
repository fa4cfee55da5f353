#include "../c_entry.hpp"

namespace plait {

std::string_view c_entry() { return {}; }

}  // namespace plait
