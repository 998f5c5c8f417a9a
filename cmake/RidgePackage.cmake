# Debian packages, one a component: `make deb`.
#   ridge          the program, man pages, completions
#   libridge0      the library
#   libridge-dev   headers, pkg-config file, CMake package
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ridge)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Ridge developers <ridge@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Plans, prices and runs large transformers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME ridge)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libridge${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libridge-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libridge${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "Which layout, how fast, how much memory and money, what is the bottleneck:\n for training and serving transformers on TPUs and GPUs.")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The shared library of Ridge.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers and build files of the library of Ridge.")
include(CPack)
