"""Python loops that plait.jit compiles: functions are read from their source, and their loops lowered to the loop IR.

One direction: parse (reading, source), analyse (comprehensions, leaves, liveness, sharing), lower (lowering, over statements, expressions and what is
lowered in them) and run (running, codes, rest, entries). What is lowered asks the pass for what stands above it: `lowering.resumption()`, say.
"""
