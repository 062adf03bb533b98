# cmake --install: headers, both libraries, the CMake package "layernorm" and layernorm.pc.
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME liblayernorm-dev)
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/layernorm)
install(TARGETS layernorm layernorm_static layernorm_headers EXPORT layernorm
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT liblayernorm
        NAMELINK_COMPONENT liblayernorm-dev
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/layernorm.h include/layernorm_plugin.h include/rmsnorm.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT layernorm NAMESPACE layernorm:: FILE layernorm-targets.cmake
    DESTINATION ${package_directory})

configure_package_config_file(cmake/layernorm-config.cmake.in
    ${CMAKE_CURRENT_BINARY_DIR}/layernorm-config.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/layernorm-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/layernorm-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/layernorm-config-version.cmake DESTINATION ${package_directory})

file(RELATIVE_PATH pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/layernorm.pc.in ${CMAKE_CURRENT_BINARY_DIR}/layernorm.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/layernorm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
