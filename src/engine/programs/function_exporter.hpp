// From a function to a program. A plan's numbers (extents, strides, offsets) are those of the
// arrays that it was made for. For extents that are to differ from call to call, the function is
// recorded at several of them: where the graphs are alike, they share a plan, and each number is a
// polynomial of the extents, found by differences and checked at others. So nothing is said about
// extents that was not seen.
#pragma once
#include <functional>
#include <map>
#include <set>

#include "exporter.hpp"

namespace plait::engine {

// Processors by their names, and "host"; none: the last two that there are. Throws ValueError.
std::vector<CpuTier> tiers_named(const std::vector<std::string>& names);

class FunctionExporter {
 public:
  // The shapes are the example's; no extent is dynamic yet.
  FunctionExporter(std::vector<ProgramArgument> arguments, std::vector<CpuTier> tiers);

  // An extent that may differ from call to call; equal names are one extent, and an empty one
  // stands for the argument's name with the axis. Throws AxisError, and ValueError where extents of
  // one name differ or have no elements.
  void name_extent(std::size_t argument, std::int64_t axis, std::string name);
  // The same of the first argument, and all others that are equal to it.
  void name_extents(std::int64_t axis);

  // Calls the function with these arrays, watched, and gives the call when it has ended. What it
  // throws that is a std::exception is a function that takes no arrays of such extents.
  using Record = std::function<std::shared_ptr<WatchedCall>(const std::vector<tracer::Array>&)>;
  using Progress = std::function<void(const std::string&)>;
  // Throws Refused, and what `record` does with the extents of the example.
  void plan(const Record& record, const Progress& progress);

  // The program's file. results: JSON, how its results stand in what the function returns.
  std::string file(const std::string& function, const std::string& version,
                   const std::string& results);

 private:
  using Call = std::shared_ptr<WatchedCall>;
  struct Planned {
    std::shared_ptr<fusion::Plan> plan;
    Call of;
    bool holds(const WatchedCall& c) const;
  };
  using Interval = Variant::Bound;
  using Box = std::vector<Interval>;

  Dims shape_of(std::int32_t argument, const Extents& extents) const;
  const Call& record(const Extents& extents);
  Planned planned(const Extents& extents);
  bool alike(const Planned& p, const Extents& extents);
  std::vector<Interval> intervals(std::size_t extent);
  void add(const Box& box, bool needed);
  void add_variant(const Box& box, const Extents& at, const Planned& p);
  std::int32_t constant(std::string_view bytes);

  ProgramData data_;
  std::vector<CpuTier> tiers_;
  Extents example_;  // of each extent that is dynamic
  std::set<std::string> operations_;
  const Record* function_ = nullptr;
  std::map<Extents, Call> recorded_;
};

}  // namespace plait::engine
