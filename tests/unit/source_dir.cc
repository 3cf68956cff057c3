#include "tests/unit/source_dir.h"

#ifndef EK_SOURCE_DIR
#error "EK_SOURCE_DIR is the repository's root; the build defines it"
#endif

namespace einkorn::test {

const std::string& source_dir() {
  static const std::string kDir = EK_SOURCE_DIR;
  return kDir;
}

}  // namespace einkorn::test
