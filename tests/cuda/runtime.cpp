// The device runtime against the driver double: memory, copies, and what fails.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/device.hpp"
#include "engine/cuda/pool.hpp"
#include "engine/cuda/transfer.hpp"
#include "fake.hpp"
#include "plait/error.hpp"

using namespace plait;
using namespace plait::gpu;

namespace {

// What is not there is said first; then the double takes the driver's place for good.
const test::Fake& fake() {
  static const test::Fake& f = []() -> const test::Fake& {
    unsetenv("PLAIT_FAKE_ARCHITECTURE");
    setenv("PLAIT_CUDA_LIBRARY", "/nowhere/libcuda.so", 1);
    REQUIRE_THROWS_WITH(
        driver(), Catch::Contains("no CUDA driver") && Catch::Contains("/nowhere/libcuda.so"));
    setenv("PLAIT_CUDA_LIBRARY", PLAIT_FAKE_NVRTC, 1);  // some library that is no driver
    REQUIRE_THROWS_WITH(driver(), Catch::Contains("has no cuInit") && Catch::Contains("CUDA 12.0"));
    return test::fake();
  }();
  return f;
}

}  // namespace

TEST_CASE("A device that is not there is named") {
  fake();
  REQUIRE_THROWS_WITH(Context(7), Catch::Contains("cuda:7") && Catch::Contains("1 device"));
  REQUIRE(Context(0).properties().compute_capability == 90);
}

TEST_CASE("Freed blocks serve again, and go when the device is full") {
  fake();
  static Context& c =
      *new Context(0);  // with its pool alive as long as the process, as the engine's
  static Pool& pool = *new Pool(c, 1);
  const std::byte* first = pool.allocate(1000)->data;
  REQUIRE(pool.allocate(900)->data == first);
  REQUIRE(pool.stats().reuses == 1);
  const Ref<Buffer> kept = pool.allocate(1000);
  pool.allocate(1 << 22);
  fake().fail("cuMemAlloc", 0, kOutOfMemory);
  REQUIRE(pool.allocate(100000)->bytes == 100000);  // the second try, after the pool was emptied
  REQUIRE(fake().calls("cuMemFree") > 0);
  fake().fail("cuMemAlloc", 0, kOutOfMemory);
  fake().fail_again("cuMemAlloc");
  REQUIRE_THROWS_AS(pool.allocate(1 << 23), std::bad_alloc);
  REQUIRE(kept->data == first);
  REQUIRE(pool.allocate(1 << 23)->bytes == 1 << 23);
}

TEST_CASE("Copies arrive, and are counted") {
  fake();
  static Context& c = *new Context(0);
  static Pool& pool = *new Pool(c, 1);
  static Transfer& t = *new Transfer(c);
  std::vector<int> in(5 << 20), out(in.size());
  std::iota(in.begin(), in.end(), 0);
  const Ref<Buffer> b = pool.allocate(in.size() * sizeof(int));
  const TransferStats before = transfer_stats();
  const auto at = reinterpret_cast<Address>(b->data);
  t.upload(at, in.data(), b->bytes, "test", pool.last_use(*b));
  t.download(out.data(), at, b->bytes, "test");
  REQUIRE(in == out);
  REQUIRE(transfer_stats().to_device == before.to_device + 1);
  REQUIRE(transfer_stats().bytes_to_host == before.bytes_to_host + b->bytes);
}

