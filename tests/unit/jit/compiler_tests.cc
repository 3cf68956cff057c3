#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::test {
std::string failure_text(const jit::Outcome& outcome) {
  return outcome.failure ? outcome.failure->what() : "";
}

}  // namespace einkorn::test
