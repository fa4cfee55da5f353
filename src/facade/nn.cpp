// Networks, and contractions by subscripts.
#include "numpy_compat/nn.hpp"

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

Handle einsum(const std::string& subscripts, const Handle* operands, int n) {
  return made("einsum", [&] {
    std::vector<tracer::Array> arrays;
    std::string shapes;
    for (int i = 0; i < n; ++i) {
      arrays.push_back(unwrap(operands[i]));
      shapes += " " + to_string(arrays.back().shape);
    }
    const auto found = numpy::einsum(subscripts, arrays, numpy::EinsumLike::Loop);
    if (!found)
      throw ValueError("the subscripts '" + subscripts + "' do not fit operands of shapes" +
                       shapes + ", or these have no elements");
    return found->view ? tracer::copy(found->array) : found->array;
  });
}

}  // namespace plait::detail
