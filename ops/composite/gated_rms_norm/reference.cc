// The contract of gated_rms_norm: the references of its parts, one after the other.

#include "ops/composite/gated_rms_norm/contract.h"

namespace einkorn {

void GatedRmsNorm::reference(const Args& args) {
  const Tensor normed = Tensor::empty(args.x.shape(), args.x.dtype(), kCpuDevice);
  RmsNorm::Args norm;
  norm.x = args.x;
  norm.weight = args.weight;
  norm.y = normed;
  norm.eps = args.eps;
  RmsNorm::reference(norm);
  SiluMul::Args product;
  product.gate = args.gate;
  product.up = normed;
  product.y = args.y;
  SiluMul::reference(product);
}

}  // namespace einkorn
