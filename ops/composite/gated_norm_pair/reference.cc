// The contract of gated_norm_pair: the references of its parts, one after the other.

#include "ops/composite/gated_norm_pair/contract.h"

namespace einkorn {
namespace {

Tensor normed(const TensorView& x, const TensorView& weight, double eps) {
  Tensor out = Tensor::empty(x.shape(), x.dtype(), kCpuDevice);
  RmsNorm::Args norm;
  norm.x = x;
  norm.weight = weight;
  norm.y = out;
  norm.eps = eps;
  RmsNorm::reference(norm);
  return out;
}

}  // namespace

void GatedNormPair::reference(const Args& args) {
  const Tensor gate = normed(args.gate, args.gate_weight, args.eps);
  const Tensor up = normed(args.up, args.up_weight, args.eps);
  SiluMul::Args product;
  product.gate = gate;
  product.up = up;
  product.y = args.y;
  SiluMul::reference(product);
}

}  // namespace einkorn
