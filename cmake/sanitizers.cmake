# Builds with sanitizers optimise nothing (CMakePresets.json) but what computes over whole tensors:
# for the rest it takes longer than it saves. Their other flags are in options.cmake.

if(EK_SANITIZE)
  file(GLOB_RECURSE ek_computing CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/ops/*.cc" "${PROJECT_SOURCE_DIR}/tests/ops/*.cc")
  list(FILTER ek_computing INCLUDE REGEX
    "/tests/|/cpu/|_cpu\\.cc$|/heads\\.cc$|/rows\\.cc$|_inputs\\.cc$|reference\\.cc$")
  list(APPEND ek_computing
    "${PROJECT_SOURCE_DIR}/src/measure/compare.cc" "${PROJECT_SOURCE_DIR}/src/measure/memory.cc")
  # A precompiled header is of no use under other options than those it was made with.
  set_source_files_properties(${ek_computing} PROPERTIES
    COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
endif()
