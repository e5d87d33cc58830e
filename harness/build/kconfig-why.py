# SPDX-License-Identifier: GPL-2.0-only
"""
Says in words why symbols of a kernel's config did not come out as they were asked for.

Started by the kernel's own make, as a $(shell) of a Kconfig file, and so with the environment that
the kernel's Kconfig is read in (srctree, SRCARCH, CC, ...). From MMRIG_ASKS it reads lines
"SYMBOL=VALUE", a value as in a .config or n; MMRIG_RESULT is the .config that came out. One line a
symbol that can be explained goes to MMRIG_ANSWER: symbol, tab, text.
"""
import io
import os
import re

import kconfiglib
from kconfiglib import AND, BOOL, EQUAL, HEX, INT, NOT, OR, STRING, TRISTATE, UNEQUAL

TYPES = {BOOL: "a bool", TRISTATE: "a tristate", STRING: "a string", INT: "an int", HEX: "a hex"}
LETTER = "nmy"
CHAIN = 3  # how many needs of needs are told
NAMES = 3  # how many of many symbols are named


class Kconfig(kconfiglib.Kconfig):
    """kconfiglib 14.1 is of 2020; what the language has gained is said in its older words."""

    transitional = set()

    def _open(self, filename, mode):
        if mode != "r" or not os.path.basename(filename).startswith("Kconfig"):
            return super()._open(filename, mode)
        with super()._open(filename, mode) as f:
            return io.StringIO("".join(self._older(f)))

    @staticmethod
    def _older_condition(found):
        condition = found[3].strip()
        off = condition + " = n" if re.match(r"\w+$", condition) else "!(%s)" % condition
        return "%s (%s) || %s\n" % (found[1], found[2], off)

    def _older(self, lines):
        name = None
        for line in lines:
            found = re.match(r"\s*(?:menu)?config\s+(\w+)\s*$", line)
            name = found[1] if found else name
            if re.match(r"\s+transitional\s*$", line):
                self.transitional.add(name)
                line = "\n"
            elif re.match(r"\s+modules\s*$", line):
                line = "\toption modules\n"
            else:
                line = re.sub(r"^(\s+depends\s+on)\s+([^#]+?)\s+if\s+([^#]+)(#.*)?$",
                              self._older_condition, line)
            yield line


def parts(expr, operator):
    """The operands of a chain of one operator, left to right."""
    if isinstance(expr, tuple) and expr[0] is operator:
        return parts(expr[1], operator) + parts(expr[2], operator)
    return [expr]


def some(names, last="or"):
    """"A, B or C" of at most a few names."""
    names = sorted(set(names))
    if len(names) > NAMES:
        names[NAMES:] = ["%d others" % (len(names) - NAMES)]
    return (" %s " % last).join(filter(None, [", ".join(names[:-1]), names[-1]]))


def is_symbol(expr):
    return isinstance(expr, kconfiglib.Symbol) and not expr.is_constant


def has_prompt(symbol):
    return any(node.prompt for node in symbol.nodes)


def symbols_of(expr):
    return sorted((s for s in kconfiglib.expr_items(expr) if is_symbol(s)), key=lambda s: s.name)


def selectors(symbol):
    """The expressions that select it, those in force and those not."""
    if symbol.rev_dep is symbol.kconfig.n:
        return [], []
    selects = parts(symbol.rev_dep, OR)
    on = [s for s in selects if kconfiglib.expr_value(s)]
    return on, [s for s in selects if not kconfiglib.expr_value(s)]


def names_of(selects, last):
    """Of the symbols that do the selecting."""
    return some((getattr(parts(s, AND)[0], "name", None) or "a choice" for s in selects), last)


def values_of(expr):
    return ", ".join("%s is %s" % (s.name, s.str_value or '""') for s in symbols_of(expr))


