//===- CommandLine.cpp - options of the tools --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommandLine.h"

#include "CrashReport.h"
#include "OutputFile.h"

#include "llvm/ADT/STLExtras.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace attn;
namespace cl = llvm::cl;

void tool::dropLibraryOptions() {
  llvm::SmallVector<cl::Option *> dropped;
  for (const auto &entry : cl::getRegisteredOptions())
    if (!llvm::is_contained({"help", "help-list", "help-hidden", "help-list-hidden", "version"}, entry.first))
      dropped.push_back(entry.second);
  for (cl::Option *option : dropped)
    option->removeArgument();
}

void tool::startTool(const char *program) {
  // The lowest free number is taken, so those below are in use. Each is opened for what it is not used for.
  for (int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(file, F_GETFD) == -1)
      static_cast<void>(open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  // A limit of a file's size is an error of writing, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  reportCrashes(program);
}

static int printError(const Error &error) {
  std::string place = error.location.str();
  std::fprintf(stderr, "%s%serror: %s\n", place.c_str(), place.empty() ? "" : ": ", error.message.c_str());
  return error.code == ErrorCode::Internal ? tool::internalErrorCode : 1;
}

int tool::exitCode(const Status &status) {
  Status printed = flushStdout();
  if (!status)
    return printError(status.error());
  return printed ? 0 : printError(printed.error());
}
