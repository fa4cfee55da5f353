#include "einsum.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "record.hpp"
#include "tracer/contraction.hpp"
#include "tracer/layout.hpp"

namespace plait::numpy {
namespace {

using Labels = std::vector<int>;  // characters; axes of the ellipsis count down from -1, last first

bool has(const Labels& labels, int l) {
  return std::find(labels.begin(), labels.end(), l) != labels.end();
}
int place(const Labels& labels, int l) {
  return static_cast<int>(std::find(labels.begin(), labels.end(), l) - labels.begin());
}

// One term, with its ellipsis as `hidden` axes. Nothing for what is no term.
std::optional<Labels> term(std::string_view text, int hidden) {
  Labels labels;
  bool ellipsis = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (std::isalpha(c)) {
      labels.push_back(c);
    } else if (!ellipsis && text.substr(i, 3) == "...") {
      ellipsis = true;
      i += 2;
      for (int axis = hidden; axis > 0; --axis) labels.push_back(-axis);
    } else {
      return std::nullopt;
    }
  }
  return labels;
}

struct Parsed {
  std::vector<Labels> inputs;
  Labels output;
};

std::optional<Parsed> parse(std::string_view given, std::span<const Array> operands) {
  std::string text;
  for (const char c : given)
    if (c != ' ') text += c;
  const std::size_t arrow = text.find("->");
  const std::string inputs = text.substr(0, arrow);
  Parsed p;
  int most = 0;
  for (std::size_t at = 0, i = 0; at <= inputs.size(); ++i) {
    const std::size_t end = std::min(inputs.find(',', at), inputs.size());
    const std::string_view one = std::string_view(inputs).substr(at, end - at);
    if (i >= operands.size()) return std::nullopt;
    const bool ellipsis = one.find('.') != std::string_view::npos;
    const int named = static_cast<int>(one.size()) - (ellipsis ? 3 : 0);
    const int hidden = operands[i].ndim() - named;
    if (hidden < 0 || (hidden > 0 && !ellipsis)) return std::nullopt;
    auto labels = term(one, hidden);
    if (!labels) return std::nullopt;
    most = std::max(most, hidden);
    p.inputs.push_back(std::move(*labels));
    at = end + 1;
  }
  if (p.inputs.size() != operands.size()) return std::nullopt;
  if (arrow != std::string::npos) {
    const std::string_view out = std::string_view(text).substr(arrow + 2);
    if (most > 0 && out.find('.') == std::string_view::npos) return std::nullopt;
    auto labels = term(out, most);
    if (!labels) return std::nullopt;
    p.output = std::move(*labels);
    for (std::size_t i = 0; i < p.output.size(); ++i) {
      if (place(p.output, p.output[i]) != static_cast<int>(i)) return std::nullopt;
      if (std::none_of(p.inputs.begin(), p.inputs.end(),
                       [&](const Labels& in) { return has(in, p.output[i]); }))
        return std::nullopt;
    }
    return p;
  }
  std::map<int, int> count;
  for (const Labels& in : p.inputs)
    for (const int l : in) ++count[l];
  for (const auto& [l, n] : count)
    if (l < 0 || n == 1) p.output.push_back(l);
  return p;
}

// An operand whose labels are distinct: diagonals are taken.
struct Term {
  Array a;
  Labels labels;

  std::int64_t extent(int l) const { return has(labels, l) ? a.shape[place(labels, l)] : 1; }
  std::int64_t stride(int l) const { return extent(l) == 1 ? 0 : a.strides[place(labels, l)]; }
  void drop(int axis) {
    a.shape.erase(axis);
    a.strides.erase(axis);
    labels.erase(labels.begin() + axis);
  }
};

std::optional<Term> diagonal_of(const Array& a, const Labels& labels) {
  Term t{a, labels};
  for (int i = 0; i < static_cast<int>(t.labels.size()); ++i) {
    const int first = place(t.labels, t.labels[static_cast<std::size_t>(i)]);
    if (first == i) continue;
    if (t.a.shape[first] != t.a.shape[i]) return std::nullopt;
    t.a.strides[first] += t.a.strides[i];
    t.drop(i--);
  }
  return t;
}

// The operand with its axes in this order; labels that it lacks are axes of extent 1.
Array in_order(const Term& t, const Labels& labels) {
  Dims own, missing;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (has(t.labels, labels[i]))
      own.push_back(place(t.labels, labels[i]));
    else
      missing.push_back(static_cast<std::int64_t>(i));
  }
  const Array turned =
      own.empty()
          ? t.a
          : tracer::transpose(t.a, std::span(own.data(), static_cast<std::size_t>(own.size())));
  return missing.empty() ? turned : tracer::expand_dims(turned, missing);
}

