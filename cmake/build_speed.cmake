# Less to compile twice: precompiled headers, or ccache where it is installed.
#
# Most of what a file takes to compile is to read the standard library and fmt. With precompiled
# headers a file may lack an include of its own: scripts/check_sources.py reads each without. ccache
# cannot tell what is in a precompiled header, so it is one or the other.

find_program(EK_CCACHE ccache DOC "ccache; empty: not used")
mark_as_advanced(EK_CCACHE)
if(PROJECT_IS_TOP_LEVEL AND EK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Another checkout's objects serve as well: no path of ours is in them (-ffile-prefix-map). A
  # script of that name, because readers of compile_commands.json know to skip it.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${PROJECT_BINARY_DIR}/launch/ccache")
  file(WRITE "${CMAKE_CXX_COMPILER_LAUNCHER}"
    "#!/bin/sh\nCCACHE_BASEDIR='${PROJECT_SOURCE_DIR}' CCACHE_NOHASHDIR=1 exec '${EK_CCACHE}' \"$@\"\n")
  file(CHMOD "${CMAKE_CXX_COMPILER_LAUNCHER}"
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE)
endif()
option(EK_PRECOMPILE "Precompile headers, where no compiler launcher is in use" ON)

# What most of our files include, and HEADERs.
function(ek_precompile target)  # HEADER...
  if(EK_PRECOMPILE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <chrono> <filesystem> <functional> <map> <memory> <optional> <random> <set>
      <string> <string_view> <vector> <fmt/format.h> <fmt/ranges.h> <einkorn/error.h> ${ARGN})
    # What the standard library's own headers say against false warnings of GCC 12 is lost in a
    # precompiled one.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
  endif()
endfunction()
