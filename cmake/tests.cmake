# Tests, for ctest. Each writes its counts as JUnit XML to <build>/results/<test>.xml, from which
# scripts/run_tests.py takes the totals.

set(ek_results_dir "${PROJECT_BINARY_DIR}/results")
file(MAKE_DIRECTORY "${ek_results_dir}")
# What the Python tests and the tests of the command are told about this build.
set(ek_test_environment
  "EINKORN_BIN=${PROJECT_BINARY_DIR}/einkorn"
  "EINKORN_BUILD_DIR=${PROJECT_BINARY_DIR}"
  "EINKORN_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
  "EINKORN_CXX=${CMAKE_CXX_COMPILER}"
  # Not the user's; unit tests and tests of the command take fresh ones.
  "EINKORN_CACHE_DIR=${PROJECT_BINARY_DIR}/test-cache")
if(EK_SANITIZE)
  set(supp "${PROJECT_SOURCE_DIR}/scripts/sanitizers")
  list(APPEND ek_test_environment
    "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
    "LSAN_OPTIONS=suppressions=${supp}/lsan.supp:print_suppressions=0"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=suppressions=${supp}/tsan.supp:second_deadlock_stack=1")
endif()

# Everything the tests run; `cmake --build <dir> --target einkorn_tests` builds it.
add_custom_target(einkorn_tests)
add_dependencies(einkorn_tests einkorn_jit_worker)
if(TARGET einkorn_cli)
  add_dependencies(einkorn_tests einkorn_cli)
endif()
if(NOT EK_SANITIZE)  # an interpreter without the sanitizer cannot load it
  add_dependencies(einkorn_tests einkorn_python)
endif()

# A gtest executable. `shards` processes share its tests, so that a long one uses several cores.
function(ek_gtest name shards)
  if(NOT ARGN)
    return()
  endif()
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE einkorn_internal ek::gtest_main)
  ek_precompile(${name} <gtest/gtest.h> <gmock/gmock.h>)
  # Plugins that the tests load may use what the executable has.
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests" ENABLE_EXPORTS ON)
  add_dependencies(einkorn_tests ${name})
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(test ${name})
    if(shards GREATER 1)
      set(test ${name}_${shard})
    endif()
    add_test(NAME ${test}
      COMMAND ${name} "--gtest_output=xml:${ek_results_dir}/${test}.xml" --gtest_brief=1
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${test} PROPERTIES LABELS cpp TIMEOUT 3600 ENVIRONMENT
      "${ek_test_environment};GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

file(GLOB_RECURSE ek_unit_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/*.cc")
if(EK_SANITIZE STREQUAL "thread")
  # Only files with tests of threads, by their names, and what they share.
  foreach(file ${ek_unit_sources})
    file(STRINGS "${file}" ek_found REGEX "^TEST(_F|_P)?\\(.*Threads")
    if(file MATCHES "_test\\.cc$" AND NOT ek_found)
      list(REMOVE_ITEM ek_unit_sources "${file}")
    endif()
  endforeach()
endif()
set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/unit/source_dir.cc" PROPERTIES
  COMPILE_DEFINITIONS "EK_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
ek_gtest(einkorn_unit_tests 1 ${ek_unit_sources})
target_link_libraries(einkorn_unit_tests PRIVATE einkorn_command)
ek_optimise_little(einkorn_unit_tests)
file(GLOB ek_op_test_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/ops/*.cc")
ek_gtest(einkorn_op_tests 2 ${ek_op_test_sources})
if(EK_SANITIZE)
  target_compile_options(einkorn_op_tests PRIVATE -O2)
endif()

# Python tests: one ctest entry a folder, pytest_<folder>. They use the packages that
# scripts/bootstrap brought, and this checkout's Python package.
find_program(EK_PYTHON python3 PATHS "${PROJECT_SOURCE_DIR}/.venv/bin" NO_DEFAULT_PATH)
foreach(folder cli lint port python)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/test_*.py")
  if(found)
    if(NOT EK_PYTHON)
      message(FATAL_ERROR "tests/${folder} needs .venv; run scripts/bootstrap or set EK_PYTHON")
    endif()
    add_test(NAME pytest_${folder}
      COMMAND "${EK_PYTHON}" -m pytest -q -p no:cacheprovider
              "--junitxml=${ek_results_dir}/pytest_${folder}.xml" "tests/${folder}"
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(pytest_${folder} PROPERTIES LABELS python TIMEOUT 3600 ENVIRONMENT
      "${ek_test_environment};PYTHONPATH=${PROJECT_SOURCE_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
  endif()
endforeach()
