#include "core/json.hpp"

#include <catch2/catch.hpp>

using namespace plait;

TEST_CASE("a string in quotes is JSON, whatever it holds") {
  CHECK(json::quoted("") == "\"\"");
  CHECK(json::quoted("a \"b\" \\ \n\x1f") == "\"a \\\"b\\\" \\\\ \\u000a\\u001f\"");
  CHECK(json::quoted("\xC3\xA9 \xF0\x9F\x98\x80") == "\"\xC3\xA9 \xF0\x9F\x98\x80\"");
  // Cut off, too long for what it says, half of a pair, beyond the last character.
  CHECK(json::quoted("\xC3") == "\"\\ufffd\"");
  CHECK(json::quoted("\xC0\xAF") == "\"\\ufffd\\ufffd\"");
  CHECK(json::quoted("\xED\xA0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");
  CHECK(json::quoted("\xF4\x90\x80\x80") == "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

TEST_CASE("members of an object stand apart") {
  std::string members;
  json::begin_member(members, "a");
  members += '1';
  json::begin_member(members, "b\t");
  CHECK(members == "\"a\":1,\"b\\u0009\":");
}