def need_of_symbol(symbol, want, depth, seen):
    value = symbol.tri_value
    text = "%s%s, which is %s" % (symbol.name, "=y" if value else "", LETTER[value])
    if not symbol.nodes:
        return "%s, which this kernel does not have" % symbol.name
    if depth == CHAIN or symbol in seen:
        return text
    why = why_low(symbol, want, depth + 1, seen | {symbol})
    if why and why.startswith("needs "):
        return text + " for want of " + why[len("needs "):]
    return text + " and " + why if why else text


def need_of_one(expr, want, depth, seen):
    """What an expression that is below `want` needs: "A, which is n"."""
    if is_symbol(expr):
        return need_of_symbol(expr, want, depth, seen)
    if isinstance(expr, kconfiglib.Choice):
        return "the choice %s, which is not open" % choice_title(expr)
    if isinstance(expr, kconfiglib.Symbol):
        return "what a test of the compiler or of another tool did not find"
    if isinstance(expr, tuple) and expr[0] is OR:
        return need_of_any(parts(expr, OR), want, depth, seen)
    if isinstance(expr, tuple) and expr[0] is NOT and is_symbol(expr[1]):
        return "%s off, which is %s" % (expr[1].name, expr[1].str_value)
    if isinstance(expr, tuple) and expr[0] in (EQUAL, UNEQUAL) and expr[2] is expr[1].kconfig.n:
        return "%s %s, which is %s" % (expr[1].name, "off" if expr[0] is EQUAL else "on",
                                       expr[1].str_value)
    values = values_of(expr)
    return kconfiglib.expr_str(expr) + (" (%s)" % values if values else "")


def need_of_any(alternatives, want, depth, seen):
    left = [a for a in alternatives if is_symbol(a) or not isinstance(a, kconfiglib.Symbol)]
    known = [a for a in left if not is_symbol(a) or a.nodes] or left
    if not known:
        return need_of_one(alternatives[0], want, depth, seen)
    if len(known) == 1:
        return " and ".join(needs(known[0], want, depth, seen))
    if all(is_symbol(a) for a in known):
        return "%s, which are off" % some(a.name for a in known)
    # One level of alternatives is told in full, and what each needs in turn is not.
    return "either " + ", or ".join(" and ".join(needs(a, want, CHAIN, seen)) for a in known)


def needs(expr, want, depth, seen):
    low = [p for p in parts(expr, AND) if kconfiglib.expr_value(p) < want]
    # A choice is closed by what its members need as well.
    low = [p for p in low if not isinstance(p, kconfiglib.Choice)] or low
    found = list(dict.fromkeys(need_of_one(p, want, depth, seen) for p in low))
    # What another need lacks in turn is not said twice.
    return [f for f in found if not any(f is not o and o.endswith(" " + f) for o in found)]


def needs_text(expr, want, depth, seen):
    return "needs " + ", and ".join(needs(expr, want, depth, seen))


def why_not_by_hand(symbol, want, depth, seen):
    """A symbol without a prompt is what others make of it."""
    _, off = selectors(symbol)
    if len(off) == 1:
        return "cannot be set by itself: it " + needs_text(off[0], want, depth, seen)
    if off:
        return "cannot be set by itself, only be selected by " + names_of(off, "or")
    if len(symbol.defaults) == 1:
        value, condition = symbol.defaults[0]
        expr = value if condition is symbol.kconfig.y else (AND, value, condition)
        if kconfiglib.expr_value(expr) < want:
            return "cannot be set by itself: it " + needs_text(expr, want, depth, seen)
    return "cannot be set by itself"


def why_low(symbol, want, depth=0, seen=frozenset()):
    """Why a bool or tristate is not as high as `want`, or None when nothing is in its way."""
    if kconfiglib.expr_value(symbol.direct_dep) < want:
        return needs_text(symbol.direct_dep, want, depth, seen)
    if not has_prompt(symbol):
        return why_not_by_hand(symbol, want, depth, seen)
    if symbol.visibility < want and not symbol.choice:
        prompts = [node.prompt[1] for node in symbol.nodes if node.prompt]
        if len(prompts) == 1:
            return needs_text(prompts[0], want, depth, seen)
        return needs_text((OR, prompts[0], prompts[1]), want, depth, seen)
    if symbol.choice and symbol.choice.selection is not symbol:
        return why_not_chosen(symbol, want, depth, seen)
    return None


