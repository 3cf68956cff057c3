#include "tests/unit/cuda/device_common.h"

#include <fstream>
#include <iterator>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "tests/unit/source_dir.h"

namespace einkorn::device_common {

std::string kernels_of(std::string_view part) {
  static const std::string kText = [] {
    const std::string path = test::source_dir() + "/tests/unit/cuda/device_common_kernels.cuh";
    std::ifstream in(path, std::ios::binary);
    std::string read((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    EK_CHECK(!read.empty(), ErrorKind::kRuntime, fmt::format("{}: cannot be read", path));
    const std::string once = "#pragma once\n";  // a warning where nothing includes it
    return read.starts_with(once) ? read.substr(once.size()) : read;
  }();
  return fmt::format("#define EK_PART_{0}\n#include \"{1}{0}.cuh\"\n{2}", part, kFolder, kText);
}

// The only place where the run-time compiler is asked.
Compiled compile(const std::string& source, const Expressions& expressions,
                 const std::string& arch) {
  jit::Request request;
  request.file = "device_common_kernels.cuh";
  request.source = source;
  request.instantiate = expressions;
  request.arch = arch;
  request.compiler = "nvrtc";
  const jit::Program program = jit::compile(request);
  return {program->image, program->entries, program->log, program->compile_ms};
}

Kernels::Kernels(const Expressions& expressions) {
  const Compiled compiled =
      compile(kernels_of("all"), expressions, jit::native_arch(cuda::device_info(0).cc));
  const cuda::Module module = cuda::Module::load(compiled.image, "device_common_kernels.cuh");
  for (const jit::EntryPoint& entry : compiled.entries) {
    kernels_[entry.expression] = module.kernel(entry.lowered, entry.expression);
  }
}

}  // namespace einkorn::device_common
