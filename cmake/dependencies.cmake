# Third-party libraries, as targets ek::<name>. They come from one prefix, EK_DEPS_DIR, which
# scripts/bootstrap fills (.deps); with EK_DEPS_DIR empty, from where CMake looks by default.
# Shared ones out of the prefix are copied to <build>/lib, so that a build folder is complete.

set(ek_deps_default "")
if(EXISTS "${PROJECT_SOURCE_DIR}/.deps/include")
  set(ek_deps_default "${PROJECT_SOURCE_DIR}/.deps")
endif()
set(EK_DEPS_DIR "${ek_deps_default}" CACHE PATH "Prefix of the C++ dependencies; empty: default search")

find_package(Threads REQUIRED)

set(ek_deps_search "")
if(EK_DEPS_DIR)
  set(ek_deps_search PATHS "${EK_DEPS_DIR}" NO_DEFAULT_PATH)
endif()

function(ek_header_dependency name header)
  find_path(EK_${name}_INCLUDE ${header} PATH_SUFFIXES include ${ek_deps_search})
  mark_as_advanced(EK_${name}_INCLUDE)
  if(NOT EK_${name}_INCLUDE)
    message(FATAL_ERROR "${header}: not found in '${EK_DEPS_DIR}'; run scripts/bootstrap")
  endif()
  add_library(ek::${name} INTERFACE IMPORTED GLOBAL)
  # SYSTEM: their warnings are not ours to fix.
  target_include_directories(ek::${name} SYSTEM INTERFACE "${EK_${name}_INCLUDE}")
endfunction()

function(ek_library_dependency name library header)
  ek_header_dependency(${name} ${header})
  find_library(EK_${name}_LIBRARY ${library} PATH_SUFFIXES lib ${ek_deps_search})
  mark_as_advanced(EK_${name}_LIBRARY)
  if(NOT EK_${name}_LIBRARY)
    message(FATAL_ERROR "lib${library}: not found in '${EK_DEPS_DIR}'; run scripts/bootstrap")
  endif()
  set(location "${EK_${name}_LIBRARY}")
  if(EK_DEPS_DIR AND location MATCHES "\\.so$")
    ek_copy_beside("${location}" location)
  endif()
  add_library(ek::${name}_file UNKNOWN IMPORTED GLOBAL)
  set_target_properties(ek::${name}_file PROPERTIES IMPORTED_LOCATION "${location}")
  target_link_libraries(ek::${name} INTERFACE ek::${name}_file)
endfunction()

# Copies the library behind a .so link to <build>/lib under the name that programs ask for at run
# time (the link of the form libx.so.<digits>), and gives that copy.
function(ek_copy_beside link result)
  file(GLOB candidates "${link}.*")
  list(FILTER candidates INCLUDE REGEX "\\.so\\.[0-9]+$")
  list(LENGTH candidates count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${link}: expected one file ${link}.<number> beside it, got ${count}")
  endif()
  cmake_path(GET candidates FILENAME name)
  set(copy "${PROJECT_BINARY_DIR}/lib/${name}")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  file(COPY_FILE "${candidates}" "${copy}" ONLY_IF_DIFFERENT)
  set(${result} "${copy}" PARENT_SCOPE)
endfunction()

# The charts of `einkorn report`: a text that is embedded.
find_file(EK_d3_FILE d3.min.js PATH_SUFFIXES share/javascript share/nodejs/d3/dist
  PATHS "${EK_DEPS_DIR}" /usr NO_DEFAULT_PATH)
mark_as_advanced(EK_d3_FILE)
if(NOT EK_d3_FILE)
  message(FATAL_ERROR "d3.min.js: not found in '${EK_DEPS_DIR}'; run scripts/bootstrap")
endif()

ek_header_dependency(dlpack dlpack/dlpack.h)
# Types only: driver and compiler are opened at run time, nothing is linked.
ek_header_dependency(cuda cuda.h)
ek_header_dependency(nvrtc nvrtc.h)
ek_header_dependency(json nlohmann/json.hpp)
ek_header_dependency(toml toml++/toml.h)
ek_header_dependency(cli11 CLI/CLI.hpp)
ek_library_dependency(fmt fmt fmt/format.h)
ek_library_dependency(hwy hwy hwy/highway.h)
ek_library_dependency(tbb tbb tbb/parallel_for.h)
ek_library_dependency(b2 b2 blake2.h)
ek_library_dependency(muparser muparser muParser.h)
if(EK_BUILD_TESTS)
  ek_library_dependency(gtest gtest gtest/gtest.h)
  ek_library_dependency(gmock gmock gmock/gmock.h)
  ek_library_dependency(gtest_main gmock_main gtest/gtest.h)
  target_link_libraries(ek::gmock INTERFACE ek::gtest Threads::Threads)
  target_link_libraries(ek::gtest_main INTERFACE ek::gmock)
endif()
