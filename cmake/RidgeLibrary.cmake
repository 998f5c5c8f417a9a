# The installed library: libridge.so of all layers, its headers, a pkg-config file and a
# CMake package. It exports the names of its headers alone: ridge_ and a letter.
set(layers)
set(objects)
foreach(layer base hardware model program shard cost simulate plan execute profile report cli)
    if(TARGET ridge_${layer})
        list(APPEND layers ridge_${layer})
        list(APPEND objects $<TARGET_OBJECTS:ridge_${layer}>)
    endif()
endforeach()

set(exports ${CMAKE_SOURCE_DIR}/cmake/ridge.map)
add_library(libridge SHARED ${objects})
add_library(Ridge::ridge ALIAS libridge)
set_target_properties(
    libridge
    PROPERTIES OUTPUT_NAME ridge
               EXPORT_NAME ridge
               LINKER_LANGUAGE C
               VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}
               LINK_DEPENDS ${exports}
               LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
# What the layers need from outside; their own objects are all there already.
target_link_libraries(libridge PRIVATE ${layers})
target_link_options(libridge PRIVATE LINKER:--version-script=${exports})
target_include_directories(libridge INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Ridge)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/RidgeConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
# Found from where it lies, wherever that is moved.
file(RELATIVE_PATH RIDGE_PREFIX_OF_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_SOURCE_DIR}/cmake/ridge.pc.in ${CMAKE_BINARY_DIR}/ridge.pc @ONLY)

install(TARGETS libridge EXPORT RidgeTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
                NAMELINK_COMPONENT development)
install(EXPORT RidgeTargets FILE RidgeConfig.cmake NAMESPACE Ridge::
        DESTINATION ${package_dir} COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/RidgeConfigVersion.cmake DESTINATION ${package_dir}
        COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/ridge.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ridge DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development)
install(FILES ${CMAKE_SOURCE_DIR}/examples/library.c DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT development)
