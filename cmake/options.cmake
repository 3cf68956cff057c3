# Language, warnings and sanitizers, as an interface target that every target of ours links.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# A build folder can be moved or copied: libraries are found relative to the executable.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

add_library(einkorn_options INTERFACE)
target_compile_features(einkorn_options INTERFACE cxx_std_20)
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(einkorn_options INTERFACE
    -Wall -Wextra -Wconversion -Wshadow
    # GCC 12 sees overlaps in "text" + std::string where there are none (GCC PR 105651).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    $<$<BOOL:${EK_WERROR}>:-Werror>
    # File names in messages do not depend on where the checkout is.
    "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
endif()

if(EK_SANITIZE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Its flow analysis sees faults that are not there once code has been instrumented.
    target_compile_options(einkorn_options INTERFACE
      -Wno-error=restrict -Wno-error=stringop-overflow -Wno-error=stringop-overread
      -Wno-error=array-bounds -Wno-error=maybe-uninitialized)
  endif()
  target_compile_options(einkorn_options INTERFACE
    -fsanitize=${EK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(einkorn_options INTERFACE -fsanitize=${EK_SANITIZE})
endif()

# For a target that computes little: to optimise its many files further takes longer than they run.
function(ek_optimise_little target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()