// Sums over the labels that are not kept.
void sum_own(Term& t, const Labels& kept, std::optional<DType> in) {
  ReduceOptions o;
  Dims axes;
  for (int i = 0; i < static_cast<int>(t.labels.size()); ++i)
    if (!has(kept, t.labels[static_cast<std::size_t>(i)])) axes.push_back(i);
  if (axes.empty()) return;
  if (in) t.a = as(t.a, *in);
  o.axes = axes;
  if (t.a.dtype == DType::Bool) {
    t.a = any(t.a, o);
  } else {
    o.dtype = t.a.dtype;
    t.a = sum(t.a, o);
  }
  for (int i = axes.size() - 1; i >= 0; --i)
    t.labels.erase(t.labels.begin() + static_cast<std::ptrdiff_t>(axes[i]));
}

// Repeats `t` along the labels that only `other` has and the result does not.
void repeat_along_own(Term& t, const Term& other, const Labels& output) {
  for (const int l : other.labels) {
    if (has(t.labels, l) || has(output, l)) continue;
    t.a.shape.push_back(other.extent(l));
    t.a.strides.push_back(0);
    t.labels.push_back(l);
  }
}

// All axes, fastest first, as the iterator of einsum's loop takes them.
Labels iteration(std::span<const Term> terms, const Labels& output) {
  Labels all = output, rest;
  for (const Term& t : terms)
    for (const int l : t.labels)
      if (!has(all, l) && !has(rest, l)) rest.push_back(l);
  std::sort(rest.begin(), rest.end());
  all.insert(all.end(), rest.begin(), rest.end());
  std::vector<Dims> strides;
  for (const Term& t : terms) {
    Dims s;
    for (const int l : all) s.push_back(t.stride(l));
    strides.push_back(std::move(s));
  }
  const Dims fastest_first = tracer::iteration_order(static_cast<int>(all.size()), strides);
  Labels order;
  for (const std::int64_t i : fastest_first) order.push_back(all[static_cast<std::size_t>(i)]);
  return order;
}

// The result's axes, slowest first, as the iterator lays them out.
Labels memory_order(std::span<const Term> terms, const Labels& output) {
  Labels order = iteration(terms, output);
  std::erase_if(order, [&](int l) { return !has(output, l); });
  std::reverse(order.begin(), order.end());
  return order;
}

// The axes over which einsum's innermost loop sums an operand before it multiplies by the other's
// one element: they lie without gaps in one operand, and neither the other nor the result has them.
// Complex elements, and those of two axes that are copied to convert them, are multiplied one by
// one.
Labels summed_first(std::span<const Term> terms, const Labels& output) {
  Labels inner;
  const bool converts = terms[0].a.dtype != terms[1].a.dtype;
  if (is_complex(promote(terms[0].a.dtype, terms[1].a.dtype)) ||
      (converts && terms[0].a.size() != 1 && terms[1].a.size() != 1))
    return inner;
  const Term* owner = nullptr;
  std::int64_t step = 0;
  for (const int l : iteration(terms, output)) {
    if (terms[0].extent(l) == 1 && terms[1].extent(l) == 1) continue;
    const Term& one = terms[terms[0].extent(l) == 1 ? 1 : 0];
    const Term& other = terms[&one == &terms[0] ? 1 : 0];
    if (!owner) {
      owner = &one;
      step = static_cast<std::int64_t>(itemsize(one.a.dtype));
    }
    if (&one != owner || has(output, l) || other.extent(l) != 1 || one.stride(l) != step) break;
    inner.push_back(l);
    step *= one.extent(l);
  }
  return inner;
}

