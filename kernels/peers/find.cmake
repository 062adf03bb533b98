# Which of the peers are there.

# lnbench_peer(NAME file...): a plugin, or a library that one opens.
function(lnbench_peer name)
    add_library(${name} MODULE ${ARGN})
    set_target_properties(${name} PROPERTIES PREFIX ""
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
        LIBRARY_OUTPUT_DIRECTORY ${peers_directory}
        INSTALL_RPATH_USE_LINK_PATH ON)
    target_link_libraries(${name} PRIVATE layernorm_headers lnbench_flags)
    install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lnbench/peers)
endfunction()

# The package is Debian's. Without one only a user can add the library, and ON does without it.
function(lnbench_peer_absent name what package)
    if(LNBENCH_PEERS STREQUAL "ON" AND package)
        message(FATAL_ERROR "LNBENCH_PEERS=ON: ${what} was not found (Debian: ${package})")
    endif()
    file(REMOVE ${peers_directory}/${name}.so ${peers_directory}/lib${name}_peer.so)
    if(package)
        string(PREPEND package "Debian: ")
    else()
        set(package "to add it: docs/install.md")
    endif()
    message(STATUS "Peer ${what}: not found, left out (${package})")
endfunction()

find_path(LNBENCH_DNNL_INCLUDE oneapi/dnnl/dnnl_version.h)
find_library(LNBENCH_DNNL_LIBRARY dnnl)
find_path(LNBENCH_TORCH_INCLUDE ATen/ops/native_layer_norm.h)
find_path(LNBENCH_TORCH_API_INCLUDE torch/version.h
          PATH_SUFFIXES torch/csrc/api/include HINTS ${LNBENCH_TORCH_INCLUDE})
find_library(LNBENCH_TORCH_LIBRARY torch_cpu)
find_library(LNBENCH_C10_LIBRARY c10)
find_path(LNBENCH_XSMM_INCLUDE libxsmm.h PATH_SUFFIXES libxsmm)
find_library(LNBENCH_XSMM_LIBRARY xsmm)
find_path(LNBENCH_ZENDNN_INCLUDE lowoha_operators/normalization/lowoha_normalization.hpp
          PATH_SUFFIXES zendnnl/include)
find_library(LNBENCH_ZENDNN_LIBRARY zendnnl PATH_SUFFIXES zendnnl/lib)
mark_as_advanced(LNBENCH_DNNL_INCLUDE LNBENCH_DNNL_LIBRARY LNBENCH_TORCH_INCLUDE
                 LNBENCH_TORCH_API_INCLUDE LNBENCH_TORCH_LIBRARY LNBENCH_C10_LIBRARY
                 LNBENCH_XSMM_INCLUDE LNBENCH_XSMM_LIBRARY
                 LNBENCH_ZENDNN_INCLUDE LNBENCH_ZENDNN_LIBRARY)

# macro_number(VARIABLE FILE MACRO): the number that a header gives a macro.
function(macro_number variable file macro)
    file(STRINGS ${file} line REGEX "^#define ${macro} +[0-9]+" LIMIT_COUNT 1)
    string(REGEX REPLACE ".* ([0-9]+).*" "\\1" number "${line}")
    set(${variable} "${number}" PARENT_SCOPE)
endfunction()

