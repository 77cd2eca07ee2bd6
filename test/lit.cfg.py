# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The lit suite. Run by tools/scripts/check, by `ninja check`, and on parts by `lit -v build/test/<folder>`.
#
# Substitutions: %shared_inputs (with feature shared-inputs), %ptxas (with feature ptxas), %attn_root, %attn_build,
# %attn_tools_dir, %llvm_tools_dir, %cxx (the compiler of the build), %fake_cuda (a CUDA driver and a cuBLAS without a
# GPU), %invalid_ir (a plugin with a pass that leaves invalid IR), %suite_target (what tests compile for).
# Features: x86-64, x86-avx2, x86-avx512, uninstrumented, valgrind, shared-inputs, ptxas, gpu (a CUDA driver with a
# device).

import ctypes
import os
import platform
import re
import shutil
import subprocess

import lit.formats

config.name = "Attn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".ll", ".test"]
config.excludes = ["Inputs", "lib"]
config.test_source_root = os.path.join(config.attn_source_root, "test")
# Everything that a test writes (%t) goes into the build folder; the source tree may be read-only.
config.test_exec_root = config.attn_test_build_dir


def set_suite_target():
    """What tests compile for: the same code on every x86-64 host, whatever else its CPU has."""
    config.suite_target = "x86-64-v3" if "x86-avx2" in config.available_features else "host"


def add_tools():
    """Replaces each tool's name by its path, so that a test never takes a tool of the same name from PATH."""
    own = ["attn-opt", "attn-run", "attn-compile", "attn-import", "attn-bench", "attn-lsp-server", "attn-example-jit",
           "attn-test-run-kernel", "attn-test-emulate", "attn-test-fuzz", "attn-test-graphs"]
    llvm = ["FileCheck", "not", "count", "split-file", "mlir-opt", "mlir-translate", "llc", "opt"]
    for folder, tools in ((config.attn_tools_dir, own), (config.llvm_tools_dir, llvm)):
        for tool in tools:
            path = os.path.join(folder, tool)
            if os.path.exists(path):
                # Not part of a longer word, a path or an option.
                word = r"(?<![\w./%-])" + tool + r"(?![\w./-])"
                if tool == "attn-run":
                    # The suite's target, but where a command says another one.
                    config.substitutions.append((word + r"(?![^|&;]*--target)", f"{path} --target={config.suite_target}"))
                config.substitutions.append((word, path))
    path = os.pathsep.join([config.attn_tools_dir, config.llvm_tools_dir, config.environment["PATH"]])
    config.environment["PATH"] = path


def add_host_features():
    """x86-avx2 and x86-avx512 mean what the code generator means by them: every extension that it uses."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return
    config.available_features.add("x86-64")
    flags = set()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("flags"):
                    flags = set(line.partition(":")[2].split())
                    break
    except OSError:
        return
    if {"avx2", "fma", "f16c"} <= flags:
        config.available_features.add("x86-avx2")
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags:
        config.available_features.add("x86-avx512")


def add_instruction_counts():
    """uninstrumented: the code is what users get, no sanitizer's; valgrind: its instructions can be counted, too."""
    if config.attn_sanitize:
        return
    config.available_features.add("uninstrumented")
    if shutil.which("valgrind"):
        config.available_features.add("valgrind")


def add_shared_inputs():
    folder = os.path.normpath(os.path.join(config.attn_source_root, "..", "shared", "inputs"))
    if os.path.isdir(folder):
        config.available_features.add("shared-inputs")
        config.substitutions.append(("%shared_inputs", folder))


def add_ptxas():
    ptxas = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
    if ptxas:
        config.available_features.add("ptxas")
        config.substitutions.append(("%ptxas", ptxas))
        text = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=False).stdout
        version = re.search(r"V[0-9.]+", text)
        lit_config.note(f"ptxas {version.group() if version else 'of no version that it tells'}")


def add_gpu():
    """gpu: the CUDA driver is there and finds a device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return
    count = ctypes.c_int()
    if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0:
        config.available_features.add("gpu")


# The IR is verified behind each pass, and not only where users have it verified.
config.environment["ATTN_VERIFY_EACH"] = "1"
# glibc fills memory that is allocated or freed with a pattern: a value read from either is wrong, and not by chance right.
config.environment["MALLOC_PERTURB_"] = "128"
add_host_features()
set_suite_target()
config.substitutions.append(("%attn_root", config.attn_source_root))
config.substitutions.append(("%attn_build", config.attn_build_root))
config.substitutions.append(("%attn_tools_dir", config.attn_tools_dir))
config.substitutions.append(("%llvm_tools_dir", config.llvm_tools_dir))
config.substitutions.append(("%cxx", config.attn_cxx))
config.substitutions.append(("%suite_target", config.suite_target))
config.substitutions.append(("%fake_cuda", os.path.join(config.attn_build_root, "lib", "attn-test-fake-cuda.so")))
config.substitutions.append(("%invalid_ir", os.path.join(config.attn_build_root, "lib", "attn-test-invalid-ir.so")))
add_tools()
add_instruction_counts()
add_shared_inputs()
add_ptxas()
add_gpu()
