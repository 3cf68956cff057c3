#pragma once

// The texts that new ops and variants start from. @words@ are filled in by scaffold.cc;
// @include@ is #include, which there would be taken for one of this file.

#include <string_view>

namespace einkorn::versions {

/// A file of a new op: its name inside of the op's folder, and its text.
struct OpTemplate {
  std::string_view file;
  std::string_view text;
};

extern const OpTemplate kOpContractHeader;
extern const OpTemplate kOpContractSource;
extern const OpTemplate kOpReference;
extern const OpTemplate kOpCases;
extern const OpTemplate kOpCaseList;
extern const OpTemplate kOpVariantList;
extern const OpTemplate kOpReadme;

extern const std::string_view kCpuVariant;
extern const std::string_view kCudaVariantHost;
extern const std::string_view kCudaVariantKernel;

}  // namespace einkorn::versions
