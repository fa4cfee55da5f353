// What a region reads and writes of mapped files, which may be larger than memory: the next pages
// are asked for in time, and those behind leave the process, so that no more of a file than a few
// pieces of the loop is in it. They stay in the system's cache as long as that has place.
#pragma once
#include <vector>

#include "executor.hpp"

namespace plait::engine {

class FilePages {
 public:
  FilePages(const Region& r, const Bindings& b, std::int64_t bytes);  // that the region moves

  explicit operator bool() const { return !files_.empty(); }
  // Iterations [begin, end) of the grid begin, and are done. Any thread.
  void begins(std::int64_t begin, std::int64_t end) const;
  void done(std::int64_t begin, std::int64_t end) const;
  // So is the region.
  void ended() const;

 private:
  struct File {
    std::byte* memory;
    std::size_t bytes;
    bool in_step;  // the loop passes over all of it in the order of its addresses
  };
  struct Part {
    std::byte* memory;
    std::size_t bytes;
  };
  Part part(const File& f, std::int64_t begin, std::int64_t end) const;

  std::int64_t extent_;
  std::vector<File> files_;
};

}  // namespace plait::engine
