// Every setting of Plait's, in one table: the variable of the environment, the name in
// plait.config, what it may be, and its documentation. docs/configuration.md is held against it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "config.hpp"

namespace plait {

// The first: its default follows from something that is not known here.
using SettingValue = std::variant<std::monostate, bool, std::int64_t, std::string>;

// What a setting may be.
struct Allowed {
  std::string text;  // with words in backquotes
  // False: the text is not allowed, and nothing has changed.
  bool (*parse)(std::string_view text, Config& into);
  SettingValue (*value)(const Config&);
};

struct Setting {
  const char* variable;
  const char* name;  // in plait.config; nullptr: read by who opens that file
  bool changeable;   // while the program runs
  Allowed allowed;
  const char* otherwise;  // the default
  const char* what;
};
std::span<const Setting> settings();

// What the environment says; what is not allowed is named on standard error and left out.
void read_environment(Config& c);
// Variables that look like settings and are none are named on standard error.
void name_unknown_variables();

// Topics of the log, separated by commas. False: one is not known.
bool parse_topics(std::string_view list, unsigned& mask);
std::string topics_text(unsigned mask);

}  // namespace plait
