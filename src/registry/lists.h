#pragma once

// How the lists expand. EK_BUILT_<arch> comes from the build (option EK_ARCHES): a line for an arch
// that is not built expands to nothing.

#define EK_CONCAT_NOW(a, b) a##b
#define EK_CONCAT(a, b) EK_CONCAT_NOW(a, b)
#define EK_WHEN_0(...)
#define EK_WHEN_1(...) __VA_ARGS__
#define EK_IF_BUILT(arch, ...) EK_CONCAT(EK_WHEN_, EK_BUILT_##arch)(__VA_ARGS__)
