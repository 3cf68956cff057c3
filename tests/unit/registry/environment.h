#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include <einkorn/registry.h>

namespace einkorn::test {

/// Sets an environment variable for a scope; cached plans of before are forgotten, because what was
/// read from EINKORN_<OP> is part of them.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    ::setenv(name_.c_str(), value.c_str(), 1);
    clear_plan_caches();
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() {
    if (old_) {
      ::setenv(name_.c_str(), old_->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
    clear_plan_caches();
  }

 private:
  std::string name_;
  std::optional<std::string> old_;
};

}  // namespace einkorn::test
