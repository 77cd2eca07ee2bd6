#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes one function for each operation of arith, with each special constant on either side, and with itself.

Each function takes a tensor of special values (its OPTIONS line, for check-functions.py) and returns a tensor for each
constant, so that whatever a folder makes of the constant is compared with the operation itself."""

FLOATS = ["0x7FC00000", "0x7F800000", "0xFF800000", "0.0", "-0.0", "1.0", "-1.0", "0x00000001", "2.0"]
FLOAT_VALUES = "nan:inf:-inf:0:-0:1:-1:2:-2:1e-45:-1e-45:3e38:-3e38:0.5:1.5:-7.25"
INTEGERS = [0, 1, -1, 2, -128, 127, 7]
INTEGER_VALUES = "0:1:-1:2:-2:127:-127:-128:64:-64:7:-7"


class Function:
    """The text of a function on tensors of `element`, which collects its results."""

    def __init__(self, name, element, values):
        self.name, self.values = name, values
        self.count = values.count(":") + 1
        self.type = self.tensor(element)
        self.body, self.results = [], []

    def tensor(self, element):
        return f"tensor<{self.count}x{element}>"

    def constant(self, value, type=None):
        type = type or self.type
        return self.value(f"arith.constant dense<{value}> : {type}")

    def value(self, text):
        self.body.append(text)
        return f"%{len(self.body)}"

    def result(self, text, type):
        self.results.append((self.value(text), type))

    def write(self):
        print(f"// OPTIONS @{self.name}: --fill=0:list:{self.values}")
        print(f"func.func @{self.name}(%x: {self.type}) -> ({', '.join(type for _, type in self.results)}) {{")
        for number, text in enumerate(self.body):
            print(f"  %{number + 1} = {text}")
        print(f"  return {', '.join(value for value, _ in self.results)} : {', '.join(t for _, t in self.results)}\n}}")


def write_both_sides(function, operation, constants, result, left=True):
    """`operation` of x and each constant, in both orders if `left`, of x and x, and of each two constants."""
    values = [function.constant(constant) for constant in constants]
    for value in values:
        function.result(f"{operation} %x, {value} : {function.type}", result)
        if left:
            function.result(f"{operation} {value}, %x : {function.type}", result)
            function.result(f"{operation} {value}, {values[0]} : {function.type}", result)
            function.result(f"{operation} {values[-1]}, {value} : {function.type}", result)
    if left:
        function.result(f"{operation} %x, %x : {function.type}", result)


def write_floats():
    for name in "addf subf mulf divf remf maximumf minimumf maxnumf minnumf".split():
        function = Function(name, "f32", FLOAT_VALUES)
        write_both_sides(function, f"arith.{name}", FLOATS, function.type)
        function.write()
    for predicate in "oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split():
        function = Function(f"cmpf_{predicate}", "f32", FLOAT_VALUES)
        write_both_sides(function, f"arith.cmpf {predicate},", FLOATS, function.tensor("i1"))
        function.write()


def write_integers():
    for name in "addi subi muli andi ori xori maxsi minsi maxui minui".split():
        function = Function(name, "i8", INTEGER_VALUES)
        write_both_sides(function, f"arith.{name}", INTEGERS, function.type)
        function.write()
    # Where each is defined: no division by 0 or of -128 by -1, no shift by more than 7 bits.
    defined = {"shli": [0, 1, 2, 7], "shrsi": [0, 1, 2, 7], "shrui": [0, 1, 2, 7]}
    for name in "ceildivsi floordivsi divsi remsi ceildivui divui remui shli shrsi shrui".split():
        function = Function(name, "i8", INTEGER_VALUES)
        constants = defined.get(name, [1, 2, -128, 127, 7] + ([-1] if name.endswith("ui") else []))
        write_both_sides(function, f"arith.{name}", constants, function.type, left=False)
        function.write()


def write_comparisons():
    for predicate in "eq ne slt sle sgt sge ult ule ugt uge".split():
        function = Function(f"cmpi_{predicate}", "i8", INTEGER_VALUES)
        booleans, wide = function.tensor("i1"), function.tensor("i16")
        write_both_sides(function, f"arith.cmpi {predicate},", INTEGERS, booleans)
        extended = [function.value(f"arith.{cast} %x : {function.type} to {wide}") for cast in ("extsi", "extui")]
        for number in (0, -1, 127, 128, 255, 256, -128, -129):
            constant = function.constant(number, wide)
            for value in extended:
                function.result(f"arith.cmpi {predicate}, {value}, {constant} : {wide}", booleans)
        function.write()


write_floats()
write_integers()
write_comparisons()
