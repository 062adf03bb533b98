# The build without the peers: left out, or not found, they are named and nothing of them is built;
# asked for and not found, that is an error.
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
    file(STRINGS ${BINARY}/build.ninja found REGEX "peers/(onednn|pytorch|libpytorch_peer)\\.so")
    if(found)
        message(FATAL_ERROR "a peer is built: ${found}")
    endif()
endfunction()

set(nowhere -DLNBENCH_DNNL_LIBRARY=${BINARY}/nowhere -DLNBENCH_TORCH_LIBRARY=${BINARY}/nowhere)
file(MAKE_DIRECTORY ${BINARY}/lib/peers)
file(WRITE ${BINARY}/lib/peers/onednn.so "an earlier build's")
configure(works ${nowhere})
says("Peer oneDNN 2 or 3: not found, left out \\(Debian: libdnnl-dev\\)")
says("Peer PyTorch: not found, left out \\(Debian: libtorch-dev\\)")
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
