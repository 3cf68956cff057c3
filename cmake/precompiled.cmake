# Precompiled headers: most of what a file takes to compile is to read the standard library and
# fmt. With them a file may lack an include of its own: scripts/check_sources.py reads each without.

option(EK_PRECOMPILE "Precompile headers" ON)

# What most of our files include, and HEADERs.
function(ek_precompile target)  # HEADER...
  if(EK_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <chrono> <filesystem> <functional> <map> <memory> <optional> <random> <set>
      <string> <string_view> <vector> <fmt/format.h> <fmt/ranges.h> <einkorn/error.h> ${ARGN})
  endif()
endfunction()
