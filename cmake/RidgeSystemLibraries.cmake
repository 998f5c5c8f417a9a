# The C libraries that layers use, as the system has them.
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
# Without it traces of Nsight Systems are not read, which is then said.
pkg_check_modules(SQLITE IMPORTED_TARGET sqlite3)
# Without it XML of a machine's topology is not read, which is then said.
pkg_check_modules(EXPAT IMPORTED_TARGET expat)
# The server of the web page; without it `ridge ui` says that there is none.
pkg_check_modules(MICROHTTPD IMPORTED_TARGET libmicrohttpd)
