"""A process that stays alive and runs programs on one module under one configuration: python worker.py MODULE IN OUT (file
descriptors). Frames are pickled lists of lines in, or the text of a python_loops program; records out."""
import gc
import importlib
import os
import pickle
import struct
import sys
import warnings

from execute import execute


def read_frame(stream):
    head = stream.read(8)
    return pickle.loads(stream.read(struct.unpack("<q", head)[0])) if len(head) == 8 else None


def write_frame(stream, value):
    body = pickle.dumps(value, protocol=5)
    stream.write(struct.pack("<q", len(body)) + body)
    stream.flush()


def watch_fallbacks(module):
    """A function that gives the names of the calls that fell back since it was last called; None for a module that has none."""
    try:
        fallback = importlib.import_module(module.__name__ + "._fallback")
    except ImportError:
        return None
    names = []
    fallback.note = names.append  # what PLAIT_LOG=fallback prints once a call site, here for every call
    fallback._plait.log_fallbacks = lambda: True
    logged = set(fallback._plait.get_config()["log"].split(",")) - {"off"}
    fallback._plait.set_config("log", ",".join(logged | {"fallback"}))

    def since():
        out = names[:]
        names.clear()
        return out

    return since


def main():
    warnings.simplefilter("ignore")
    module = importlib.import_module(sys.argv[1])
    source, sink = os.fdopen(int(sys.argv[2]), "rb"), os.fdopen(int(sys.argv[3]), "wb")
    fallbacks = watch_fallbacks(module)
    write_frame(sink, {"ready": True, "counts": fallbacks is not None})
    count = 0
    from python_loops import by_plait  # which imports this file

    while (lines := read_frame(source)) is not None:
        if fallbacks:
            fallbacks()
        records = execute(module, lines, fallbacks) if isinstance(lines, list) else by_plait(module, lines)
        if "CUDA_ERROR" in repr(records):  # a device that is lost stays lost for this process
            sys.exit("a kernel failed")
        write_frame(sink, records)
        count += 1
        if count % 200 == 0:
            gc.collect()


if __name__ == "__main__":
    main()
