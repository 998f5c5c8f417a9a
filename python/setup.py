"""A wheel with the shared library in it: for any Python 3, for this kind of machine alone."""

import pathlib
import sysconfig

import setuptools
from wheel.bdist_wheel import bdist_wheel


class PlatformWheel(bdist_wheel):
    """Of any Python, since the library is called through ctypes."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        return "py3", "none", platform


VERSION = pathlib.Path(__file__).with_name("VERSION").read_text(encoding="utf-8").strip()
setuptools.setup(version=VERSION, cmdclass={"bdist_wheel": PlatformWheel})
