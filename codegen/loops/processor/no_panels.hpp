#pragma once

namespace plait::loops::PLAIT_TIER {
namespace {

template <class A, class B>
const Product* product_of_bytes() {
  return nullptr;
}
const Product* product_of_brains() { return nullptr; }

}  // namespace
}  // namespace plait::loops::PLAIT_TIER
