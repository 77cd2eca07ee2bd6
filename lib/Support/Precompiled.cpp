// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The precompiled header of the libraries is built from this file, which has nothing of its own.
