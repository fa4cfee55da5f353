// The public C++ device interface, on the doubles of driver and NVRTC.
#include <catch2/catch.hpp>
#include <vector>

#include "fake.hpp"
#include "plait/device.hpp"
#include "plait/math.hpp"
#include "plait/plait.hpp"

using plait::test::fake;

namespace {
plait::device gpu() {
  fake();
  return plait::cuda(0);
}
std::vector<double> host(const plait::array<double>& a) {
  const plait::array<double> h = plait::to_device(a, plait::cpu()).copy();
  return {h.begin(), h.end()};
}
}  // namespace

TEST_CASE("arrays are created where the scope says, and computed where they are") {
  const plait::device d = gpu();
  CHECK(d.name() == "cuda:0");
  const plait::device_scope scope(d);
  const plait::array<double> a{1.0, 2.0, 3.0};
  const plait::array<double> b = a * 2.0 + plait::ones<double>({3});
  CHECK(plait::device_of(b) == d);
  CHECK(host(b) == std::vector<double>{3, 5, 7});
  CHECK(b(1) == 5);
  CHECK(plait::device_of(plait::random::rand<double>({4})) == d);
}

TEST_CASE("devices do not mix, and the host does not write to one") {
  const plait::array<double> a{1.0, 2.0};
  plait::array<double> x = plait::to_device(a, gpu());
  REQUIRE_THROWS_AS(a + x, plait::DeviceError);
  REQUIRE_THROWS_AS(x.data(), plait::DeviceError);
  CHECK(*static_cast<const plait::array<double>&>(x).data() == 1);
}

TEST_CASE("memory of the application is adopted and lent without copies", "[double]") {
  const plait::device d = gpu();
  // The application's memory: here, of another array.
  const plait::array<double> theirs = plait::to_device(plait::array<double>{1.0, 2.0, 3.0, 4.0}, d);
  int stream = 0, released = 0;
  double* raw = plait::lend(theirs, &stream);
  const int waits = fake().calls("cuStreamWaitEvent");
  {
    plait::array<double> a = plait::adapt(raw, {2, 2}, d, &stream, [&] { ++released; });
    CHECK(fake().calls("cuStreamWaitEvent") > waits);
    CHECK(plait::lend(a, &stream) == raw);
    CHECK(host(a + 1.0) == std::vector<double>{2, 3, 4, 5});
    a += 10.0;  // reaches the application's memory
    double seen[4];
    fake().read(seen, reinterpret_cast<unsigned long long>(raw), sizeof seen);
    CHECK(seen[3] == 14);
    const double written = 7;
    fake().write(reinterpret_cast<unsigned long long>(raw), &written, sizeof written);
    d.wait_for(&stream);
    CHECK(host(a * 1.0)[0] == 7);
    CHECK(released == 0);
  }
  CHECK(released == 1);
}
