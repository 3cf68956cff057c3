// Which kernels stand for which header.

#include <fmt/format.h>

#include "tests/unit/cuda/device_common.h"

namespace einkorn::device_common {
namespace {

using Expressions = std::vector<std::string>;

/// "device_test::name<a>", "device_test::name<b>", ...
Expressions each(std::string_view name, std::initializer_list<const char*> arguments) {
  Expressions list;
  for (const char* argument : arguments) {
    list.push_back(fmt::format("device_test::{}<{}>", name, argument));
  }
  return list;
}

Expressions join(std::initializer_list<Expressions> lists) {
  Expressions all;
  for (const Expressions& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Expressions functions() {
  return each("apply", {"device_test::Function::kExp2", "device_test::Function::kExp",
                        "device_test::Function::kLog2", "device_test::Function::kLog",
                        "device_test::Function::kRsqrt", "device_test::Function::kReciprocal",
                        "device_test::Function::kTanh", "device_test::Function::kSigmoid",
                        "device_test::Function::kSilu"});
}

Expressions reductions() {
  Expressions list = {"device_test::identity_of<einkorn::Max, einkorn::i64>",
                      "device_test::reduce_warps<einkorn::MaxNan, float, 8>",
                      "device_test::reduce_blocks<einkorn::MinNan, einkorn::bf16, 1024>"};
  for (const char* op : {"Sum", "Max", "Min"}) {
    for (const char* type : {"float", "double", "int", "einkorn::u32", "einkorn::i64",
                             "einkorn::u64", "einkorn::f16", "einkorn::bf16"}) {
      list.push_back(fmt::format("device_test::reduce_warps<einkorn::{}, {}, 32>", op, type));
    }
    list.push_back(fmt::format("device_test::reduce_blocks<einkorn::{}, int, 1024>", op));
  }
  for (int threads : {17, 32, 48, 96, 512, 1000, 1024}) {
    list.push_back(fmt::format("device_test::reduce_blocks<einkorn::Sum, float, {}>", threads));
  }
  return list;
}

Expressions piece_copies() {
  Expressions list;
  for (int bytes : {1, 2, 4, 8, 16}) {
    for (const char* load : {"Default", "ReadOnly", "NoAllocate", "EvictFirst", "Streaming"}) {
      const std::string store = load == std::string("ReadOnly") ? "Default" : load;
      list.push_back(
          fmt::format("device_test::copy_pieces<{}, einkorn::Cache::k{}, einkorn::Cache::k{}>",
                      bytes, load, store));
    }
  }
  return list;
}

}  // namespace

std::vector<Part> parts() {
  const Expressions types = join({each("encode", {"einkorn::f16", "einkorn::bf16"}),
                                  each("decode", {"einkorn::f16", "einkorn::bf16"}),
                                  each("round_floats", {"float", "einkorn::f16", "einkorn::bf16"}),
                                  each("to_integers", {"int", "einkorn::i8", "einkorn::u8"})});
  const Expressions fp8 = join({each("encode", {"einkorn::f8e4m3", "einkorn::f8e5m2"}),
                                each("decode", {"einkorn::f8e4m3", "einkorn::f8e5m2"}),
                                each("encode_fours", {"einkorn::f8e4m3", "einkorn::f8e5m2"})});
  const Expressions memory = {
      "device_test::move_words<einkorn::u32, einkorn::Scope::kBlock>",
      "device_test::move_words<float, einkorn::Scope::kDevice>",
      "device_test::move_words<einkorn::i64, einkorn::Scope::kSystem>",
      "device_test::move_words<double, einkorn::Scope::kDevice>",
      "device_test::pass_messages<einkorn::Scope::kDevice, false>",
      "device_test::pass_messages<einkorn::Scope::kSystem, true>",
      "device_test::count_threads<einkorn::Scope::kBlock>",
      "device_test::count_threads<einkorn::Scope::kDevice>",
      "device_test::count_threads<einkorn::Scope::kSystem>",
      "device_test::store_then_look",
  };
  const Expressions mma = join({each("multiply", {"einkorn::f16, device_test::From::kRows",
                                                  "einkorn::bf16, device_test::From::kColumns",
                                                  "einkorn::f16, device_test::From::kLayout",
                                                  "einkorn::bf16, device_test::From::kPieces"}),
                                each("load_matrices", {"1, false", "2, false", "4, false",
                                                       "1, true", "2, true", "4, true"})});
  const Expressions vec =
      join({each("copy_vectors",
                 {"float, 4, 16, einkorn::Cache::kReadOnly, einkorn::Cache::kDefault",
                  "einkorn::f16, 16, 16, einkorn::Cache::kNoAllocate, einkorn::Cache::kStreaming",
                  "einkorn::u8, 4, 1, einkorn::Cache::kDefault, einkorn::Cache::kEvictFirst"}),
            each("convert_vectors",
                 {"float, 4", "einkorn::f16, 8", "einkorn::bf16, 1", "einkorn::i8, 16",
                  "float, 4, true", "einkorn::bf16, 8, true", "einkorn::f16, 1, true"}),
            {"device_test::load_nothing"}});
  return {
      {"address", {"device_test::shared_addresses"}},
      {"cache", piece_copies()},
      {"cp_async", each("copy_async", {"4", "8", "16"})},
      {"fp8", fp8},
      {"fp8_bits", join({each("encode_bits", {"2", "3"}), each("decode_bits", {"2", "3"})})},
      {"math", functions()},
      {"memory", memory},
      {"mma", mma},
      {"pdl", {"device_test::dependent_step"}},
      {"piece", each("copy_pieces", {"2, einkorn::Cache::kReadOnly, einkorn::Cache::kDefault"})},
      {"plain_copy", {"einkorn::plain_copy"}},
      {"reduce", reductions()},
      {"traits",
       each("clamp_to_finite", {"float", "einkorn::f16", "einkorn::bf16", "einkorn::f8e4m3",
                                "einkorn::f8e5m2", "einkorn::i8", "einkorn::u8", "int"})},
      {"types", types},
      {"vec", vec},
      {"warp", join({{"device_test::reverse_groups"}, each("sum_warps", {"32", "4"})})},
  };
}

Part whole_part() {
  Part all{"all", each("convert_vectors",
                       {"einkorn::f8e4m3, 16", "einkorn::f8e5m2, 2", "einkorn::f8e4m3, 1"})};
  for (const Part& part : parts()) {
    if (part.header == "plain_copy") continue;  // a kernel itself, and not in all.cuh
    all.kernels.insert(all.kernels.end(), part.kernels.begin(), part.kernels.end());
  }
  return all;
}

}  // namespace einkorn::device_common
