//===- emulate.cpp - runs a kernel of device LLVM IR on the CPU ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-test-emulate kernel.ll --kernel=name --grid=2,1,1 --block=32 --shared=1024 <parameter>...
// A parameter is
//   i32=5, i64=-1, f32=0.5, f64=2                 a value
//   in:f32:64=iota, out:f32:64, inout:i32:8=7     a pointer to that many numbers; what is `out` is printed
//   map:bf16:64x128:box=64x8:swizzle=128=iota     a tensor map, innermost dimension first
//   map-out:f32:8x8:box=8x8:swizzle=0             the same, printed
// Fills: iota (0, 1, ...), random (seeded multiples of 1/8 in [-2, 2)), a number; out begins as NaN (integers: -1).
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Emulator.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <deque>

using namespace attn::emulator;
namespace cl = llvm::cl;

static cl::opt<std::string> inputFile(cl::Positional, cl::Required, cl::desc("<kernel.ll>"));
static cl::list<std::string> parameterTexts(cl::Positional, cl::desc("<parameters>"));
static cl::opt<std::string> kernelName("kernel", cl::desc("The kernel; default: kernel"), cl::init("kernel"));
static cl::list<int64_t> grid("grid", cl::CommaSeparated, cl::desc("Blocks: x,y,z"));
static cl::list<int64_t> block("block", cl::CommaSeparated, cl::desc("Threads of a block: x,y,z"));
static cl::opt<int64_t> sharedBytes("shared", cl::desc("Bytes of dynamic shared memory"), cl::init(0));
static cl::opt<bool> isEager("eager", cl::desc("Asynchronous copies happen at once"));
static cl::opt<Order> order("order", cl::desc("Which thread runs next"), cl::init(Order::Fifo),
                            cl::values(clEnumValN(Order::Fifo, "fifo", "the first that could"),
                                       clEnumValN(Order::Lifo, "lifo", "the last"),
                                       clEnumValN(Order::Random, "random", "any")));
static cl::opt<uint64_t> seed("seed", cl::desc("For the random order"), cl::init(1));
static cl::opt<int64_t> workers("workers", cl::desc("Blocks that run at once; 0: as many as cores"), cl::init(0));
static cl::opt<bool> checks("checks", cl::desc("Checks races and uninitialised reads"), cl::init(true));
static cl::opt<bool> printsCounters("counters", cl::desc("Prints what was counted"));
static cl::opt<bool> runsAllModes("all-modes",
                                  cl::desc("Runs {eager, lazy} x {fifo, lifo, random}, with a line for each"));

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {
enum class Type { I32, I64, F16, Bf16, F32, F64 };

/// Memory of a parameter.
struct Buffer {
  Type type;
  size_t count;
  std::string fill;
  bool isPrinted;
  std::vector<char> storage;
  char *data;
};
} // namespace

static size_t getBytes(Type type) {
  switch (type) {
  case Type::F16:
  case Type::Bf16:
    return 2;
  case Type::I64:
  case Type::F64:
    return 8;
  default:
    return 4;
  }
}

[[noreturn]] static void fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  std::exit(2);
}

static Type parseType(llvm::StringRef text) {
  static const std::pair<const char *, Type> types[] = {{"i32", Type::I32},   {"i64", Type::I64}, {"f16", Type::F16},
                                                        {"bf16", Type::Bf16}, {"f32", Type::F32}, {"f64", Type::F64}};
  for (auto [name, type] : types)
    if (text == name)
      return type;
  fail("expects i32, i64, f16, bf16, f32 or f64, but got '" + text + "'");
}

static uint64_t toBits(llvm::APFloat value, const llvm::fltSemantics &semantics) {
  bool losesInfo;
  value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value.bitcastToAPInt().getZExtValue();
}

static const llvm::fltSemantics &getSemantics(Type type) {
  switch (type) {
  case Type::F16:
    return llvm::APFloat::IEEEhalf();
  case Type::Bf16:
    return llvm::APFloat::BFloat();
  case Type::F32:
    return llvm::APFloat::IEEEsingle();
  default:
    return llvm::APFloat::IEEEdouble();
  }
}

static bool isInteger(Type type) { return type == Type::I32 || type == Type::I64; }

