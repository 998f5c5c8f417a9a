#!/usr/bin/env python3
"""What `make install` puts down is whole: a C program finds the library through pkg-config
and through CMake, builds against the installed headers alone, and runs.

    tests/unit/test_install.py --build DIR --cc COMPILER [--cflags FLAGS]
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(words, **more):
    """The output of a command that must succeed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_example(binary, prefix):
    """The example prints a count, then the object of `ridge train --json`."""
    environment = dict(os.environ, LD_LIBRARY_PATH=str(next(prefix.glob("lib/**/libridge.so")).parent))
    text = run([binary], env=environment)
    count, _, rest = text.partition("\n")
    assert count == "8030261248 parameters", count
    answer = json.loads(rest)
    assert answer["verb"] == "train" and answer["layouts"], rest[:200]


def build_by_pkg_config(prefix, work, options):
    source = next(prefix.glob("share/doc/**/library.c"))
    folder = next(prefix.glob("lib/**/pkgconfig"))
    environment = dict(os.environ, PKG_CONFIG_PATH=str(folder))
    flags = run(["pkg-config", "--cflags", "--libs", "ridge"], env=environment).split()
    assert run(["pkg-config", "--modversion", "ridge"], env=environment).strip()
    binary = work / "by_pkg_config"
    run([options.cc, *options.cflags.split(), "-std=c17", source, *flags, "-o", binary])
    return binary


def build_by_cmake(prefix, work, options):
    source = next(prefix.glob("share/doc/**/library.c"))
    (work / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(user LANGUAGES C)\n"
        "find_package(Ridge 0.1 REQUIRED)\n"
        f"add_executable(user {source})\n"
        "target_link_libraries(user PRIVATE Ridge::ridge)\n"
    )
    run(["cmake", "-S", work, "-B", work / "build", "-G", "Ninja",
         f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={options.cc}",
         f"-DCMAKE_C_FLAGS={options.cflags}"])
    run(["cmake", "--build", work / "build"])
    return work / "build" / "user"


def check_files(prefix):
    """What people look for beside the library."""
    for pattern in ("bin/ridge", "share/man/man1/ridge.1", "share/man/man1/ridge-train.1",
                    "share/bash-completion/completions/ridge", "share/zsh/site-functions/_ridge",
                    "share/fish/vendor_completions.d/ridge.fish", "include/ridge/plan.h"):
        assert (prefix / pattern).stat().st_size > 0, pattern
    version = run([prefix / "bin/ridge", "--version"])
    assert version.startswith("ridge "), version


def check_names(prefix):
    """The library exports what its headers declare and its data, nothing of its inside."""
    library = next(prefix.glob("lib/**/libridge.so"))
    text = run(["nm", "-D", "--defined-only", library])
    headers = "".join(path.read_text() for path in prefix.glob("include/ridge/*.h"))
    declared = set(re.findall(r"\bridge_\w+", headers))
    exported = {line.split()[-1] for line in text.splitlines()}
    assert "ridge_train_search" in exported, text[:200]
    inside = [name for name in exported - declared if not name.endswith("_data")]
    assert not inside, sorted(inside)[:5]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--build", required=True)
    arguments.add_argument("--cc", required=True)
    arguments.add_argument("--cflags", default="")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "prefix"
        run(["cmake", "--install", options.build, "--prefix", prefix], cwd=ROOT)
        check_files(prefix)
        check_names(prefix)
        for build in (build_by_pkg_config, build_by_cmake):
            work = pathlib.Path(folder) / build.__name__
            work.mkdir()
            check_example(build(prefix, work, options), prefix)


if __name__ == "__main__":
    main()
