# What the folders of hgt are made with: hgt_folder() makes a folder's library and its tests,
# hgt_test() any other test.

# What makes mistakes hard to exploit, at no measurable cost: checked copies, guarded stacks,
# addresses that nobody can guess, and no table of addresses that can be overwritten.
# tests/hardening_test.cc reads the programs.
include(CheckPIESupported)
check_pie_supported()
function(hgt_harden target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  elseif(type STREQUAL STATIC_LIBRARY)
    target_compile_options(${target} PRIVATE -fPIE)  # and not -fPIC, which forbids inlining
  endif()
  target_compile_options(${target} PRIVATE
    $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>
    -fstack-protector-strong)
  target_link_options(${target} PRIVATE -Wl,-z,relro -Wl,-z,now)
endfunction()

# Flags of every target of ours; part of no installed interface.
function(hgt_target_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # Nobody reads errno after mathematics, and without it loops over square roots are vectorized.
  target_compile_options(${target} PRIVATE -fno-math-errno)
  if(HGT_DEVELOPER)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Werror)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      target_compile_options(${target} PRIVATE -Wno-restrict)  # wrong on string + (GCC bug 105329)
    endif()
    if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # sources are no headers
    endif()
    if(NOT HGT_SANITIZE)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-D_GLIBCXX_ASSERTIONS>)
    endif()
  endif()
  if(NOT HGT_SANITIZE)
    hgt_harden(${target})
  endif()
  if(HGT_SANITIZE)
    target_compile_options(${target} PRIVATE
                           -fsanitize=${HGT_SANITIZE} -fno-sanitize-recover=all
                           -fno-omit-frame-pointer -UNDEBUG -O1 -g1
                           # GCC is wrong about it under sanitizers
                           $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(${target} PRIVATE -fsanitize=${HGT_SANITIZE})
  endif()
endfunction()

# hgt_folder(NAME [TORCH] [FOLDERS ...] [PUBLIC ...] [PRIVATE ...] [TEST_LIBRARIES ...])
# The library hgt_NAME (hgt::NAME where it is installed) of every source in this folder, and the
# test NAME_test of every *_test.cc beside them: a new file is built and tested without being listed.
#   TORCH     its sources include LibTorch, whose headers take long to compile and are precompiled
#   FOLDERS   subfolders that belong to the same library
#   PUBLIC, PRIVATE   what it links; dependencies point one way (docs/architecture.md)
function(hgt_folder name)
  cmake_parse_arguments(FOLDER "TORCH" "" "FOLDERS;PUBLIC;PRIVATE;TEST_LIBRARIES" ${ARGN})
  set(patterns *.cc)
  foreach(folder IN LISTS FOLDER_FOLDERS)
    list(APPEND patterns ${folder}/*.cc)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(NOT HGT_X86)
    list(FILTER sources EXCLUDE REGEX "_avx(2|512)\\.cc$")
  endif()

  set(library hgt_${name})
  add_library(${library} STATIC ${sources})
  add_library(hgt::${name} ALIAS ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PUBLIC ${FOLDER_PUBLIC} PRIVATE fmt::fmt ${FOLDER_PRIVATE})
  hgt_target_options(${library})
  if(FOLDER_TORCH)
    target_link_libraries(${library} PRIVATE OpenMP::OpenMP_CXX)
    hgt_precompile_torch(${library} hgt_model)
  endif()
  if(tests)
    set(torch)
    if(FOLDER_TORCH)
      set(torch TORCH)
    endif()
    hgt_test(${name}_test ${torch} SOURCES ${tests}
             LIBRARIES ${library} ${FOLDER_TEST_LIBRARIES} nlohmann_json::nlohmann_json)
  endif()
endfunction()

# LibTorch's headers are precompiled once, for `first`, and shared by all who ask for them.
function(hgt_precompile_torch target first)
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/hgt/model/torch.h ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()

# What most tests include takes longer to read than they do to compile: read once for the tests of
# LibTorch's folders, and once for all others.
function(hgt_precompile_test target torch)
  set(headers <gtest/gtest.h> <fmt/format.h> <nlohmann/json.hpp>
              <algorithm> <chrono> <filesystem> <fstream> <functional> <map> <random> <regex>
              <set> <sstream> <thread>)
  if(torch)
    hgt_precompile_torch(${target} model_test ${headers})
    return()
  endif()
  if(NOT TARGET hgt_test_headers)
    file(WRITE ${PROJECT_BINARY_DIR}/test_headers.cc "")
    add_library(hgt_test_headers STATIC ${PROJECT_BINARY_DIR}/test_headers.cc)
    target_link_libraries(hgt_test_headers PRIVATE OpenMP::OpenMP_CXX fmt::fmt GTest::gtest_main)
    hgt_test_options(hgt_test_headers)
    target_precompile_headers(hgt_test_headers PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM hgt_test_headers)
endfunction()

# Flags of every test.
function(hgt_test_options target)
  hgt_target_options(${target})
  # What is tested is optimized, the tests need not be. LibTorch's definition of the standard library's
  # binary interface reaches only some of them, but they share headers.
  target_compile_options(${target} PRIVATE -O0 ${TORCH_CXX_FLAGS})
  if(HGT_SANITIZE)
    target_compile_definitions(${target} PRIVATE HGT_SANITIZED)
  endif()
  if(HGT_SANITIZE MATCHES "undefined")  # nor need they be checked for it: 40 % of the time to compile
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
  endif()
endfunction()

# Kernels in the compiler's vector language: NAME_portable.cc, and on x86 NAME_avx2.cc and
# NAME_avx512.cc where they exist. They fuse multiplication and addition, and pass vectors to nobody
# outside. Sanitizers take minutes to compile them at -O3.
function(hgt_kernels name)
  set(options -ffp-contract=fast -Wno-psabi)
  if(NOT HGT_SANITIZE)
    list(APPEND options -O3)
  endif()
  foreach(set IN ITEMS portable avx2 avx512)
    set(flags_avx2 -mavx2 -mfma)
    set(flags_avx512 -mavx512f -mavx512vl -mavx512dq -mavx512bw -mfma)
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/${name}_${set}.cc PROPERTIES
      COMPILE_OPTIONS "${options};${flags_${set}}"
      SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()

# hgt_test(NAME [TORCH] SOURCES ... LIBRARIES ... [LABEL slow] [CORES n])
# A whole program is one test of CTest: to load LibTorch anew for each case takes longer than most
# cases do. CORES: how many a test keeps busy; threads that wait must not spin while others work.
function(hgt_test name)
  if(NOT HGT_TESTS)
    return()
  endif()
  cmake_parse_arguments(TEST "TORCH" "LABEL;CORES" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT TEST_LABEL)
    set(TEST_LABEL fast)
  endif()
  if(NOT TEST_CORES)
    set(TEST_CORES 1)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARIES} fmt::fmt GTest::gtest_main OpenMP::OpenMP_CXX)
  target_compile_definitions(${name} PRIVATE
    HGT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" HGT_SHARED_DIR="${HGT_SHARED}"
    HGT_PROGRAM="$<TARGET_FILE:hgt>")
  hgt_test_options(${name})
  hgt_precompile_test(${name} ${TEST_TORCH})
  # Graphs are brought to disk before they are renamed; many small ones are quicker in memory.
  set(test_folder ${PROJECT_BINARY_DIR})
  if(IS_DIRECTORY /dev/shm)
    set(test_folder /dev/shm)
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  # What the OpenMP runtime of clang keeps for its threads is no leak of ours.
  set_tests_properties(${name} PROPERTIES LABELS ${TEST_LABEL} PROCESSORS ${TEST_CORES} TIMEOUT 1200
    ENVIRONMENT "TEST_TMPDIR=${test_folder};GOMP_SPINCOUNT=1000;LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/leaks.txt")
endfunction()