set(dnnl_version 0)
if(EXISTS "${LNBENCH_DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h")
    macro_number(dnnl_version ${LNBENCH_DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h DNNL_VERSION_MAJOR)
endif()
if(EXISTS "${LNBENCH_DNNL_LIBRARY}" AND dnnl_version MATCHES "^[23]$")
    lnbench_peer(onednn onednn.c)
    target_include_directories(onednn SYSTEM PRIVATE ${LNBENCH_DNNL_INCLUDE})
    target_link_libraries(onednn PRIVATE ${LNBENCH_DNNL_LIBRARY} gomp)
    message(STATUS "Peer oneDNN: ${LNBENCH_DNNL_LIBRARY}")
else()
    lnbench_peer_absent(onednn "oneDNN 2 or 3" libdnnl-dev)
endif()

if(LNBENCH_TORCH_INCLUDE AND LNBENCH_TORCH_API_INCLUDE AND EXISTS "${LNBENCH_TORCH_LIBRARY}"
   AND EXISTS "${LNBENCH_C10_LIBRARY}")
    set(version_header ${LNBENCH_TORCH_API_INCLUDE}/torch/version.h)
    macro_number(torch_major ${version_header} TORCH_VERSION_MAJOR)
    macro_number(torch_minor ${version_header} TORCH_VERSION_MINOR)
    macro_number(torch_patch ${version_header} TORCH_VERSION_PATCH)
    set(torch_version ${torch_major}.${torch_minor}.${torch_patch})
    # The kernel below the public call is no public API: only where it was seen to be reached.
    set(has_kernel 0)
    if(torch_version VERSION_GREATER_EQUAL 1.13 AND torch_version VERSION_LESS 1.14)
        set(has_kernel 1)
    endif()

    lnbench_peer(pytorch torch_plugin.c)
    target_compile_definitions(pytorch PRIVATE _GNU_SOURCE LN_TORCH_HAS_KERNEL=${has_kernel}
        LN_TORCH_MAJOR=${torch_major} LN_TORCH_MINOR=${torch_minor} LN_TORCH_PATCH=${torch_patch})
    target_link_libraries(pytorch PRIVATE ${CMAKE_DL_LIBS})
    lnbench_peer(libpytorch_peer torch.cpp)
    target_include_directories(libpytorch_peer SYSTEM PRIVATE
        ${LNBENCH_TORCH_INCLUDE} ${LNBENCH_TORCH_API_INCLUDE})
    # The last two choose among the library's tables of kernels, as they were when it was built.
    target_compile_definitions(libpytorch_peer PRIVATE LN_TORCH_HAS_KERNEL=${has_kernel}
        $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:HAVE_AVX2_CPU_DEFINITION>
        $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:HAVE_AVX512_CPU_DEFINITION>)
    target_link_libraries(libpytorch_peer PRIVATE ${LNBENCH_TORCH_LIBRARY} ${LNBENCH_C10_LIBRARY})
    message(STATUS "Peer PyTorch ${torch_version}: ${LNBENCH_TORCH_LIBRARY}")
else()
    lnbench_peer_absent(pytorch "PyTorch" libtorch-dev)
endif()

set(xsmm_version 0)
if(EXISTS "${LNBENCH_XSMM_INCLUDE}/libxsmm_version.h")
    macro_number(xsmm_version
                 ${LNBENCH_XSMM_INCLUDE}/libxsmm_version.h LIBXSMM_CONFIG_VERSION_MAJOR)
endif()
if(EXISTS "${LNBENCH_XSMM_LIBRARY}" AND xsmm_version EQUAL 2)
    lnbench_peer(xsmm xsmm_plugin.c)
    lnbench_peer(libxsmm_peer xsmm.c)
    foreach(part xsmm libxsmm_peer)
        target_compile_definitions(${part} PRIVATE _GNU_SOURCE)
        target_include_directories(${part} SYSTEM PRIVATE ${LNBENCH_XSMM_INCLUDE})
        target_link_libraries(${part} PRIVATE ${CMAKE_DL_LIBS})
    endforeach()
    target_link_libraries(libxsmm_peer PRIVATE ${LNBENCH_XSMM_LIBRARY} m pthread rt)
    message(STATUS "Peer libxsmm: ${LNBENCH_XSMM_LIBRARY}")
else()
    lnbench_peer_absent(xsmm "libxsmm 2" "")
endif()

# Its headers include those of what it was built with, which are installed beside it.
if(EXISTS "${LNBENCH_ZENDNN_INCLUDE}/zendnnl_version.hpp" AND EXISTS "${LNBENCH_ZENDNN_LIBRARY}")
    file(GLOB zendnn_needs ${LNBENCH_ZENDNN_INCLUDE}/../../deps/*/include)
    lnbench_peer(zendnn zendnn.cpp)
    target_include_directories(zendnn SYSTEM PRIVATE ${LNBENCH_ZENDNN_INCLUDE} ${zendnn_needs})
    target_link_libraries(zendnn PRIVATE ${LNBENCH_ZENDNN_LIBRARY})
    message(STATUS "Peer ZenDNN: ${LNBENCH_ZENDNN_LIBRARY}")
else()
    lnbench_peer_absent(zendnn "ZenDNN 6" "")
endif()