/// The bits of a number, as little-endian bytes.
static uint64_t encode(Type type, double value) {
  if (isInteger(type))
    return uint64_t(int64_t(std::isnan(value) ? -1.0 : value));
  return toBits(llvm::APFloat(value), getSemantics(type));
}

static double decode(Type type, const char *data) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, getBytes(type));
  if (type == Type::I32)
    return int32_t(bits);
  if (type == Type::I64)
    return double(int64_t(bits));
  llvm::APFloat value(getSemantics(type), llvm::APInt(getBytes(type) * 8, bits));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

static double parseNumber(llvm::StringRef text) {
  double value;
  if (text.getAsDouble(value))
    fail("expects a number, but got '" + text + "'");
  return value;
}

static void fillBuffer(Buffer &buffer) {
  uint64_t state = 1;
  for (size_t k = 0; k < buffer.count; ++k) {
    double value = NAN;
    state = state * 6364136223846793005 + 1442695040888963407;
    if (buffer.fill == "iota")
      value = double(k);
    else if (buffer.fill == "random")
      value = double(state >> 59) / 8 - 2;
    else if (!buffer.fill.empty())
      value = parseNumber(buffer.fill);
    uint64_t bits = encode(buffer.type, value);
    std::memcpy(buffer.data + k * getBytes(buffer.type), &bits, getBytes(buffer.type));
  }
}

static Buffer makeBuffer(Type type, size_t count, llvm::StringRef fill, bool isPrinted) {
  Buffer buffer = {type, count, fill.str(), isPrinted, std::vector<char>(count * getBytes(type) + 256), nullptr};
  auto address = reinterpret_cast<uintptr_t>(buffer.storage.data());
  buffer.data = buffer.storage.data() + (256 - address % 256) % 256;
  return buffer;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

namespace {
struct Arguments {
  // Deques: parameters point into them.
  std::deque<Buffer> buffers;
  std::deque<uint64_t> values;
  std::deque<attn_rt_tensor_map> maps;
  std::vector<Parameter> parameters;

  void add(llvm::StringRef text);
  void addMap(llvm::StringRef text);
  void addBuffer(llvm::StringRef text);
};
} // namespace

static std::vector<int64_t> parseSizes(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, 'x');
  std::vector<int64_t> sizes;
  for (llvm::StringRef part : parts)
    sizes.push_back(int64_t(parseNumber(part)));
  return sizes;
}

/// map:<type>:<sizes>:box=<sizes>:swizzle=<bytes>[=<fill>]
void Arguments::addMap(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ':');
  if (parts.size() != 5 || !parts[3].consume_front("box=") || !parts[4].consume_front("swizzle="))
    fail("expects map:<type>:<sizes>:box=<sizes>:swizzle=<bytes>[=<fill>], but got '" + text + "'");
  auto [swizzle, fill] = parts[4].split('=');
  std::vector<int64_t> sizes = parseSizes(parts[2]), box = parseSizes(parts[3]);
  if (sizes.size() != box.size() || sizes.size() > 5)
    fail("expects as many box sizes as sizes, at most 5, in '" + text + "'");
  attn_rt_tensor_map map = {};
  map.rank = int32_t(sizes.size());
  Type type = parseType(parts[1]);
  map.element_bytes = int32_t(getBytes(type));
  int64_t stride = map.element_bytes;
  for (size_t k = 0; k < sizes.size(); ++k) {
    map.sizes[k] = sizes[k];
    map.strides[k] = stride;
    stride *= sizes[k];
    map.box[k] = int32_t(box[k]);
  }
  map.swizzle_bytes = int32_t(parseNumber(swizzle));
  buffers.push_back(makeBuffer(type, stride / map.element_bytes, fill, parts[0] == "map-out"));
  map.base = buffers.back().data;
  maps.push_back(map);
  parameters.push_back({&maps.back(), 0, true});
}

/// in|out|inout:<type>:<count>[=<fill>]
void Arguments::addBuffer(llvm::StringRef text) {
  auto [kind, rest] = text.split(':');
  auto [type, size] = rest.split(':');
  auto [count, fill] = size.split('=');
  buffers.push_back(makeBuffer(parseType(type), size_t(parseNumber(count)), fill, kind != "in"));
  values.push_back(reinterpret_cast<uint64_t>(buffers.back().data));
  parameters.push_back({&values.back(), 8, false});
}

