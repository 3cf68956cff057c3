# The Python package as one tree, component `python`: what a wheel holds, and what
# `cmake --install <build> --component python --prefix <folder>` makes importable from <folder>.
# Not a part of an install without a component.

set(ek_package_dir einkorn)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/einkorn/" DESTINATION ${ek_package_dir}
  COMPONENT python EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)

# Library and worker find what they link beside them, and the library finds the worker there.
set_target_properties(einkorn_python einkorn_jit_worker PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS einkorn_python einkorn_jit_worker
  LIBRARY DESTINATION ${ek_package_dir}/lib COMPONENT python EXCLUDE_FROM_ALL
  RUNTIME DESTINATION ${ek_package_dir}/lib COMPONENT python EXCLUDE_FROM_ALL)

# With dependencies out of a prefix, their shared libraries (see dependencies.cmake) and their
# licences, those of headers compiled into ours included. Otherwise they are the system's.
if(EK_DEPS_DIR)
  set(ek_beside "")
  foreach(name fmt hwy tbb b2 muparser)
    get_target_property(ek_file ek::${name}_file IMPORTED_LOCATION)
    if(ek_file MATCHES "\\.so\\.[0-9]+$")
      list(APPEND ek_beside "${ek_file}")
    endif()
  endforeach()
  install(PROGRAMS ${ek_beside} DESTINATION ${ek_package_dir}/lib
    COMPONENT python EXCLUDE_FROM_ALL)
  install(DIRECTORY "${EK_DEPS_DIR}/share/doc/" DESTINATION ${ek_package_dir}/licenses
    COMPONENT python EXCLUDE_FROM_ALL
    FILES_MATCHING PATTERN "copyright" PATTERN "libg*" EXCLUDE)  # not those of the tests
endif()
