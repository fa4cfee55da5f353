"""A link, on a page of HTML, that opens a trace in Perfetto; without a script it is the file itself."""

import base64
import contextlib
import os
import tempfile

from ._trace import Trace

_MOST = 4 << 20  # bytes of a trace that a page holds
# Perfetto's page says PONG when it listens: https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui
_OPEN = """const site = 'https://ui.perfetto.dev', page = window.open(site);
if (page) {
  const asking = setInterval(() => page.postMessage('PING', site), 100);
  const data = Uint8Array.from(atob(this.href.split(',')[1]), c => c.charCodeAt(0));
  const heard = e => {
    if (e.source !== page || e.data !== 'PONG') return;
    clearInterval(asking);
    window.removeEventListener('message', heard);
    page.postMessage({perfetto: {buffer: data.buffer, title: 'plait.explain'}}, site);
  };
  window.addEventListener('message', heard);
  return false;
}"""


@contextlib.contextmanager
def traced():
    """A list, which has the trace of the block when it has ended; where no file can be written, none."""
    data = []
    try:
        folder = tempfile.TemporaryDirectory(prefix="plait")
    except OSError:
        yield data
        return
    with folder:
        path = os.path.join(folder.name, "trace.json")
        with Trace(path):
            yield data
        with open(path, "rb") as f:
            data.append(f.read())


def link(trace):
    """HTML of a link that opens the trace; nothing for one that is too long."""
    if trace is None or len(trace) > _MOST:
        return ""
    text = base64.b64encode(trace).decode()
    script = _OPEN.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<p><a class="trace" download="trace.json" href="data:application/json;base64,{text}" onclick="{script}">open the trace in Perfetto</a></p>\n'
