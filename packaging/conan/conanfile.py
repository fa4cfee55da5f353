"""Conan 2: Plait's C++ libraries, of the checkout that this file lies in."""

import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Plait(ConanFile):
    name = "plait"
    version = "0.1.0"
    description = "NumPy code, run as fused and compiled loops"
    license = "BSD-3-Clause"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "jit": [True, False]}
    default_options = {"shared": True, "jit": True}  # jit: by the LLVM 19 of the system, without which the build fails

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE"):
            copy(self, pattern, root, self.export_sources_folder)
        for folder in ("cmake", "include", "src", "tracer", "fusion", "codegen", "numpy_compat", "third_party"):
            copy(self, f"{folder}/*", root, self.export_sources_folder, excludes=("*.so", "*__pycache__*"))

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["PLAIT_LLVM"] = "REQUIRED" if self.options.jit else "OFF"
        toolchain.cache_variables["PLAIT_TESTS"] = False
        toolchain.cache_variables["PLAIT_SAMPLES"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install(component="plait")

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # Plait's own plaitConfig.cmake
        # Generators other than CMake's know the libraries by these.
        for component, library in (("plait", "plait"), ("plait_run", "plait_run")):
            info = self.cpp_info.components[component]
            info.libs = [library]
            info.builddirs = [os.path.join("lib", "cmake", "plait")]
            info.set_property("pkg_config_name", library)
            if not self.options.shared:
                info.system_libs = ["pthread", "dl", "m", "stdc++", "gomp"]
