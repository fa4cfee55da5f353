// Networks, and contractions by subscripts.
#include "numpy_compat/nn.hpp"

#include <algorithm>
#include <string>

#include "box.hpp"
#include "numpy_compat/einsum.hpp"
#include "plait/linalg.hpp"
#include "plait/nn.hpp"

namespace plait::detail {

Handle attention(const Handle& q, const Handle& k, const Handle& v, const Handle* mask,
                 const nn::attention_options& o) {
  return made("nn::attention", [&] {
    numpy::nn::Attention options;
    if (mask) options.mask = &unwrap(*mask);
    options.is_causal = o.is_causal;
    if (o.scale != 0) options.scale = o.scale;
    return numpy::nn::attention(unwrap(q), unwrap(k), unwrap(v), options);
  });
}
Handle conv(const Handle& x, const Handle& w, const Handle* bias, const nn::conv_options& o) {
  return made("nn::conv", [&] {
    numpy::nn::Convolution options;
    if (bias) options.bias = &unwrap(*bias);
    options.stride = dims(span_of(o.stride));
    options.padding = dims(span_of(o.padding));
    options.dilation = dims(span_of(o.dilation));
    options.groups = o.groups;
    return numpy::nn::conv(unwrap(x), unwrap(w), options);
  });
}
Handle pool(const Handle& x, Span size, const nn::pool_options& o) {
  return made("nn::pool", [&] {
    numpy::nn::Pool options;
    if (o.stride.size()) options.stride = dims(span_of(o.stride));
    options.padding = dims(span_of(o.padding));
    options.mean = o.kind == nn::pooling::mean;
    return numpy::nn::pool(unwrap(x), dims(size), options);
  });
}

namespace {

// "ij,jk" and "ijk" of "ij,jk->ijk"; without an arrow the letters that are there once, in order.
struct Subscripts {
  std::vector<std::string> operands;
  std::string result;
};
Subscripts parse(const std::string& text) {
  Subscripts s;
  std::string written;
  for (const char c : text)
    if (c != ' ') written += c;
  const std::size_t arrow = written.find("->");
  const std::string left = written.substr(0, arrow);
  for (std::size_t at = 0, comma = 0; comma != std::string::npos; at = comma + 1) {
    comma = left.find(',', at);
    s.operands.push_back(left.substr(at, comma == std::string::npos ? comma : comma - at));
  }
  if (arrow != std::string::npos) {
    s.result = written.substr(arrow + 2);
  } else {
    std::string letters = left;
    std::sort(letters.begin(), letters.end());
    for (const char c : letters)
      if (c != ',' && std::count(letters.begin(), letters.end(), c) == 1) s.result += c;
  }
  return s;
}

tracer::Array contracted(const std::string& subscripts, std::span<const tracer::Array> arrays) {
  const auto found = numpy::einsum(subscripts, arrays, numpy::EinsumLike::Loop);
  if (!found) {
    std::string shapes;
    for (const tracer::Array& a : arrays) shapes += " " + to_string(a.shape);
    throw ValueError("the subscripts '" + subscripts + "' do not fit operands of shapes" + shapes +
                     ", or these have no elements");
  }
  return found->view ? tracer::copy(found->array) : found->array;
}

}  // namespace

Handle einsum(const std::string& subscripts, const Handle* operands, int n) {
  return made("einsum", [&] {
    std::vector<tracer::Array> arrays;
    for (int i = 0; i < n; ++i) arrays.push_back(unwrap(operands[i]));
    if (n < 3) return contracted(subscripts, arrays);
    const Subscripts s = parse(subscripts);
    if (s.operands.size() != arrays.size())
      throw ValueError("the subscripts '" + subscripts + "' name " +
                       std::to_string(s.operands.size()) + " operands, not " + std::to_string(n));
    if (subscripts.find('.') != std::string::npos)
      throw ValueError("an ellipsis stands for axes of one or two operands, not of more");
    // A letter stays as long as an operand behind or the result has it.
    tracer::Array value = arrays[0];
    std::string letters = s.operands[0];
    for (std::size_t i = 1; i < arrays.size(); ++i) {
      std::string wanted = s.result, kept;
      for (std::size_t j = i + 1; j < arrays.size(); ++j) wanted += s.operands[j];
      for (const char c : letters + s.operands[i])
        if (wanted.find(c) != std::string::npos && kept.find(c) == std::string::npos) kept += c;
      if (i + 1 == arrays.size()) kept = s.result;
      const tracer::Array both[] = {value, arrays[i]};
      value = contracted(letters + "," + s.operands[i] + "->" + kept, both);
      letters = kept;
    }
    return value;
  });
}

}  // namespace plait::detail
