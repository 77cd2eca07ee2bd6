# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The GoogleTest binaries of build/test/Unit, found by the lit run of the suite above this folder.

import os

import lit.formats

config.name = "Attn-Unit"
config.suffixes = []
config.test_source_root = os.path.join(config.attn_test_build_dir, "Unit")
config.test_exec_root = config.test_source_root
config.test_format = lit.formats.GoogleTest("", "Test")
