// numpy.sort: each line along an axis in order. Short lines are spread over the team, a long one is
// sorted by all of it. The result may lie where the input does.
#include "lines.hpp"
#include "long_sort.hpp"
#include "sort_run.hpp"

namespace plait::engine {

void run_sort(const CallRun& r) {
  const Operand &in = r.inputs[0], &out = r.results[0];
  const int axis = static_cast<int>(r.attributes.numbers[0]);
  const DType t = in.dtype;
  // Equal integers cannot be told apart.
  const bool stable = r.attributes.numbers[1] != 0 && !is_integer(t) && t != DType::Bool;
  const std::size_t item = itemsize(t);
  const Lines from(in, axis), to(out, axis);
  const std::int64_t n = in.shape[axis];
  const auto bytes = static_cast<std::size_t>(n) * item;
  const auto gapless = [&](const Line& l) { return l.stride == static_cast<std::int64_t>(item); };

  if (n >= LongSort::kLeast) {
    LongSort s(t, n, stable);
    Ref<Buffer> line;
    for (std::int64_t i = 0; i < from.count(); ++i) {
      const Line source = from[i], target = to[i];
      std::byte* place = target.data;
      if (!gapless(target)) {
        if (!line) line = allocate(bytes);
        place = line->data;
      }
      s.sort(place, [&](std::int64_t begin, std::int64_t end, std::byte* memory) {
        gather_line({source.data + begin * source.stride, end - begin, source.stride}, item,
                    memory);
      });
      if (!gapless(target)) scatter_line(place, item, target);
    }
    return;
  }
  run_pieces(from.count(), static_cast<double>(from.count()) * LongSort::seconds(t, n), 1,
             [&](std::int64_t begin, std::int64_t end) {
               Ref<Buffer> line;
               for (std::int64_t i = begin; i < end; ++i) {
                 const Line source = from[i], target = to[i];
                 if (gapless(target)) {
                   gather_line(source, item, target.data);
                   sort_run(t, target.data, n, stable);
                   continue;
                 }
                 if (!line) line = allocate(bytes);
                 gather_line(source, item, line->data);
                 sort_run(t, line->data, n, stable);
                 scatter_line(line->data, item, target);
               }
             });
}

}  // namespace plait::engine
