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
