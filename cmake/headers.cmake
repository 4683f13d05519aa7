# What is installed of the headers: the public ones and whatever they include, nothing else.
# tests/installed_headers.txt lists the result, and the package test compares.
set(HGT_PUBLIC_HEADERS hgt/hgt.h hgt/model/encoder.h)

# Collects `headers` with all headers of ours that they include, one through another.
function(hgt_with_included out)
  set(found)
  set(waiting ${ARGN})
  while(waiting)
    list(POP_FRONT waiting header)
    if(header IN_LIST found)
      continue()
    endif()
    list(APPEND found ${header})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} lines REGEX "^#include \"hgt/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
      list(APPEND waiting ${included})
    endforeach()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

hgt_with_included(installed_headers ${HGT_PUBLIC_HEADERS})
foreach(header IN LISTS installed_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
