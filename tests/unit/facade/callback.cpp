#include "plait/detail/callback.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <string>

using plait::detail::Callback;

namespace {
int calls = 0;
void count() { ++calls; }
}  // namespace

TEST_CASE("a callback owns a copy of what it calls") {
  calls = 0;
  const Callback<> plain = count;
  Callback<> stateful = [text = std::string("abc")]() mutable {
    text += 'd';
    calls += static_cast<int>(text.size());
  };
  const Callback<> copy = stateful;
  plain();
  stateful();
  stateful();
  CHECK(calls == 1 + 4 + 5);
  copy();  // of before
  CHECK(calls == 14);
  const Callback<> moved = std::move(stateful);
  CHECK_FALSE(static_cast<bool>(stateful));
  moved();
  CHECK(calls == 20);
  std::string text;
  const Callback<const std::string&> taker = [&](const std::string& s) { text = s; };
  taker("taken");
  CHECK(text == "taken");
}

TEST_CASE("a callback of nothing is empty") {
  CHECK_FALSE(static_cast<bool>(Callback<>(nullptr)));
  CHECK_FALSE(static_cast<bool>(Callback<>(std::function<void()>())));
  CHECK_FALSE(static_cast<bool>(Callback<>(static_cast<void (*)()>(nullptr))));
}
