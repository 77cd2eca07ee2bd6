# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the peers of attn-bench share: reading the task, checking the result, timing, answering.

A peer is a script that reads a task as JSON from stdin and prints one line of JSON. Task:

    dtype                  f32, f64, f16 or bf16
    query, key, value      sizes: [batch, heads, queryLen, headDim], [batch, kvHeads, kvLen, headDim],
                           [batch, kvHeads, kvLen, valueDim]; the scale is 1 / sqrt(headDim)
    left, right            the keys that a query sees before and behind its own, the last query's being the last key;
                           absent: all
    lengths                for each batch, the keys that count; absent: all
    threads                to run on
    repeat, leastSeconds, quiet
                           as attn-bench's options of these names, in seconds
    keptOperations         2 (headDim + valueDim) for each query and key that the masks keep; 0: not known

Answer: {"version", "how", "medianSeconds", "bestSeconds", "compileSeconds", "voided", "isQuiet"}, or
{"unsupported": why}, or {"error": why}.
"""
import dataclasses
import importlib.metadata
import json
import math
import os
import sys
import time
import traceback

# Repetitions of slow peers end after this time, once there are a few.
MOST_SECONDS = 20
FEWEST_REPETITIONS = 3


class Unsupported(Exception):
    """Raised by a peer for a task that it has no kernel for; the text says why."""


@dataclasses.dataclass
class Task:
    """A task as in the text above, with the sizes by name."""
    dtype: str
    query: list
    key: list
    value: list
    threads: int
    repeat: int
    leastSeconds: float
    quiet: float
    keptOperations: float = 0
    left: int | None = None
    right: int | None = None
    lengths: list | None = None

    def __post_init__(self):
        self.batch, self.heads, self.query_len, self.head_dim = self.query
        self.kv_heads, self.kv_len = self.key[1:3]
        self.value_dim = self.value[3]
        self.group = self.heads // self.kv_heads
        self.scale = 1 / math.sqrt(self.head_dim)
        self.is_causal = self.left is None and self.right == 0
        self.is_window = self.left is not None or self.right is not None and not self.is_causal
        self.is_full = not self.is_causal and not self.is_window and self.lengths is None

    def refuse(self, **reasons):
        """Raises Unsupported for the first reason whose condition holds: refuse(no_masks=task.is_window)."""
        for reason, holds in reasons.items():
            if holds:
                raise Unsupported(reason.replace("_", " "))


@dataclasses.dataclass
class Prepared:
    """What a peer makes of a task. run: one call, to be timed; result: what the last call computed, as an array
    [batch, heads, queryLen, valueDim]; how: the operator used, for the table."""
    run: object
    result: object
    how: str


def quiet_seconds():
    """CPU seconds that others than this process have used; 0 where the system does not tell."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            ticks = [int(word) for word in file.readline().split()[1:9]]
    except (OSError, ValueError):
        return 0
    # Without idle and iowait.
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK") - time.process_time()


def repeat_once(run, count):
    """Calls run `count` times. Returns (seconds of one call, CPUs that others used)."""
    # The kernel rounds each reading to ticks of 10 ms.
    slack = 0.02
    before, start = quiet_seconds(), time.perf_counter()
    for _ in range(count):
        run()
    seconds = time.perf_counter() - start
    return seconds / count, max(0, quiet_seconds() - before - slack) / seconds


def choose_samples(tries, task):
    """Returns (seconds, voided, isQuiet): the quiet repetitions, or the least disturbed if they are too few."""
    quiet = [seconds for seconds, disturbance in tries if disturbance <= task.quiet]
    enough = min(task.repeat, FEWEST_REPETITIONS)
    if len(quiet) >= enough:
        return quiet[:task.repeat], len(tries) - len(quiet), True
    least = sorted(tries, key=lambda sample: sample[1])[:enough]
    return [seconds for seconds, _ in least], len(tries) - len(quiet), False


def take_samples(run, task):
    """Times run as attn-bench times its own: one call warms up, repetitions fill leastSeconds, disturbed ones are void
    and repeated. Returns (seconds, voided, isQuiet)."""
    warm, _ = repeat_once(run, 1)
    count = max(1, math.ceil(task.leastSeconds / warm))
    tries, start = [], time.perf_counter()
    while len(tries) < 3 * task.repeat and sum(sample[1] <= task.quiet for sample in tries) < task.repeat:
        if len(tries) >= FEWEST_REPETITIONS and time.perf_counter() - start > MOST_SECONDS:
            break
        tries.append(repeat_once(run, count))
    return choose_samples(tries, task)


def measure(task, package, load, prepare):
    """Returns the answer for a task."""
    from common import reference  # Takes numpy along: only now is the number of threads set.
    reference.check_task(task)
    module = load()
    inputs = reference.make_inputs(task)
    start = time.perf_counter()
    prepared = prepare(module, task, *inputs)
    prepared.run()
    first = time.perf_counter() - start
    reference.check_result(prepared.result(), task, inputs)
    seconds, voided, is_quiet = take_samples(prepared.run, task)
    seconds.sort()
    median = seconds[len(seconds) // 2]
    return {"version": importlib.metadata.version(package), "how": prepared.how, "medianSeconds": median,
            "bestSeconds": seconds[0], "compileSeconds": max(0, first - median), "voided": voided,
            "isQuiet": is_quiet}


def answer_task(text, package, load, prepare):
    """Returns the answer for a task's text; never raises."""
    try:
        task = Task(**json.loads(text))
        for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ[variable] = str(task.threads)
        return measure(task, package, load, prepare)
    except Unsupported as error:
        return {"unsupported": str(error)}
    except ModuleNotFoundError as error:
        return {"unsupported": "%s is not installed" % error.name}
    except Exception as error:  # pylint: disable=broad-exception-caught
        traceback.print_exc()
        return {"error": "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:200])}


def main(package, load, prepare):
    """The main of a peer. package: whose version the table shows. load(): imports the peer and returns its module. prepare(module, task, query, key, value):
    returns Prepared; the arrays are f32 (f64 for f64), with values that the task's type holds."""
    out = os.dup(1)
    # What the peer's libraries print must not stand before the answer.
    os.dup2(2, 1)
    answer = answer_task(sys.stdin.read(), package, load, prepare)
    os.write(out, (json.dumps(answer) + "\n").encode())
    # Not by sys.exit: some peers' threads end badly.
    os._exit(0)
