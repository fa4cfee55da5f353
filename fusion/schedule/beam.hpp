// Which candidate becomes the plan: the greedy one, unless offers stay open. Then others are
// followed one after the other, each with one of these offers the other way, and whole costs
// decide.
#pragma once
#include <memory>

#include "legalize.hpp"

namespace plait::fusion {

struct Chosen {
  std::unique_ptr<Search> search;
  std::vector<Step> steps;
  std::vector<Contender> contenders;  // that were compared, if there were several
};
Chosen choose(const Problem& p, Rules rules, Legalizer& legalizer);

}  // namespace plait::fusion
