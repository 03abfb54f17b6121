# Finds an installed trunkline: the targets trunkline::trunkline (shared) and trunkline::trunkline_static.
get_filename_component(_trunkline_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(_trunkline_prefix "${_trunkline_lib}/.." ABSOLUTE)

if(NOT TARGET trunkline::trunkline)
  add_library(trunkline::trunkline SHARED IMPORTED)
  set_target_properties(trunkline::trunkline PROPERTIES
    IMPORTED_LOCATION "${_trunkline_lib}/libtrunkline.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_trunkline_prefix}/include")
  add_library(trunkline::trunkline_static STATIC IMPORTED)
  set_target_properties(trunkline::trunkline_static PROPERTIES
    IMPORTED_LOCATION "${_trunkline_lib}/libtrunkline.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_trunkline_prefix}/include"
    INTERFACE_LINK_LIBRARIES "gcc_s;util;rt;pthread;m;dl;c")
endif()