// The labels of a product by what they are in the result's memory: a batch, whose axes either
// operand may lack, rows of the first and columns of the second.
struct Arrangement {
  Labels batch, rows, columns;
  bool turned = false;  // the second operand has the rows

  static std::int64_t count(const Labels& labels, const Term& t) {
    std::int64_t n = 1;
    for (const int l : labels) n *= t.extent(l);
    return n;
  }
};

Arrangement natural(const Term& a, const Term& b, const Labels& output) {
  Arrangement w;
  for (const int l : a.labels)
    if (has(output, l)) (has(b.labels, l) ? w.batch : w.rows).push_back(l);
  for (const int l : b.labels)
    if (has(output, l) && !has(a.labels, l)) w.columns.push_back(l);
  return w;
}

// `order`: of the result's memory, extents of 1 left out.
Arrangement by_memory(const Term& a, const Term& b, const Labels& order) {
  Arrangement w;
  const auto only_in = [&](const Term& t, const Term& other, int l) {
    return has(t.labels, l) && !has(other.labels, l);
  };
  w.turned = !order.empty() && only_in(a, b, order.back());
  const Term &first = w.turned ? b : a, &second = w.turned ? a : b;
  auto at = order.end();
  while (at != order.begin() && only_in(second, first, at[-1])) --at;
  w.columns.assign(at, order.end());
  const auto columns = at;
  while (at != order.begin() && only_in(first, second, at[-1])) --at;
  w.rows.assign(at, columns);
  w.batch.assign(order.begin(), at);
  return w;
}

Labels joined(const Labels& a, const Labels& b, const Labels& c) {
  Labels all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

// (batch..., rows..., columns...)
Array product(const Term& a, const Term& b, const Arrangement& w, const Labels& sums) {
  const Term &first = w.turned ? b : a, &second = w.turned ? a : b;
  return tracer::contract(in_order(first, joined(w.batch, w.rows, sums)),
                          in_order(second, joined(w.batch, sums, w.columns)),
                          static_cast<int>(w.batch.size()), static_cast<int>(sums.size()));
}

// Tiles have enough to share in `w`, beside the most that the product allows.
bool shares(const Term& a, const Term& b, const Arrangement& w, const Arrangement& most) {
  constexpr std::int64_t kRows = 16, kColumns = 32;
  const auto rows = [&](const Arrangement& x) {
    return Arrangement::count(x.rows, x.turned ? b : a);
  };
  const auto columns = [&](const Arrangement& x) {
    return Arrangement::count(x.columns, x.turned ? a : b);
  };
  const std::int64_t m = w.turned ? columns(most) : rows(most);
  const std::int64_t n = w.turned ? rows(most) : columns(most);
  return rows(w) >= std::min(m, kRows) && columns(w) >= std::min(n, kColumns);
}

// What is in C order along `order`, as the array of the output's axes.
Array along(const Labels& order, Array made, const Dims& shape, const Labels& output) {
  auto step = static_cast<std::int64_t>(itemsize(made.dtype));
  made.shape = shape;
  made.strides = Dims(shape.size());
  for (auto l = order.rbegin(); l != order.rend(); ++l) {
    const int axis = place(output, *l);
    made.strides[axis] = step;
    step *= shape[axis];
  }
  return made;
}

std::optional<EinsumResult> single(const Term& t, const Labels& output) {
  Term left = t;
  const tracer::Naming unheard(tracer::NamedAs::Nobody);
  sum_own(left, output, std::nullopt);
  const bool view = left.labels.size() == t.labels.size();
  return EinsumResult{in_order(left, output), view};
}

}  // namespace

