# Programs that bench/ scripts start; built with the tests, so that they keep compiling.

add_executable(einkorn_jit_bench "${PROJECT_SOURCE_DIR}/bench/jit/jit_bench.cc")
target_link_libraries(einkorn_jit_bench PRIVATE einkorn_internal)
set_target_properties(einkorn_jit_bench PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
add_dependencies(einkorn_tests einkorn_jit_bench)
