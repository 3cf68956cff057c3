#include "tests/unit/jit/compile_cubin.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "src/jit/diagnostics.h"
#include "src/jit/nvrtc.h"

namespace einkorn::test {
namespace {

void check(nvrtcResult result, const std::string& what) {
  if (result != NVRTC_SUCCESS) throw std::runtime_error(what);
}

struct Destroy {
  void operator()(nvrtcProgram program) const { jit::nvrtc().nvrtcDestroyProgram(&program); }
};

}  // namespace

bool nvrtc_knows(int cc) {
  const auto& archs = jit::nvrtc().archs;
  return std::find(archs.begin(), archs.end(), cc) != archs.end();
}

CompiledCubin compile_cubin(const std::string& source, const std::vector<std::string>& expressions,
                            const std::string& arch, const std::vector<std::string>& options) {
  const jit::Nvrtc& nvrtc = jit::nvrtc();
  nvrtcProgram handle = nullptr;
  check(nvrtc.nvrtcCreateProgram(&handle, source.c_str(), "test.cu", 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  const std::unique_ptr<std::remove_pointer_t<nvrtcProgram>, Destroy> program(handle);
  for (const std::string& expression : expressions) {
    check(nvrtc.nvrtcAddNameExpression(handle, expression.c_str()), "no expression: " + expression);
  }
  std::vector<std::string> words = {"-arch=" + arch, "--std=c++20", "--ptxas-options=-v"};
  // With a driver NVRTC from 12.9 on answers from a cache of its own, without a report.
  if (nvrtc.at_least(12, 9)) words.emplace_back("--no-cache");
  words.insert(words.end(), options.begin(), options.end());
  std::vector<const char*> pointers;
  pointers.reserve(words.size());
  for (const std::string& word : words) pointers.push_back(word.c_str());
  const nvrtcResult result =
      nvrtc.nvrtcCompileProgram(handle, static_cast<int>(pointers.size()), pointers.data());
  std::size_t size = 0;
  check(nvrtc.nvrtcGetProgramLogSize(handle, &size), "nvrtcGetProgramLogSize");
  std::string log(size, '\0');
  check(nvrtc.nvrtcGetProgramLog(handle, log.data()), "nvrtcGetProgramLog");
  check(result, log);
  CompiledCubin out;
  for (const std::string& expression : expressions) {
    const char* lowered = nullptr;
    check(nvrtc.nvrtcGetLoweredName(handle, expression.c_str(), &lowered), "nvrtcGetLoweredName");
    out.lowered[expression] = lowered;
  }
  check(nvrtc.nvrtcGetCUBINSize(handle, &size), "nvrtcGetCUBINSize");
  out.bytes.resize(size);
  check(nvrtc.nvrtcGetCUBIN(handle, reinterpret_cast<char*>(out.bytes.data())), "nvrtcGetCUBIN");
  for (const jit::KernelResources& kernel : jit::parse_resources(log)) {
    out.resources[kernel.lowered] = kernel.resources;
  }
  return out;
}

}  // namespace einkorn::test