void Arguments::add(llvm::StringRef text) {
  if (text.starts_with("map:") || text.starts_with("map-out:"))
    return addMap(text);
  if (text.starts_with("in:") || text.starts_with("out:") || text.starts_with("inout:"))
    return addBuffer(text);
  auto [name, value] = text.split('=');
  Type type = parseType(name);
  values.push_back(encode(type, parseNumber(value)));
  parameters.push_back({&values.back(), getBytes(type), false});
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static void printCounters(const Counters &counters) {
  const std::pair<const char *, int64_t> all[] = {{"instructions", counters.instructions},
                                                  {"shared loads", counters.sharedLoads},
                                                  {"shared stores", counters.sharedStores},
                                                  {"bank conflicts", counters.bankConflicts},
                                                  {"ldmatrix", counters.ldmatrix},
                                                  {"stmatrix", counters.stmatrix},
                                                  {"mma", counters.mma},
                                                  {"wgmma", counters.wgmma},
                                                  {"copies", counters.copies},
                                                  {"bulk copies", counters.bulkCopies},
                                                  {"copied bytes", counters.copiedBytes},
                                                  {"barriers", counters.barriers}};
  for (auto [name, value] : all)
    llvm::outs() << name << ": " << value << "\n";
}

static void printBuffer(const Buffer &buffer, size_t index) {
  llvm::outs() << "out " << index << ":";
  for (size_t k = 0; k < buffer.count; ++k) {
    double value = decode(buffer.type, buffer.data + k * getBytes(buffer.type));
    // NaN's sign says nothing.
    llvm::outs() << " " << llvm::format("%.9g", std::isnan(value) ? NAN : value);
  }
  llvm::outs() << "\n";
}

/// Runs the kernel on fresh memory and prints what it wrote, or its error. True: it ran.
static bool run(Program &program, const Launch &launch, const Options &options, Arguments &arguments,
                llvm::StringRef prefix) {
  for (Buffer &buffer : arguments.buffers)
    fillBuffer(buffer);
  Counters counters;
  if (llvm::Error error = program.launch(launch, options, printsCounters ? &counters : nullptr)) {
    (runsAllModes ? llvm::outs() : llvm::errs()) << prefix << "error: " << llvm::toString(std::move(error)) << "\n";
    return false;
  }
  size_t index = 0;
  for (const Buffer &buffer : arguments.buffers) {
    if (!buffer.isPrinted)
      continue;
    llvm::outs() << prefix;
    printBuffer(buffer, index++);
  }
  if (printsCounters)
    printCounters(counters);
  return true;
}

static bool runModes(Program &program, const Launch &launch, Options options, Arguments &arguments) {
  bool isGood = true;
  for (bool lazy : {false, true})
    for (auto [mode, name] :
         {std::pair(Order::Fifo, "fifo"), std::pair(Order::Lifo, "lifo"), std::pair(Order::Random, "random")}) {
      options.lazyCopies = lazy;
      options.order = mode;
      std::string prefix = std::string(lazy ? "lazy " : "eager ") + name + ": ";
      isGood &= run(program, launch, options, arguments, prefix);
    }
  return isGood;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "runs a kernel of device LLVM IR on the CPU\n");
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseIRFile(inputFile, diagnostic, *context);
  if (!module) {
    diagnostic.print(argv[0], llvm::errs());
    return 2;
  }
  auto program = Program::create(std::move(module), std::move(context));
  if (!program)
    fail(llvm::toString(program.takeError()));
  Arguments arguments;
  for (const std::string &text : parameterTexts)
    arguments.add(text);
  Launch launch;
  launch.kernel = kernelName;
  for (size_t k = 0; k < 3 && k < grid.size(); ++k)
    launch.grid[k] = grid[k];
  for (size_t k = 0; k < 3 && k < block.size(); ++k)
    launch.block[k] = block[k];
  launch.sharedBytes = sharedBytes;
  launch.parameters = arguments.parameters;
  Options options;
  options.lazyCopies = !isEager;
  options.order = order;
  options.seed = seed;
  options.threads = workers;
  options.checkRaces = options.checkUninitialized = checks;
  bool isGood =
      runsAllModes ? runModes(**program, launch, options, arguments) : run(**program, launch, options, arguments, "");
  return isGood ? 0 : 1;
}