TEST_CASE("Memory that was lent serves again after what other streams hold") {
  fake();
  static Context& c = *new Context(0);
  static Pool& pool = *new Pool(c, 1);
  static Transfer& t = *new Transfer(c);
  struct Reader {
    Address at;
    int seen;
  };
  int theirs = 0;  // whose address is a stream
  for (void* stream : {static_cast<void*>(nullptr), static_cast<void*>(kLegacyStream),
                       static_cast<void*>(&theirs)}) {
    const auto to = stream == &theirs ? Pool::Lent::Anywhere : Pool::Lent::ToLegacy;
    const int first = 1, second = 2;
    Ref<Buffer> b = pool.allocate(sizeof first);
    t.upload(reinterpret_cast<Address>(b->data), &first, sizeof first, "test", {});
    pool.note_lent(*b, to);
    c.let_wait(static_cast<StreamHandle>(stream));
    static Reader reader;
    reader = {reinterpret_cast<Address>(b->data), 0};
    fake().submit(
        [](void* r) {
          auto* own = static_cast<Reader*>(r);
          std::memcpy(&own->seen, fake().memory(own->at, sizeof own->seen), sizeof own->seen);
        },
        &reader, stream);
    const int waits = fake().calls("cuCtxSynchronize");
    b.reset();
    CHECK(fake().calls("cuCtxSynchronize") == waits + (to == Pool::Lent::Anywhere));
    b = pool.allocate(sizeof second);
    REQUIRE(reinterpret_cast<Address>(b->data) == reader.at);
    t.upload(reader.at, &second, sizeof second, "test", {});
    c.synchronise();
    CHECK(reader.seen == 1);
    b.reset();  // lent no more
    CHECK(fake().calls("cuCtxSynchronize") == waits + (to == Pool::Lent::Anywhere));
  }
}

TEST_CASE("Adopted memory goes back when the device has done what used it") {
  fake();
  static Context& c = *new Context(0);
  static Pool& pool = *new Pool(c, 1);
  static Transfer& t = *new Transfer(c);
  static int released;
  const auto adopt = [&](const Ref<Buffer>& theirs) {
    released = 0;
    return pool.adopt(
        reinterpret_cast<Address>(theirs->data), theirs->bytes,
        [](void* n) { ++*static_cast<int*>(n); }, &released);
  };
  const Ref<Buffer> theirs = pool.allocate(64);
  const int value = 3;
  const auto use = [&](const Ref<Buffer>& b) {
    t.upload(reinterpret_cast<Address>(b->data), &value, sizeof value, "test", {});
  };
  c.synchronise();
  adopt(theirs).reset();
  CHECK(released == 1);  // nothing is under way

  Ref<Buffer> b = adopt(theirs);
  use(b);
  b.reset();
  pool.allocate(64);
  CHECK(released == 0);
  c.synchronise();
  pool.allocate(64);
  CHECK(released == 1);

  // Without an event it waits.
  b = adopt(theirs);
  use(b);
  fake().fail("cuEventCreate", 0, kOutOfMemory);
  const int waits = fake().calls("cuStreamSynchronize");
  b.reset();
  CHECK(released == 1);
  CHECK(fake().calls("cuStreamSynchronize") == waits + 1);
}

TEST_CASE("Memory goes to the driver after the last work that uses it") {
  fake();
  static Context& c = *new Context(0);
  static Pool& pool = *new Pool(c, 1);
  static Transfer& t = *new Transfer(c);
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{4} << 20}) {
    const std::vector<std::byte> zeros(bytes);
    Ref<Buffer> b = pool.allocate(bytes);
    t.upload(reinterpret_cast<Address>(b->data), zeros.data(), bytes, "test", pool.last_use(*b));
    b.reset();
    const int freed = fake().calls("cuMemFree");
    pool.trim();
    CHECK(fake().calls("cuMemFree") > freed);
    c.synchronise();  // work on memory that is gone would show here
  }
}

TEST_CASE("A lost device names the region, and stays lost") {
  fake();
  Context c(0);
  c.note_launch("softmax", 0);
  fake().fail("cuStreamSynchronize", 0, 700);
  REQUIRE_THROWS_WITH(c.synchronise(),
                      Catch::Contains("ILLEGAL_ADDRESS") && Catch::Contains("softmax"));
  REQUIRE_THROWS_WITH(c.synchronise(), Catch::Contains("was lost"));
}

TEST_CASE("A forked child is told, and does not hang") {
  fake();
  Context c(0);
  const pid_t child = fork();
  if (child == 0) {
    try {
      c.synchronise();
    } catch (const DeviceError& e) {
      _exit(std::string(e.what()).find("forked") != std::string::npos ? 7 : 1);
    }
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WEXITSTATUS(status) == 7);
}
