#include "src/jit/worker_executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/jit/compiler.h"
#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::jit {
namespace {

using test::FileTree;
using test::Variable;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(WorkerExecutable, IsLookedForInOrder) {
  const FileTree files;
  WorkerRoots roots;
  roots.anchors = {files.root() / "bin", files.root() / "bin"};
  EXPECT_THAT(
      find_worker(roots).tried,
      ElementsAre(files.path("bin/einkorn_jit_worker"), files.path("bin/lib/einkorn_jit_worker"),
                  files.path("lib/einkorn_jit_worker"),
                  files.path("libexec/einkorn/einkorn_jit_worker")));
  files.write_script("libexec/einkorn/einkorn_jit_worker", "");
  EXPECT_EQ(find_worker(roots).path, files.path("libexec/einkorn/einkorn_jit_worker"));
  files.write("lib/einkorn_jit_worker", "not executable");
  EXPECT_EQ(find_worker(roots).path, files.path("libexec/einkorn/einkorn_jit_worker"));
  files.write_script("lib/einkorn_jit_worker", "");
  EXPECT_EQ(find_worker(roots).path, files.path("lib/einkorn_jit_worker"));
  roots.override_path = files.path("gone");
  EXPECT_EQ(find_worker(roots).path, std::nullopt);
  EXPECT_THAT(find_worker(roots).tried,
              ElementsAre(files.path("gone") + " (EINKORN_JIT_WORKER; nothing else is tried)"));
  const Variable variable("EINKORN_JIT_WORKER", files.path("gone"));
  EXPECT_THAT(nvrtc_worker_compiler().refusal({}).value_or(""),
              HasSubstr("the compile worker was not found; tried:\n      " + files.path("gone")));
}

}  // namespace
}  // namespace einkorn::jit
