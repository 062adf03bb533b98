# Tests configuring without peers. Peers that are switched off or not found are named, and nothing of them is built.
# With ON a missing peer is an error, except for those that only a user can provide, which are found in the user's
# folder.
#     cmake -DSOURCE=DIR -DBINARY=DIR -DC_COMPILER=... -DCXX_COMPILER=... -P configure_test.cmake
function(configure result)
    file(REMOVE ${BINARY}/CMakeCache.txt)
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY} -G Ninja
        -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
        -DLNBENCH_TESTS=OFF ${ARGN}
        OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
    if(result STREQUAL "fails" AND status EQUAL 0 OR result STREQUAL "works" AND NOT status EQUAL 0)
        message(FATAL_ERROR "${ARGN}: status ${status}\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

function(says words)
    if(NOT output MATCHES "${words}")
        message(FATAL_ERROR "CMake does not say '${words}':\n${output}")
    endif()
endfunction()

function(builds_no_peer)
    file(STRINGS ${BINARY}/build.ninja found REGEX 
         "peers/(onednn|pytorch|xsmm|zendnn|lib[a-z]+_peer)\\.so")
    if(found)
        message(FATAL_ERROR "a peer is built: ${found}")
    endif()
endfunction()

set(no_added -DLNBENCH_XSMM_LIBRARY=${BINARY}/nowhere -DLNBENCH_ZENDNN_LIBRARY=${BINARY}/nowhere)
set(nowhere -DLNBENCH_DNNL_LIBRARY=${BINARY}/nowhere -DLNBENCH_TORCH_LIBRARY=${BINARY}/nowhere
    ${no_added})
file(MAKE_DIRECTORY ${BINARY}/lib/peers)
file(WRITE ${BINARY}/lib/peers/onednn.so "an earlier build's")
configure(works ${nowhere})
says("Peer oneDNN 2 or 3: not found, left out \\(Debian: libdnnl-dev\\)")
says("Peer PyTorch: not found, left out \\(Debian: libtorch-dev\\)")
says("Peer libxsmm 2: not found, left out \\(to add it: docs/install.md\\)")
says("Peer ZenDNN 6: not found, left out \\(to add it: docs/install.md\\)")
builds_no_peer()
if(EXISTS ${BINARY}/lib/peers/onednn.so)
    message(FATAL_ERROR "an earlier build's peer would still be loaded")
endif()
configure(works -DLNBENCH_PEERS=OFF)
says("Peers: left out \\(LNBENCH_PEERS=OFF")
builds_no_peer()
configure(fails -DLNBENCH_PEERS=ON ${nowhere})
says("LNBENCH_PEERS=ON: oneDNN 2 or 3 was not found \\(Debian:[ \n]+libdnnl-dev\\)")
configure(fails -DLNBENCH_PEERS=perhaps)
says("LNBENCH_PEERS=perhaps: AUTO, ON or OFF was expected")

# Makes two folders with the files that CMake looks for, which are empty: Debian's, with an old libxsmm, and a
# user's.
set(debian ${BINARY}/debian)
set(user ${BINARY}/user)
foreach(empty debian/include/ATen/ops/native_layer_norm.h debian/lib/libdnnl.so
        debian/lib/libtorch_cpu.so debian/lib/libc10.so debian/include/libxsmm.h
        debian/lib/libxsmm.so user/include/libxsmm/libxsmm.h user/lib/libxsmm.so
        user/zendnnl/include/lowoha_operators/normalization/lowoha_normalization.hpp
        user/zendnnl/include/zendnnl_version.hpp user/zendnnl/lib/libzendnnl.so
        user/deps/json/include/json.hpp)
    file(WRITE ${BINARY}/${empty} "")
endforeach()
file(WRITE ${debian}/include/oneapi/dnnl/dnnl_version.h "#define DNNL_VERSION_MAJOR 3\n")
file(WRITE ${debian}/include/torch/version.h "#define TORCH_VERSION_MAJOR 2\n"
     "#define TORCH_VERSION_MINOR 9\n#define TORCH_VERSION_PATCH 1\n")
file(WRITE ${debian}/include/libxsmm_version.h "#define LIBXSMM_CONFIG_VERSION_MAJOR 1\n")
file(WRITE ${user}/include/libxsmm/libxsmm_version.h "#define LIBXSMM_CONFIG_VERSION_MAJOR 2\n")
configure(works -DLNBENCH_PEERS=ON -DCMAKE_PREFIX_PATH=${debian}
          -DLNBENCH_ZENDNN_LIBRARY=${BINARY}/nowhere)
says("Peer PyTorch 2.9.1: ${debian}/lib/libtorch_cpu.so")
says("Peer libxsmm 2: not found, left out")
says("Peer ZenDNN 6: not found, left out")
configure(works "-DCMAKE_PREFIX_PATH=${user}")
says("Peer libxsmm: ${user}/lib/libxsmm.so")
says("Peer ZenDNN: ${user}/zendnnl/lib/libzendnnl.so")
file(STRINGS ${BINARY}/build.ninja found REGEX "/deps/json/include")
if(NOT found)
    message(FATAL_ERROR "ZenDNN's own headers are not found")
endif()
