#include "rules.hpp"

namespace plait::fusion {

Rules all_rules() {
  static const Rule* const rules[] = {
      &call_libraries(),      &keep_held(),          &cut_reductions(), &place_products(),
      &multiply_in_regions(), &read_reshaped(),      &read_padding(),   &keep_what_writes_read(),
      &scan_in_regions(),     &scatter_in_regions(), &keep_carried(),   &keep_products(),
      &attend_in_blocks()};
  return rules;
}

}  // namespace plait::fusion
