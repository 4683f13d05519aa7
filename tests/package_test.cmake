# Installs the built package to a folder of its own, then configures, builds and runs the examples as
# a stranger's project that knows nothing but find_package(hgt).
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
file(COPY ${SOURCE_DIR}/examples/ DESTINATION ${WORK_DIR}/example)
run(${CMAKE_COMMAND} -S ${WORK_DIR}/example -B ${WORK_DIR}/build
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/prefix/bin/hgt generate --preset tiny --out ${WORK_DIR}/tiny.graph --quiet)

# The example must print something that matches.
function(run_example name expected)
  run(${WORK_DIR}/build/${name} ${WORK_DIR}/tiny.graph)
  message("${output}")
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "the example ${name} printed something else: ${output}")
  endif()
endfunction()
run_example(first_authors "4 papers")
run_example(encode "2 vectors of 256 numbers")
run(${WORK_DIR}/prefix/bin/hgt doctor --threads 1)
run_example(batches "batch 1: [0-9]+ instances, [0-9]+ edges")
run(${WORK_DIR}/prefix/bin/hgt generate --preset small --papers 200 --out ${WORK_DIR}/small.graph
    --quiet)
run(${WORK_DIR}/build/train ${WORK_DIR}/small.graph ${WORK_DIR}/venue.run)
if(NOT output MATCHES "ndcg 0\\.[0-9]+")
  message(FATAL_ERROR "the example train printed something else: ${output}")
endif()
run(${WORK_DIR}/prefix/bin/hgt evaluate ${WORK_DIR}/venue.run --quiet)
