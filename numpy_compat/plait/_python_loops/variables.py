"""The variables of a compiled loop as it is lowered, the memory that it has beside them, and what they are where ways meet."""

from . import lists_in_lists
from .carried import Carried, CarriedList
from .deques import empty
from .expressions import Value
from .growing import Growing
from .grown_texts import CarriedText, carry
from .passes import Again
from .types import NotCompiled, SameAs, Scalar, is_time, joined
from .values import Bound, kinds_of
from .views import View


class Variables:
    """Of a Lowering, which has the procedure `p` and what passes before have found."""

    def begin_carried(self, key, made):
        """The variable with the array that the loop is given, which nothing else has a part of."""
        view, self.env[key] = self.env.get(key), made
        if isinstance(self.inputs.get(key), Scalar):
            raise NotCompiled(f"{key} is a number here and an array there", self.top)
        if not isinstance(view, View):
            return
        made.begin(view, self.p.address(view.buffer))
        for slot in range(len(self.arrays)):
            if slot != view.slot:
                self.facts.add(self.facts.apart, None, (view.slot, slot))
        if any(x.slot in self.facts.mutated for x in self.carried.values()):
            self.facts.add(self.facts.written, None, view.slot)

    def carry(self, key, dtype, ndim):
        """A name stands for one array after the other."""
        if is_time(dtype):
            raise NotCompiled(f"{key} becomes an array of times, which may be read behind the loop, or in the next iteration")
        self.facts.carried[key] = dtype, ndim
        self.facts.changed = True
        raise Again("an array is carried over iterations")

    def argument(self, key):
        """An address that a run is given."""
        if key not in self.drawn:
            self.arguments.append(key)
            self.drawn[key] = self.p.arg("int64")
            if key.startswith("."):
                self.facts.add(self.facts.arguments, None, key)
        return self.drawn[key]

    def carry_list(self, key, node):
        if key in self.arrays and self.inputs[key].of == "str":
            carry(self, key, node)
        if key not in self.arrays or self.inputs[key].of in ("tuple", "bytes", "list of lists", "deque", "empty deque") or key in self.facts.changed_lists:
            raise NotCompiled(f"{key} becomes a list, which may be read behind the loop", node)
        self.facts.add(self.facts.carried_lists, None, key)
        raise Again("a list is carried over iterations")

    def unsure(self):
        """Ways meet, or another one begins: lists that variables stand for may be those from before the loop again."""
        for x in self.carried.values():
            if isinstance(x, CarriedList):
                x.is_new = False

    def unbound(self, key):
        _unbound(key)

    def heap(self, dtype):
        if dtype not in self.heaps:
            self.heaps[dtype] = self.p.heap(dtype)
        return self.heaps[dtype]

    def list_of(self, node):
        """The list that is made there."""
        key = node, self.made_at.get(node, 0)
        self.made_at[node] = key[1] + 1
        self.sequence += 1
        if key in self.facts.boxed:
            return lists_in_lists.empty(self, key, getattr(node, "node", node))
        if key not in self.facts.lists:
            self.facts.add(self.facts.lists, None, key)
            self.own_lists.append(empty(self, key))
        found = self.own_lists[self.facts.lists.index(key)]
        found.sequence = self.sequence
        return found

    def new_list(self, node):
        """An empty list, of a statement that has made others before which nobody has any more."""
        found = self.list_of(node)
        found.clear()
        if type(found) is Growing and self.pools:
            lists_in_lists.forget(self, found)
        return found

    def memory_at(self, node):
        """Variables for the address and the size of the memory of an array that is made there, and the array's slot."""
        key = node, self.made_at.get(node, 0)
        self.made_at[node] = key[1] + 1
        if key not in self.facts.sites:
            self.facts.add(self.facts.sites, None, key)
            self.sites.append((self.variable("int64"), self.variable("int64")))
        at = self.facts.sites.index(key)
        return *self.sites[at], f"made {at}"

    def number(self, n):
        return self.p.const("int64", n)

    def variable(self, dtype):
        local = self.p.local(dtype)
        self.p.set(local, self.p.const(dtype, 0))
        return local

    def local(self, key, t):
        found = self.locals.get((key, t.dtype))
        if found is None:
            found = self.locals[key, t.dtype] = self.p.local(t.dtype)
        return found

    def tag(self, key):
        if key not in self.tags:
            self.tags[key] = self.p.local("int64")
        return self.tags[key]

    def assign(self, key, value):
        t = value.type
        if key in self.facts.views:
            raise NotCompiled(f"{key} is a number here and an array there")
        self.assigned += len(self.frames) == 1 and " " not in key  # which are parameters of a function that is to be called
        self.p.set(self.local(key, t), value.id)
        if value.kinds:
            self.facts.add(self.facts.tagged, None, key)
        if key in self.facts.tagged:
            self.p.set(self.tag(key), self.tag_number(value))
        self.env[key] = Bound(t, False, kinds_of(value))
        if key in self.cells:
            self.cells[key].set(value)

    def read(self, key, node, unbound=None):
        bound = self.env.get(key)
        if isinstance(bound, Carried):
            return bound.view(node)
        if isinstance(bound, CarriedText):
            return bound.read(node)
        if isinstance(bound, lists_in_lists.Named):
            return bound.now()
        if isinstance(bound, SameAs):
            return self.read(bound.name, node, _unbound_outside)
        if not isinstance(bound, Bound):
            if bound is None and key in self.arrays and self.inputs[key].of:
                self.carry_list(key, node)
            if bound is None and key in self.arrays:
                self.carry(key, self.inputs[key].dtype, self.inputs[key].ndim)
            if bound is None and key not in self.env:
                raise NotCompiled(f"{key} is no variable of the loop that has a value here", node)
            return bound
        t, unsure, kinds = bound
        if unsure:
            if key in self.objects:
                raise NotCompiled(f"{key} may still be what it was before the loop, which is no number", node)
            self.facts.add(self.facts.tagged, None, key)
            if key in self.tags:
                self.fail_if(self.same(self.p.get(self.tag(key)), 0), lambda *_: (unbound or _unbound)(key), node)
        return self.one_of(t, self.p.get(self.local(key, t)), kinds, self.tag(key)) if len(kinds) > 1 else Value(t, self.p.get(self.local(key, t)))

    def is_variable(self, x):
        return isinstance(x, (Bound, SameAs))

    def tell(self, v, dtype, used):
        """Keeps a number for a statement that is left to Python: the n-th of its dtype there. Which of the numbers that are told it is."""
        used[dtype] = used.get(dtype, -1) + 1
        kind = dtype, used[dtype]
        if kind not in self.facts.told:
            self.facts.add(self.facts.told, None, kind)
            self.told.append(self.variable(dtype))
        self.p.set(self.told[at := self.facts.told.index(kind)], v)
        return at

    # where ways meet

    def flow_to(self, key):
        """The end of a way that leads there."""
        if self.env is None:
            return
        now = {k: b for k, b in self.env.items() if isinstance(b, Bound)}
        known = self.facts.merges.get(key)
        if known is None:
            self.facts.merges[key] = dict(now)
            self.facts.changed = True
            return
        for k in {**known, **now}:  # in an order that is the same in each process, which the kept code is found by
            a, b = known.get(k), now.get(k)
            if a == b and not a.unsure and len(a.kinds) <= 1:
                continue
            met = Bound(joined(a.type, b.type), a.unsure or b.unsure, a.kinds | b.kinds) if a and b else (a or b)._replace(unsure=True)
            if met != a:
                known[k] = met
                # Of what lies behind, nothing has been lowered without it yet, nor has a way here stored it elsewhere.
                self.facts.changed |= key in self.met or a is not None and met.type.dtype != a.type.dtype
            if met.unsure or len(met.kinds) > 1:
                self.facts.add(self.facts.tagged, None, k)
            if b and met.type.dtype != b.type.dtype:
                self.p.set(self.local(k, met.type), self.held_as(Value(b.type, self.p.get(self.local(k, b.type))), met.type, self.top))

    def state_at(self, key):
        """What has flowed to a place; None where no way leads there. What flows there later asks for another pass."""
        self.met.add(key)
        return self.facts.merges.get(key)

    def meet(self, key, arrays):
        """The state behind: scalars as they flowed there, and the arrays that every way leaves as they were."""
        self.unsure()
        known = self.state_at(key)
        self.env = None if known is None else {k: b for k, b in arrays.items() if not isinstance(b, Bound)} | known


def _unbound(key):
    key = key.rpartition(".")[2] if " " in key else key  # of a function that the loop calls
    raise UnboundLocalError(f"cannot access local variable '{key}' where it is not associated with a value")


def _unbound_outside(key):
    raise NameError(f"cannot access free variable '{key}' where it is not associated with a value in enclosing scope")