std::optional<EinsumResult> einsum(std::string_view subscripts, std::span<const Array> operands,
                                   EinsumLike like) {
  if (operands.empty() || operands.size() > 2) return std::nullopt;
  const auto parsed = parse(subscripts, operands);
  if (!parsed) return std::nullopt;
  const Labels& output = parsed->output;
  std::vector<Term> terms;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].size() == 0) return std::nullopt;
    auto t = diagonal_of(operands[i], parsed->inputs[i]);
    if (!t) return std::nullopt;
    terms.push_back(std::move(*t));
  }
  if (terms.size() == 1) return single(terms[0], output);

  const Term &x = terms[0], &y = terms[1];
  for (const int l : x.labels)
    if (x.extent(l) != 1 && y.extent(l) != 1 && x.extent(l) != y.extent(l)) return std::nullopt;
  const DType t = promote(x.a.dtype, y.a.dtype);
  std::optional<tracer::Naming> unheard;
  if (like == EinsumLike::Loop) unheard.emplace(tracer::NamedAs::Nobody);
  Dims shape;
  for (const int l : output) shape.push_back(std::max(x.extent(l), y.extent(l)));

  // Axes of extent 1 broadcast, and say nothing else.
  Term a = x, b = y;
  for (Term* one : {&a, &b}) {
    const Term& other = one == &a ? y : x;
    bool summed = false;
    for (int i = one->a.ndim() - 1; i >= 0; --i) {
      const int l = one->labels[static_cast<std::size_t>(i)];
      if (one->a.shape[i] != 1) continue;
      summed = summed || (!has(output, l) && !has(other.labels, l));
      one->drop(i);
    }
    if (summed && like == EinsumLike::Matmul) one->a = from_zero(one->a);
  }
  const auto kept = [&](const Term& other) { return joined(output, other.labels, {}); };
  const std::optional<DType> in = like == EinsumLike::Loop ? std::optional(t) : std::nullopt;
  Labels kept_a = kept(b), kept_b = kept(a);
  // 0 * inf + 1 * inf is not (0 + 1) * inf: sums before products are those that NumPy takes so.
  const bool as_loop = like == EinsumLike::Loop && !is_exact(t);
  if (as_loop) {
    const Labels first = summed_first(terms, output);
    for (Labels* k : {&kept_a, &kept_b})
      for (const Term* one : {&a, &b})
        for (const int l : one->labels)
          if (!has(first, l)) k->push_back(l);
  }
  sum_own(a, kept_a, in);
  sum_own(b, kept_b, in);
  if (as_loop) {
    repeat_along_own(a, b, output);
    repeat_along_own(b, a, output);
  }
  Labels sums;
  for (const int l : a.labels)
    if (has(b.labels, l) && !has(output, l)) sums.push_back(l);
  if (sums.empty() && like == EinsumLike::Matmul)
    return EinsumResult{call(OpId::Multiply, in_order(a, output), in_order(b, output))};

  const Arrangement most = natural(a, b, output);
  if (like == EinsumLike::Matmul) {
    Labels made;
    Dims whole;
    for (const int l : output)
      if (!has(a.labels, l) && !has(b.labels, l)) made.push_back(l);
    for (const int l : joined(made, joined(most.batch, most.rows, most.columns), {}))
      whole.push_back(shape[place(output, l)]);
    made = joined(made, joined(most.batch, most.rows, most.columns), {});
    Term result{tracer::reshape(product(a, b, most, sums), whole), made};
    return EinsumResult{in_order(result, output), false, false};
  }
  const Labels order = memory_order(terms, output);
  if (sums.empty()) {
    tracer::ElementwiseOptions as_laid_out;
    as_laid_out.order = 'C';
    const Array first = in_order(a, order), second = in_order(b, order);
    const Operand both[] = {first, second};
    return EinsumResult{along(
        order, from_zero(tracer::elementwise(OpId::Multiply, both, as_laid_out)), shape, output)};
  }
  Labels long_ones;
  for (const int l : order)
    if (has(a.labels, l) || has(b.labels, l)) long_ones.push_back(l);
  const Arrangement direct = by_memory(a, b, long_ones);
  if (shares(a, b, direct, most))
    return EinsumResult{along(order, product(a, b, direct, sums), shape, output)};
  const Term made{product(a, b, most, sums), joined(most.batch, most.rows, most.columns)};
  Dims extents;
  for (const int l : order) extents.push_back(shape[place(output, l)]);
  const Array result = tracer::empty(extents, t);
  tracer::assign(result, in_order(made, order));
  return EinsumResult{along(order, result, shape, output)};
}

}  // namespace plait::numpy
