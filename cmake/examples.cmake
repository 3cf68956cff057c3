# Each folder of examples/ is a target, example_<folder>, in <build>/examples: with a main.cc an
# executable that links the library, otherwise a plugin, a shared object that links nothing of it.

file(GLOB ek_examples CONFIGURE_DEPENDS LIST_DIRECTORIES true "${PROJECT_SOURCE_DIR}/examples/*")
foreach(folder IN LISTS ek_examples)
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cc")
  if(NOT sources)
    continue()
  endif()
  cmake_path(GET folder FILENAME name)
  if(EXISTS "${folder}/main.cc")
    add_executable(example_${name} ${sources})
    target_link_libraries(example_${name} PRIVATE einkorn::einkorn)
  else()
    add_library(example_${name} MODULE ${sources})
    target_link_libraries(example_${name} PRIVATE einkorn_options ek::dlpack)
    target_include_directories(example_${name}
      PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}")
  endif()
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name} PREFIX ""
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
  add_dependencies(einkorn_tests example_${name})
endforeach()
