// NumPy's functions that are sequences of recorded operations. Each records the operations of
// NumPy 2's own implementation in its order, so that results round alike. Errors have NumPy's
// types (as plait::Error kinds) and wording, and are thrown before anything is recorded into an
// existing array.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tracer/array.hpp"

namespace plait::numpy {

using tracer::Array;
using tracer::Operand;
using tracer::ReduceOptions;

// Python warnings that functions issue by themselves ("Mean of empty slice"). Without a hook they
// are dropped.
enum class Warning : std::uint8_t { Runtime, Deprecation };
void set_warning_hook(void (*hook)(Warning, std::string_view text));

// --- reductions (reductions.cpp, moments.cpp) ---
Array sum(const Array& a, const ReduceOptions& o = {});
Array prod(const Array& a, const ReduceOptions& o = {});
Array min(const Array& a, const ReduceOptions& o = {});
Array max(const Array& a, const ReduceOptions& o = {});
Array any(const Array& a, const ReduceOptions& o = {});
Array all(const Array& a, const ReduceOptions& o = {});
Array argmin(const Array& a, const ReduceOptions& o = {});  // no axis (flattened) or one
Array argmax(const Array& a, const ReduceOptions& o = {});
Array ptp(const Array& a, const ReduceOptions& o = {});
Array count_nonzero(const Array& a, const ReduceOptions& o = {});
Array mean(const Array& a, const ReduceOptions& o = {});
// `mean`: the mean if the caller has it, with the reduced axes kept.
Array var(const Array& a, const ReduceOptions& o = {}, double ddof = 0,
          const Array* mean = nullptr);
Array std(const Array& a, const ReduceOptions& o = {}, double ddof = 0,
          const Array* mean = nullptr);

// Without NaNs, as if they were not there; nanmin and nanmax of nothing else are NaN (nan.cpp).
Array nansum(const Array& a, const ReduceOptions& o = {});
Array nanprod(const Array& a, const ReduceOptions& o = {});
Array nanmin(const Array& a, const ReduceOptions& o = {});
Array nanmax(const Array& a, const ReduceOptions& o = {});
Array nanmean(const Array& a, const ReduceOptions& o = {});
Array nanvar(const Array& a, const ReduceOptions& o = {}, double ddof = 0);
Array nanstd(const Array& a, const ReduceOptions& o = {}, double ddof = 0);

// --- weighted means, areas, slopes (average.cpp) ---
// Weights of the array's shape or of its extents along `axes`. Looks at their sum: zero is an
// error.
Array average(const Array& a, const Array& weights, const ReduceOptions& o = {});
Array trapezoid(const Array& y, const Operand& spacing, std::int64_t axis = -1);
Array trapezoid(const Array& y, const Array& x, std::int64_t axis = -1);
// Along one axis of evenly spaced points.
Array gradient(const Array& a, double spacing, std::int64_t axis, int edge_order = 1);
// At coordinates along the axis, 1-D; evaluates those.
Array gradient(const Array& a, const Array& coordinates, std::int64_t axis, int edge_order = 1);

// --- comparison, rounding (compare.cpp) ---
struct Tolerance {
  double relative = 1e-5, absolute = 1e-8;
  bool equal_nan = false;
};
Array isclose(const Array& a, const Array& b, const Tolerance& t = {});
bool allclose(const Array& a, const Array& b, const Tolerance& t = {});  // evaluates
bool array_equal(const Array& a, const Array& b, bool equal_nan = false);
Array round(const Array& a, std::int64_t decimals = 0);
Array angle(const Array& a, bool degrees = false);
Array nan_to_num(const Array& a, double nan = 0, std::optional<double> posinf = {},
                 std::optional<double> neginf = {});

// --- linear algebra (norm.cpp, products.cpp) ---
struct NormOrder {
  enum class Kind : std::uint8_t { Default, Frobenius, Nuclear, Number } kind = Kind::Default;
  double p = 2;  // Number; infinities are orders
  NormOrder() = default;
  NormOrder(double order) : kind(Kind::Number), p(order) {}
  NormOrder(Kind k) : kind(k) {}
};
// True for matrix orders (2, -2, nuclear) that need singular values.
bool norm_needs_svd(const NormOrder& order, int ndim, const std::optional<Dims>& axes);
Array norm(const Array& x, const NormOrder& order = {}, const std::optional<Dims>& axes = {},
           bool keepdims = false);
Array dot(const Array& a, const Array& b);
Array vdot(const Array& a, const Array& b);
Array inner(const Array& a, const Array& b);
Array outer(const Array& a, const Array& b);
Array tensordot(const Array& a, const Array& b, const Dims& axes_a, const Dims& axes_b);
Array tensordot(const Array& a, const Array& b, std::int64_t axes);
Array kron(const Array& a, const Array& b);
Array vecdot(const Array& a, const Array& b, std::int64_t axis = -1);
Array cross(const Array& a, const Array& b, std::int64_t axis_a = -1, std::int64_t axis_b = -1,
            std::int64_t axis_c = -1);
Array trace(const Array& a, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1,
            std::optional<DType> dtype = {});

// --- creation (creation.cpp) ---
Array zeros(const Dims& shape, DType t = DType::Float64, char order = 'C');
Array ones(const Dims& shape, DType t = DType::Float64, char order = 'C');
struct LikeOptions {
  std::optional<DType> dtype;
  std::optional<Dims> shape;
  char order = 'K';
};
Array empty_like(const Array& a, const LikeOptions& o = {});
Array zeros_like(const Array& a, const LikeOptions& o = {});
Array ones_like(const Array& a, const LikeOptions& o = {});
Array full_like(const Array& a, const Scalar& value, const LikeOptions& o = {});
// The scalars' dtypes decide the result's: Int64 for Python integers, Float64 for floats.
Array arange(const Scalar& start, const Scalar& stop, const Scalar& step,
             std::optional<DType> dtype = {});
std::int64_t arange_length(const Scalar& start, const Scalar& stop, const Scalar& step);
// `step`, if asked for, receives the spacing (NaN where there is none).
Array linspace(double start, double stop, std::int64_t n = 50, bool endpoint = true,
               std::optional<DType> dtype = {}, double* step = nullptr);
Array eye(std::int64_t rows, std::int64_t columns, std::int64_t k = 0, DType t = DType::Float64,
          char order = 'C');
Array identity(std::int64_t n, DType t = DType::Float64);
Array tri(std::int64_t rows, std::int64_t columns, std::int64_t k = 0, DType t = DType::Float64);
Array tril(const Array& a, std::int64_t k = 0);
Array triu(const Array& a, std::int64_t k = 0);

// --- joining and splitting (joining.cpp) ---
Array concatenate(std::span<const Array> arrays, std::optional<std::int64_t> axis = 0,
                  std::optional<DType> dtype = {});
Array stack(std::span<const Array> arrays, std::int64_t axis = 0);
Array hstack(std::span<const Array> arrays);
Array vstack(std::span<const Array> arrays);
Array dstack(std::span<const Array> arrays);
Array column_stack(std::span<const Array> arrays);
Array atleast_nd(const Array& a, int ndim);  // atleast_1d, _2d, _3d: views
// Views. `split` wants equal parts.
std::vector<Array> split(const Array& a, std::int64_t sections, std::int64_t axis = 0);
std::vector<Array> array_split(const Array& a, std::int64_t sections, std::int64_t axis = 0);
std::vector<Array> split_at(const Array& a, std::span<const std::int64_t> indices,
                            std::int64_t axis = 0);

// --- rearranging (rearrange.cpp) ---
Array tile(const Array& a, const Dims& reps);
Array repeat(const Array& a, std::int64_t repeats, std::optional<std::int64_t> axis = {});
// Windows of the given extents along `axes` (none: all) as new last axes: a view.
Array sliding_window_view(const Array& a, const Dims& window, const std::optional<Dims>& axes);
Array roll(const Array& a, const Dims& shifts, const std::optional<Dims>& axes = {});
struct MeshgridOptions {
  bool xy = true;  // indexing='xy', else 'ij'
  bool sparse = false;
  bool copy = true;
};
std::vector<Array> meshgrid(std::span<const Array> arrays, const MeshgridOptions& o = {});
Array indices(const Dims& shape);
Array diag(const Array& a, std::int64_t k = 0);  // a view of a matrix, a new one of a vector
Array rot90(const Array& a, std::int64_t k = 1, std::int64_t axis1 = 0, std::int64_t axis2 = 1);
Array diff(const Array& a, std::int64_t n = 1, std::int64_t axis = -1);

// --- padding (pad.cpp) ---
// Of pad and concatenate: the arrays, one after the other along the axis, which fill `out`.
void write_side_by_side(const Array& out, std::span<const Array> arrays, int axis);
enum class Padding : std::uint8_t { Constant, Edge, Reflect, Symmetric, Wrap };
// Widths: one for all sides, a pair (before, after) for all axes, or a pair for each axis.
Array pad(const Array& a, const Dims& widths, Padding how = Padding::Constant,
          const Scalar& value = scalar_int(0));

}  // namespace plait::numpy
