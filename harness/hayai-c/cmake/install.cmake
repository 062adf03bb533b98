# SPDX-License-Identifier: Apache-2.0
# A component of its own; as a part of another project it is installed only when it is asked for by
# name: cmake --install build --component hayai
set(HAYAI_COMPONENT COMPONENT hayai)
if(NOT HAYAI_RUNTIME_COMPONENT)
    set(HAYAI_RUNTIME_COMPONENT hayai)
endif()
# What programs need at run time of the shared library; a packager may name another component.
set(HAYAI_RUNTIME COMPONENT ${HAYAI_RUNTIME_COMPONENT} NAMELINK_COMPONENT hayai)
if(NOT HAYAI_ALONE)
    list(APPEND HAYAI_COMPONENT EXCLUDE_FROM_ALL)
    list(APPEND HAYAI_RUNTIME EXCLUDE_FROM_ALL)
endif()
set(HAYAI_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/hayai)
set(HAYAI_DOC_DIR ${CMAKE_INSTALL_DATADIR}/doc/hayai)
get_target_property(HAYAI_BENCHMARK_IMPORTED benchmark::benchmark IMPORTED)
if(HAYAI_BENCHMARK_IMPORTED) # else the outer project installs both, or neither
    install(TARGETS hayai EXPORT hayaiTargets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${HAYAI_COMPONENT}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${HAYAI_RUNTIME})
    install(EXPORT hayaiTargets NAMESPACE hayai:: DESTINATION ${HAYAI_CMAKE_DIR} ${HAYAI_COMPONENT})
else()
    install(TARGETS hayai
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${HAYAI_COMPONENT}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${HAYAI_RUNTIME})
endif()
install(FILES hayai.h hayai_benchmark.h hayai_report.h hayai_macros.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${HAYAI_COMPONENT})
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${HAYAI_DOC_DIR} ${HAYAI_COMPONENT})
install(DIRECTORY docs DESTINATION ${HAYAI_DOC_DIR} ${HAYAI_COMPONENT})
install(FILES man/hayai.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 ${HAYAI_COMPONENT})
configure_package_config_file(cmake/hayaiConfig.cmake.in hayaiConfig.cmake
    INSTALL_DESTINATION ${HAYAI_CMAKE_DIR})
write_basic_package_version_file(hayaiConfigVersion.cmake VERSION ${PROJECT_VERSION}
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hayaiConfig.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/hayaiConfigVersion.cmake
        DESTINATION ${HAYAI_CMAKE_DIR} ${HAYAI_COMPONENT})

# The pkg-config file finds its prefix from its own place, so that an installation can be moved.
# Google Benchmark's own file may call its version something else than its CMake package does
# ("v1.8.0", "0.0.0"), so its word is taken.
set(HAYAI_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH HAYAI_PC_UP /${HAYAI_PC_DIR} /)
string(REGEX REPLACE "/$" "" HAYAI_PC_UP "${HAYAI_PC_UP}")
set(HAYAI_PC_BENCHMARK benchmark)
find_file(HAYAI_BENCHMARK_PC benchmark.pc HINTS ${benchmark_DIR}/../../pkgconfig
    PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig /usr/lib/pkgconfig NO_CACHE)
if(HAYAI_BENCHMARK_PC)
    file(STRINGS ${HAYAI_BENCHMARK_PC} HAYAI_PC_LINE REGEX "^Version:")
    string(REGEX REPLACE "^Version: *" "" HAYAI_PC_VERSION "${HAYAI_PC_LINE}")
    string(STRIP "${HAYAI_PC_VERSION}" HAYAI_PC_VERSION)
    if(NOT HAYAI_PC_VERSION STREQUAL "")
        set(HAYAI_PC_BENCHMARK "benchmark = ${HAYAI_PC_VERSION}")
    endif()
endif()
# The C++ runtime library that the compiler links: libstdc++ or libc++.
set(HAYAI_PC_RUNTIME "")
foreach(library IN LISTS CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
    if(library MATCHES "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi)$")
        string(APPEND HAYAI_PC_RUNTIME " -l${library}")
    endif()
endforeach()
set(HAYAI_PC_LIBRARIES "-L\${libdir} -lhayai")
if(HAYAI_TYPE STREQUAL "SHARED_LIBRARY")
    set(HAYAI_PC_REQUIRES "")
else()
    set(HAYAI_PC_REQUIRES "Requires: ${HAYAI_PC_BENCHMARK}")
    string(APPEND HAYAI_PC_LIBRARIES "${HAYAI_PC_RUNTIME} -lm -pthread")
endif()
configure_file(cmake/hayai.pc.in hayai.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hayai.pc DESTINATION ${HAYAI_PC_DIR} ${HAYAI_COMPONENT})
