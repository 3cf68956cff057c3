#include "tests/unit/allocation_count.h"

#include <cstdlib>
#include <new>

namespace {

thread_local std::int64_t count = 0;

void* find(std::size_t bytes, std::size_t alignment) noexcept {
  ++count;
  return std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (void* data = find(bytes, alignment)) return data;
  throw std::bad_alloc();
}

}  // namespace

namespace einkorn::test {
std::int64_t allocations() { return count; }
}  // namespace einkorn::test

// Every form, because sanitizers bring their own of those that are left out, and theirs do not mix
// with free().
using Alignment = std::align_val_t;
using NoThrow = std::nothrow_t;
constexpr std::size_t kDefault = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

void* operator new(std::size_t n) { return allocate(n, kDefault); }
void* operator new[](std::size_t n) { return allocate(n, kDefault); }
void* operator new(std::size_t n, Alignment a) { return allocate(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, Alignment a) {
  return allocate(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, const NoThrow&) noexcept { return find(n, kDefault); }
void* operator new[](std::size_t n, const NoThrow&) noexcept { return find(n, kDefault); }
void* operator new(std::size_t n, Alignment a, const NoThrow&) noexcept {
  return find(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, Alignment a, const NoThrow&) noexcept {
  return find(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, Alignment) noexcept { std::free(p); }
void operator delete[](void* p, Alignment) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, Alignment) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, Alignment) noexcept { std::free(p); }
void operator delete(void* p, const NoThrow&) noexcept { std::free(p); }
void operator delete[](void* p, const NoThrow&) noexcept { std::free(p); }
void operator delete(void* p, Alignment, const NoThrow&) noexcept { std::free(p); }
void operator delete[](void* p, Alignment, const NoThrow&) noexcept { std::free(p); }
