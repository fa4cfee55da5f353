"""Python loops that plait.jit compiles: functions are read from their source, and their loops lowered to the loop IR."""
