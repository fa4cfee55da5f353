#include "rules.hpp"

namespace plait::fusion {

Rules all_rules() {
  static const Rule* const rules[] = {
      &call_libraries(),   &keep_held(),          &cut_reductions(), &multiply_in_regions(),
      &attend_in_blocks(), &read_reshaped(),      &read_padding(),   &keep_what_writes_read(),
      &scan_in_regions(),  &scatter_in_regions(), &keep_carried()};
  return rules;
}

}  // namespace plait::fusion
