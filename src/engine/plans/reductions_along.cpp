#include "reductions_along.hpp"

#include <algorithm>

namespace plait::engine {

ReductionsAlong::Habit& ReductionsAlong::habit(std::uint32_t site) {
  Habit& h = habits_[site % habits_.size()];
  if (h.site != site) h = {.site = site};
  return h;
}

// False where a site comes round again, which begins the next sequence: in a loop over an array
// that nobody writes to, the site that began the last one need not come again.
bool ReductionsAlong::follows(std::uint32_t site, FullReduction what) {
  Sequence& s = sequence_;
  if (site == s.site) return false;
  if (s.known & bit(what)) return true;
  const auto end = s.others.begin() + static_cast<std::ptrdiff_t>(s.other_sites);
  if (std::find(s.others.begin(), end, site) != end || s.other_sites == s.others.size())
    return false;
  s.others[s.other_sites++] = site;
  return true;
}

ReductionsAlong::Answer ReductionsAlong::ask(const Shown& of, std::uint32_t site,
                                             FullReduction what, bool quiet) {
  Sequence& s = sequence_;
  if (s.of == of && follows(site, what)) {
    s.asked |= bit(what);
    if (!(s.known & bit(what)) || !quiet) return {};
    s.known &= ~bit(what);
    ++given;
    return {.value = s.values[static_cast<std::size_t>(what)]};
  }
  if (s.site != 0) {  // what has begun there is over
    Habit& h = habit(s.site);
    h.expected = h.last & s.asked;
    h.last = s.asked;
  }
  s = {.of = of, .site = site};
  const Habit& h = habit(site);
  return {.expected = h.off || !quiet ? 0 : h.expected};
}

void ReductionsAlong::computed(const Shown& of, Kinds expected, const Values& values) {
  ++passes;
  if (sequence_.of != of) return;  // another thread has begun one
  sequence_.known = expected;
  sequence_.values = values;
}

}  // namespace plait::engine
