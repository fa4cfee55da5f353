// Files in NumPy's format, byte for byte what numpy.save writes, and those that it would not read.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "plait/plait.hpp"

using plait::array;

namespace {

class TemporaryFile {
 public:
  TemporaryFile() {
    char name[] = "/tmp/plait_npy_XXXXXX";
    const int fd = mkstemp(name);
    REQUIRE(fd >= 0);
    std::fclose(fdopen(fd, "wb"));
    path = name;
  }
  explicit TemporaryFile(const std::string& text) : TemporaryFile() {
    std::ofstream(path, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
  std::string text() const {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }
  std::string path;
};

std::string file(std::string header, const std::string& elements, char version = 1) {
  const std::size_t before = version == 1 ? 10 : 12;
  header.resize((before + header.size() + 64) / 64 * 64 - before - 1, ' ');
  header += '\n';
  std::string out = std::string("\x93NUMPY") + version + '\0' + static_cast<char>(header.size()) +
                    '\0' + (version == 1 ? "" : std::string(2, '\0'));
  return out + header + elements;
}

template <class T>
std::vector<T> list(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}

}  // namespace

TEST_CASE("dump_npy writes what numpy.save writes") {
  const TemporaryFile f;
  plait::dump_npy(f.path, array<std::int16_t>{{1, 2, 3}, {4, 5, 258}});
  CHECK(f.text() == file("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }",
                         std::string("\1\0\2\0\3\0\4\0\5\0\2\1", 12)));
  plait::dump_npy(f.path, array<std::int16_t>{{1, 2}, {3, 4}}.transpose());
  CHECK(f.text() == file("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2), }",
                         std::string("\1\0\2\0\3\0\4\0", 8)));
  plait::dump_npy(f.path, array<bool>{true, false});
  CHECK(f.text() ==
        file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", std::string("\1\0", 2)));
  plait::dump_npy(f.path, plait::full({}, std::uint8_t{7}));
  CHECK(f.text() == file("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", "\7"));
}

TEST_CASE("load_npy reads what dump_npy wrote, in its memory order") {
  const TemporaryFile f;
  const array<double> a = plait::arange<double>(0, 24).reshape({2, 3, 4});
  plait::dump_npy(f.path, a);
  CHECK(list(plait::load_npy<double>(f.path)) == list(a));
  CHECK(plait::load_npy<double>(f.path).shape() == a.shape());
  plait::dump_npy(f.path, a.transpose());
  CHECK(list(plait::load_npy<double>(f.path)) == list(a.transpose()));
  CHECK(plait::load_npy<double>(f.path).strides() == a.transpose().strides());
  plait::dump_npy(f.path, plait::view(a, plait::all(), plait::range(0, 3, 2)));
  CHECK(list(plait::load_npy<double>(f.path)) ==
        list(plait::view(a, plait::all(), plait::range(0, 3, 2))));
  plait::dump_npy(f.path, array<std::complex<float>>{std::complex<float>(1, 2), -4});
  CHECK(plait::load_npy<std::complex<double>>(f.path).get(1) == std::complex<double>(-4, 0));
  plait::dump_npy(f.path, plait::zeros({0, 3}));
  CHECK(plait::load_npy<double>(f.path).shape() == plait::shape_type{0, 3});
}

TEST_CASE("load_npy takes the other byte order, versions and quotes") {
  const TemporaryFile big(file("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }",
                               std::string("\1\2\0\3", 4)));
  CHECK(list(plait::load_npy<std::int16_t>(big.path)) == std::vector<std::int16_t>{258, 3});
  CHECK(list(plait::load_npy<double>(big.path)) == std::vector<double>{258, 3});
  const TemporaryFile other(
      file("{\"shape\": (1, 2), \"fortran_order\": False, \"descr\": \"|u1\"}", "\1\2", 2));
  CHECK(plait::load_npy<std::uint8_t>(other.path).shape() == plait::shape_type{1, 2});
}

TEST_CASE("load_npy says what is wrong with a file") {
  const auto refuses = [](const std::string& text) {
    const TemporaryFile f(text);
    CHECK_THROWS_AS(plait::load_npy<double>(f.path), plait::ValueError);
  };
  const std::string good = file("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", "");
  refuses("");
  refuses("PK and more");
  refuses(good.substr(0, 30));
  refuses(good);
  refuses(good + std::string(15, 'x'));
  refuses(file("{'descr': '<f8', 'shape': (2,), }", ""));
  refuses(file("{'descr': '<f8', 'fortran_order': 1, 'shape': (2,), }", ""));
  refuses(file("{'descr': '<f8', 'fortran_order': False, 'shape': 2, }", ""));
  refuses(file("{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }", ""));
  refuses(file("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,), }", ""));
  const TemporaryFile objects(file("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", ""));
  CHECK_THROWS_WITH(plait::load_npy<double>(objects.path),
                    "load_npy: '" + objects.path +
                        "' holds elements of type |O, which Plait's arrays do not have");
  const TemporaryFile records(
      file("{'descr': [('x', '<f8'), ('y', '<i4')], 'fortran_order': False, 'shape': (1,), }", ""));
  CHECK_THROWS_WITH(plait::load_npy(records.path),
                    "load_npy: '" + records.path +
                        "' holds records of several fields, which Plait's arrays do not have");
  const TemporaryFile f(good + std::string(16, '\0'));
  CHECK(list(plait::load_npy<double>(f.path)) == std::vector<double>{0, 0});
  CHECK_THROWS_WITH(plait::load_npy<float>(f.path),
                    "load_npy: '" + f.path +
                        "' holds float64, of which float32 does not keep every value: load it as "
                        "that and take astype()");
  CHECK_THROWS_AS(plait::load_npy<double>("/nowhere/a.npy"), plait::Error);
  CHECK_THROWS_AS(plait::dump_npy("/nowhere/a.npy", array<double>{1}), plait::Error);
}

TEST_CASE("arrays by name in one file") {
  const TemporaryFile f;
  const array<double> x{{1, 2}, {3, 4}};
  const array<int> y{7};
  plait::savez(f.path, {{"x", x + 1.0}, {"y", y}, {"empty", array<bool>{}}});
  CHECK(list(plait::load_npz<double>(f.path, "x")) == std::vector<double>{2, 3, 4, 5});
  CHECK(list(plait::load_npz<std::int64_t>(f.path, "y")) == std::vector<std::int64_t>{7});
  CHECK(plait::load_npz(f.path, "y").dtype() == plait::dtype::int32);
  const auto all = plait::load_npz(f.path);
  CHECK(all.size() == 3);
  CHECK(all.at("x").shape() == plait::shape_type{2, 2});
  CHECK(all.at("empty").size() == 0);
  plait::savez(f.path, x, y);
  CHECK(plait::load_npz<int>(f.path, "arr_1")(0) == 7);
  CHECK_THROWS_WITH(plait::load_npz(f.path, "z"), "load_npz: 'z' is not a file in the archive");
  CHECK_THROWS_AS(plait::savez(f.path, {{"x", x}, {"x", y}}), plait::ValueError);
  CHECK(plait::load_npz(f.path).size() == 2);
  plait::savez(f.path, plait::named_arrays{});
  CHECK(plait::load_npz(f.path).empty());
  CHECK_THROWS_AS(plait::load_npz("/nowhere/a.npz"), plait::Error);
}

TEST_CASE("files of arrays by name that are damaged") {
  const TemporaryFile f;
  plait::savez(f.path, {{"x", array<double>{1, 2, 3}}});
  const std::string whole = f.text();
  const auto text_with = [&](std::size_t at, char c) {
    std::string text = whole;
    text[at] = c;
    return text;
  };
  CHECK_THROWS_WITH(plait::load_npz(TemporaryFile("no archive").path),
                    Catch::Matchers::Contains("it has no directory"));
  const std::size_t last_element = whole.find("PK\1\2") - 1;
  CHECK_THROWS_WITH(plait::load_npz(TemporaryFile(text_with(last_element, '!')).path),
                    Catch::Matchers::Contains("the check sum of 'x'"));
  CHECK_THROWS_WITH(
      plait::load_npz(TemporaryFile(text_with(whole.find("PK\1\2") + 10, '\10')).path),
      Catch::Matchers::Contains("'x.npy' is compressed"));
  // No byte of it makes more than an error.
  for (std::size_t n = 0; n < whole.size(); ++n) {
    CHECK_THROWS_AS(plait::load_npz(TemporaryFile(whole.substr(0, n)).path), plait::Error);
    try {
      plait::load_npz(TemporaryFile(text_with(n, '\xff')).path);
    } catch (const plait::Error&) {
    }
  }
}

TEST_CASE("what numpy.savez wrote is read") {
  using namespace std::string_literals;
  std::string npy =
      file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "\0\0\0\0\0\0\xf8?"s);
  REQUIRE(npy.size() == 0x88);
  const std::string sizes = "\x88\0\0\0\0\0\0\0\x88\0\0\0\0\0\0\0"s;
  const std::string text =
      "PK\3\4-\0\0\0\0\0\0\0!\0\xb3]\2\x1f\xff\xff\xff\xff\xff\xff\xff\xff\5\0\x14\0x.npy\1\0\x10\0"s +
      sizes + npy +
      "PK\1\2-\3-\0\0\0\0\0\0\0!\0\xb3]\2\x1f\x88\0\0\0\x88\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0\x80\1"
      "\0\0\0\0x.npyPK\5\6\0\0\0\0\1\0\1\0003\0\0\0\xbf\0\0\0\0\0"s;
  REQUIRE(text.size() == 264);
  CHECK(list(plait::load_npz<double>(TemporaryFile(text).path, "x")) == std::vector<double>{1.5});
}
