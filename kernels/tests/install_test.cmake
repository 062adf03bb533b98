# Installs the library into an empty place, then builds and runs a user of it.
#   cmake -DBUILD=... -DSOURCE=... -DWORK=... -DGENERATOR=... -DHAS_PKG_CONFIG=...
#         -P install_test.cmake
file(REMOVE_RECURSE ${WORK})

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

foreach(component liblayernorm liblayernorm-dev)
    run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component ${component})
endforeach()
set(common -G ${GENERATOR} -S ${SOURCE}/consumer -DCMAKE_C_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} ${common} -B ${WORK}/package -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/package)
run(${WORK}/package/consumer)
run(${WORK}/package/consumer_static)
if(HAS_PKG_CONFIG)
    file(GLOB_RECURSE pc ${WORK}/prefix/layernorm.pc)
    get_filename_component(pc ${pc} DIRECTORY)
    run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc} ${CMAKE_COMMAND} ${common}
        -B ${WORK}/pkg-config -DCONSUMER_PKG_CONFIG=ON)
    run(${CMAKE_COMMAND} --build ${WORK}/pkg-config)
    get_filename_component(libraries ${pc} DIRECTORY)
    run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${WORK}/pkg-config/consumer)
endif()
