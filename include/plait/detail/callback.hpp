// A function of the application that the library keeps: std::function without <functional>, which
// would be a quarter of what plait.hpp costs a translation unit.
#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>

namespace plait::detail {

template <class... A>
class Callback {
 public:
  Callback() = default;
  Callback(std::nullptr_t) {}
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, Callback> &&
                                              std::is_invocable_v<std::decay_t<F>&, A...>>>
  Callback(F&& f) {
    auto kept = static_cast<std::decay_t<F>>(std::forward<F>(f));
    // A null pointer, or an empty std::function, whose conversion is explicit; a lambda that is a
    // function pointer by conversion is never null.
    if constexpr (std::is_pointer_v<std::decay_t<F>> ||
                  (std::is_constructible_v<bool, std::decay_t<F>&> &&
                   !std::is_convertible_v<std::decay_t<F>&, bool>))
      if (!static_cast<bool>(kept)) return;
    state_ = new std::decay_t<F>(std::move(kept));
    table_ = &table<std::decay_t<F>>;
  }
  Callback(const Callback& o)
      : state_(o.table_ ? o.table_->copy(o.state_) : nullptr), table_(o.table_) {}
  Callback(Callback&& o) noexcept : state_(o.state_), table_(o.table_) {
    o.state_ = nullptr;
    o.table_ = nullptr;
  }
  Callback& operator=(Callback o) noexcept {
    std::swap(state_, o.state_);
    std::swap(table_, o.table_);
    return *this;
  }
  ~Callback() {
    if (table_) table_->destroy(state_);
  }
  explicit operator bool() const { return table_ != nullptr; }
  void operator()(A... a) const { table_->call(state_, std::forward<A>(a)...); }

 private:
  struct Table {
    void (*call)(void*, A...);
    void* (*copy)(const void*);
    void (*destroy)(void*);
  };
  template <class F>
  static constexpr Table table = {
      [](void* f, A... a) { static_cast<void>((*static_cast<F*>(f))(std::forward<A>(a)...)); },
      [](const void* f) -> void* { return new F(*static_cast<const F*>(f)); },
      [](void* f) { delete static_cast<F*>(f); }};

  void* state_ = nullptr;
  const Table* table_ = nullptr;
};

}  // namespace plait::detail
