# Builds with sanitizers optimise nothing (CMakePresets.json) but what computes over whole tensors:
# for the rest it takes longer than it saves. Their other flags are in options.cmake; the tests of
# ops, which compare whole tensors, are in tests.cmake.

if(EK_SANITIZE)
  file(GLOB_RECURSE ek_computing CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
    "${PROJECT_SOURCE_DIR}/ops/*.cc")
  list(FILTER ek_computing INCLUDE REGEX
    "/cpu/|_cpu\\.cc$|/heads\\.cc$|/rows\\.cc$|_inputs\\.cc$|reference\\.cc$")
  # A precompiled header is of no use under other options than those it was made with.
  set_source_files_properties(${ek_computing} src/measure/compare.cc src/measure/memory.cc PROPERTIES
    COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
endif()
