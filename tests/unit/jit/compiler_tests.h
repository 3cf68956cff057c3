#pragma once

// What the tests of the compilers have in common.

#include <string>

#include "src/jit/compiler.h"
#include "tests/unit/file_tree.h"

namespace einkorn::test {

/// Text of a failure; empty when there is none.
std::string failure_text(const jit::Outcome& outcome);

/// Text of the Error that `call` throws, "no error" when it throws none.
template <class Call>
std::string thrown_text(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace einkorn::test