def choice_title(choice):
    return next(('"%s"' % node.prompt[0] for node in choice.nodes if node.prompt), "its choice")


def why_not_chosen(symbol, want, depth, seen):
    choice = symbol.choice
    if choice.visibility < want:
        prompts = [node.prompt[1] for node in choice.nodes if node.prompt]
        if prompts:
            return needs_text(prompts[0], want, depth, seen)
    if symbol.visibility < want:
        return needs_text(next(node.prompt[1] for node in symbol.nodes if node.prompt), want, depth,
                          seen)
    won = choice.selection
    return "is one of the choice %s, where %s won" % (choice_title(choice), won.name if won else "none")


def why_high(symbol):
    """Why a symbol is on although it was asked to be off."""
    on, _ = selectors(symbol)
    if on:
        return "is selected by " + names_of(on, "and")
    if symbol.choice and symbol.choice.selection is symbol:
        others = [s.name for s in symbol.choice.syms if s is not symbol and s.visibility]
        if others:
            return "is what the choice %s falls to; ask for %s" % (choice_title(symbol.choice),
                                                                   some(others))
        return "is all that there is in the choice %s" % choice_title(symbol.choice)
    if not has_prompt(symbol):
        return "cannot be set by itself: it is on wherever its dependencies are met"
    if not symbol.visibility:
        prompts = [node.prompt[1] for node in symbol.nodes if node.prompt]
        return "cannot be turned off: that " + needs_text(prompts[0], 1, 0, frozenset())
    return None


def why_value(symbol, asked):
    """Of a string, an int, a hex."""
    number = re.match(r"0[xX][0-9a-fA-F]+$" if symbol.orig_type is HEX else r"-?\d+$", asked)
    if symbol.orig_type is STRING and not asked.startswith('"'):
        return "is a string: its value stands in quotes"
    if symbol.orig_type in (INT, HEX) and not number:
        return "is %s" % TYPES[symbol.orig_type]
    if not kconfiglib.expr_value(symbol.direct_dep):
        return needs_text(symbol.direct_dep, 1, 0, frozenset())
    if not has_prompt(symbol):
        return "cannot be set by itself"
    if not symbol.visibility:
        prompts = [node.prompt[1] for node in symbol.nodes if node.prompt]
        return needs_text(prompts[0], 1, 0, frozenset())
    for low, high, cond in symbol.ranges:
        if kconfiglib.expr_value(cond):
            return "must be from %s to %s" % (low.str_value, high.str_value)
    return None


def why(kconfig, name, asked):
    symbol = kconfig.syms.get(name)
    if not symbol or not symbol.nodes:
        return None
    if name in Kconfig.transitional:
        return "is an old name that this kernel only reads and never writes"
    if symbol.orig_type not in (BOOL, TRISTATE):
        return why_value(symbol, asked)
    if asked not in ("n", "m", "y"):
        return "is %s: y or n" % TYPES[symbol.orig_type]
    if asked == "m" and symbol.orig_type is BOOL:
        return "is a bool: y or n, not m"
    want = LETTER.index(asked)
    if want == 1 and not kconfig.modules.tri_value:
        return "needs MODULES, which is n, to be m"
    return why_high(symbol) if symbol.tri_value > want else why_low(symbol, want)


def main():
    kconfig = Kconfig("Kconfig", warn=False)
    kconfig.load_config(os.environ["MMRIG_RESULT"])
    with open(os.environ["MMRIG_ASKS"]) as asks, open(os.environ["MMRIG_ANSWER"], "w") as answer:
        for line in asks:
            name, _, asked = line.rstrip("\n").partition("=")
            text = why(kconfig, name, asked)
            if text:
                answer.write("%s\t%s\n" % (name, " ".join(text.split())))


main()
