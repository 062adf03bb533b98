# cmake --install: the header, the library, its man page, the CMake package "lnjudge" and lnjudge.pc.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME liblnjudge-dev)
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/lnjudge)
install(TARGETS lnjudge EXPORT lnjudge LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT liblnjudge NAMELINK_COMPONENT liblnjudge-dev)
install(FILES include/lnjudge.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES man/lnjudge.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(EXPORT lnjudge NAMESPACE lnjudge:: FILE lnjudge-targets.cmake
    DESTINATION ${package_directory})

configure_package_config_file(cmake/lnjudge-config.cmake.in
    ${CMAKE_CURRENT_BINARY_DIR}/lnjudge-config.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/lnjudge-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lnjudge-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/lnjudge-config-version.cmake DESTINATION ${package_directory})

file(RELATIVE_PATH pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/lnjudge.pc.in ${CMAKE_CURRENT_BINARY_DIR}/lnjudge.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lnjudge.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
