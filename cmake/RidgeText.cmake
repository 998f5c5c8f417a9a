# Text of src/execute: patterns of tokenizers, and Unicode forms.
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
list(APPEND RIDGE_EXECUTE_LIBRARIES PkgConfig::PCRE2 PkgConfig::UTF8PROC)
