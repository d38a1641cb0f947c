"""Exact stalls: the study's stopwatch on the kernel's tracepoints, through bpftrace. Needs root, and a kernel with BPF and BTF.

The stopwatch of a connection pauses when the protocol code is entered (`tcp:tcp_probe`, a segment has come; `net:net_dev_queue` outside of
that, a timer or the application sends) and while the layers below hold packets of it. From the last event up to such an entry the connection
has stalled if something waited all that time: what was written before and is not sent, or a writer that sleeps for room in the send buffer.
What it waited for is read from the socket at the entry, before anything changes.

Deviations from the study's definition: the layers below are queue, driver and network card as one, since a packet is charged to its socket
until the card has sent it. On kernels without `sock:sock_send_length` (before 6.3) what is written into a full window counts from the next
event on.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sawtooth.live import causes
from sawtooth.live.netlink import LiveError

LISTED_NS = 1_000_000
"""Shorter stalls are only added up: a connection has one with every acknowledgement."""
_SUMS_EVERY_MS = 100
_PATIENCE = 30.0
_TRACEFS = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
_BTF = Path("/sys/kernel/btf/vmlinux")


@dataclass(frozen=True)
class Stall:
    """One stall of at least `LISTED_NS`; times since the watch began."""

    cookie: int
    flow: str
    start_ns: int
    end_ns: int
    cause: str

    def as_row(self) -> dict[str, Any]:
        """For a table."""
        return {"flow": self.flow, "start_ns": self.start_ns, "end_ns": self.end_ns, "cause": self.cause}


class Exact:
    """The stopwatches of connections.

    Args:
        cookies: whose.
        ports: and those of connections to come; all if both are empty.

    Raises:
        LiveError: if this machine cannot do it, with what is missing.

    """

    def __init__(self, cookies: Sequence[int], ports: Sequence[int]) -> None:
        _require()
        self._sums: defaultdict[int, int] = defaultdict(int)
        self._totals: defaultdict[int, int] = defaultdict(int)
        self._listed: list[tuple[int, int, int, str]] = []
        # When something last happened to each, what was already told of stalls that go on, and all that was told.
        self._at: dict[int, int] = {}
        self._first: dict[int, int] = {}
        self._met: set[int] = set()
        self._pending: dict[int, int] = {}
        self._told: defaultdict[int, int] = defaultdict(int)
        self._began = time.monotonic_ns()
        self._lost = 0
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._failure: list[str] = []
        command = ["bpftrace", "-f", "json", "-e", script(cookies, ports, _events())]
        if not any((path / "events").is_dir() for path in _TRACEFS):
            # In a mount namespace of its own, so that nothing of the host changes.
            command = ["unshare", "--mount", "sh", "-c", 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"', "sh", *command]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/", start_new_session=True
        )  # fmt: skip
        out, err = self._process.stdout, self._process.stderr
        assert out is not None
        assert err is not None
        self._readers = [threading.Thread(target=self._read, args=(out,), daemon=True),
                         threading.Thread(target=self._read_errors, args=(err,), daemon=True)]  # fmt: skip
        for reader in self._readers:
            reader.start()
        if not self._ready.wait(_PATIENCE) or self._process.poll() is not None:
            self.close()
            raise LiveError(
                f"bpftrace does not run here: {' '.join(self._failure[-3:]) or 'no answer'}",
                "without --exact the kernel's counters are used",
            )

    def close(self) -> None:
        """Ends it."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(2)

    def take(self) -> dict[int, int]:
        """Stall of each connection since the last time, by cookie, ns.

        Raises:
            LiveError: if bpftrace has ended.

        """
        if self._process.poll() is not None:
            raise LiveError(f"bpftrace has ended: {' '.join(self._failure[-3:])}")
        with self._lock:
            taken = dict(self._sums)
            self._sums.clear()
        return taken

    def account(self, waits: Mapping[int, bool], now_ns: int) -> list[float]:
        """Stall of connections since the last time, with what has passed of stalls that go on.

        Args:
            waits: by cookie: whether something waits now, and the layers below hold nothing.
            now_ns: of the monotonic clock.

        """
        ended = self.take()
        stalls: list[float] = []
        for cookie, waiting in waits.items():
            pending = max(now_ns - self._at.get(cookie, self._began), 0) if waiting else 0
            before = self._pending.get(cookie, 0)
            stall = ended.get(cookie, 0) + pending - before
            # Of a stall that was going on when the tracepoints saw the connection first, they know no beginning.
            first = self._first.pop(cookie, None)
            stall = max(stall + (first - self._began if first and before else 0), 0)
            self._pending[cookie] = pending
            self._told[cookie] += stall
            stalls.append(float(stall))
        return stalls

    def begin(self, waits: Mapping[int, bool], now_ns: int) -> None:
        """From now on it counts: what came before, and what has passed of stalls that go on, does not."""
        self.account(waits, now_ns)
        self._told.clear()
        self.listed()

    def told(self) -> dict[int, int]:
        """All that `account` has said, by cookie, ns."""
        return dict(self._told)

    def totals(self) -> dict[int, int]:
        """Stall of each connection since the watch began, by cookie, ns."""
        with self._lock:
            return dict(self._totals)

    def listed(self) -> list[tuple[int, int, int, str]]:
        """Cookie, begin and end (ns of the monotonic clock) and cause of the longer stalls since the last time."""
        with self._lock:
            listed, self._listed = self._listed, []
        return listed

    @property
    def lost(self) -> int:
        """Messages that bpftrace could not take; some listed stalls are missing then, the sums are whole."""
        return self._lost

    def _read(self, out: IO[str]) -> None:
        for line in out:
            with contextlib.suppress(ValueError):
                self._take_in(json.loads(line))
        self._ready.set()

    def _take_in(self, message: dict[str, Any]) -> None:
        kind, data = message.get("type"), message.get("data")
        with self._lock:
            if kind == "lost_events":
                self._lost += int(data["events"]) if isinstance(data, dict) else 1  # pyright: ignore[reportUnknownArgumentType]
            elif kind == "printf" and str(data).startswith("ready"):
                self._ready.set()
            elif kind == "printf":
                for line in str(data).splitlines():
                    cookie, start, end, cause = map(int, line.split())
                    self._listed.append((cookie, start, end, causes.NAMES[cause]))
            elif kind == "map" and isinstance(data, dict):
                for key, value in data.get("@at", {}).items():  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
                    self._at[int(key)] = int(value)  # pyright: ignore[reportUnknownArgumentType]
                for key, value in data.get("@first", {}).items():  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
                    if int(key) not in self._met:  # pyright: ignore[reportUnknownArgumentType]
                        self._met.add(int(key))  # pyright: ignore[reportUnknownArgumentType]
                        self._first[int(key)] = int(value)  # pyright: ignore[reportUnknownArgumentType]
                for key, value in data.get("@sum", {}).items():  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
                    self._sums[int(key)] += int(value)  # pyright: ignore[reportUnknownArgumentType]
                    self._totals[int(key)] += int(value)  # pyright: ignore[reportUnknownArgumentType]

    def _read_errors(self, err: IO[str]) -> None:
        for line in err:
            # It also complains of the limit of locked memory, which newer kernels do not have.
            if line.strip() and "RLIMIT_MEMLOCK" not in line:
                self._failure.append(line.strip())


def _require() -> None:
    if shutil.which("bpftrace") is None:
        raise LiveError(
            "exact stalls need bpftrace, which is not installed",
            "root can `apt-get install bpftrace`; without --exact the counters are used",
        )
    if os.geteuid() != 0:
        raise LiveError(
            "exact stalls need root: they are read at the kernel's tracepoints",
            "sudo sawtooth stall --exact ...; without --exact no root is needed",
        )
    if not _BTF.is_file():
        raise LiveError(
            "this kernel does not describe its structures (CONFIG_DEBUG_INFO_BTF): exact stalls need that",
            "without --exact the counters are used",
        )


def _events() -> frozenset[str]:
    """Those of the tracepoints that may be missing; where they cannot be listed now, they are taken to be there."""
    for path in _TRACEFS:
        if (path / "events").is_dir():
            return frozenset({"sock_send_length"} if (path / "events/sock/sock_send_length").is_dir() else ())
    major, minor = (int(part) for part in os.uname().release.split(".")[:2])
    return frozenset({"sock_send_length"} if (major, minor) >= (6, 3) else ())


def script(cookies: Sequence[int], ports: Sequence[int], events: frozenset[str]) -> str:
    """The program for bpftrace.

    Args:
        cookies: connections that are watched.
        ports: and connections of these ports; all if both are empty.
        events: optional tracepoints that this kernel has.

    """
    wanted = " ".join(f"@wanted[(uint64){cookie}] = 1;" for cookie in cookies)
    # Ports in the socket's own order: the local one as a number, the peer's as on the wire.
    by_port = " || ".join(
        f"$k->__sk_common.skc_num == {port} || $k->__sk_common.skc_dport == {(port >> 8) | (port & 255) << 8}" for port in ports
    )
    every = "1" if not cookies and not ports else by_port or "0"
    written = _after("(struct sock *)args->sk", every, _WRITTEN) if "sock_send_length" in events else ""
    return (
        f"BEGIN {{ @wanted[(uint64)0] = 0; {wanted} printf(\"ready\\n\"); }}\n"
        + _probe("tcp:tcp_probe", _after("(struct sock *)args->skaddr", every, _RECEIVED))
        + _probe("net:net_dev_queue", _after("((struct sk_buff *)args->skbaddr)->sk", every, _QUEUED))
        + (_probe("sock:sock_send_length", written) if written else "")
        # What the card has sent is freed; what a virtual device has passed on is received by another one.
        + "".join(_probe(name, _FREED) for name in ("skb:consume_skb", "skb:kfree_skb", "net:netif_receive_skb"))
        # A device without a queue of its own (loopback) has passed the packet on when its driver returns.
        + _probe("net:net_dev_start_xmit", _DRIVEN)
        + _probe("net:net_dev_xmit", _PASSED)
        + "tracepoint:irq:softirq_exit /args->vec == 3/ { delete(@receives[cpu]); }\n"
        + "tracepoint:tcp:tcp_destroy_sock { $k = (uint64)args->skaddr; "
        "delete(@last[$k]); delete(@written[$k]); delete(@below[$k]); }\n"
        + f"interval:ms:{_SUMS_EVERY_MS} {{ print(@sum); print(@at); print(@first); clear(@sum); }}\n"
        + "END { clear(@wanted); clear(@last); clear(@written); clear(@below); clear(@receives); clear(@sent); clear(@at); clear(@first); }\n"
    )  # fmt: skip


def _probe(name: str, body: str) -> str:
    return f"tracepoint:{name} {{\n{body}}}\n"


def _after(sock: str, every: str, body: str) -> str:
    return f"""
  $k = {sock};
  if ($k != 0 && $k->__sk_common.skc_state == 1 && $k->sk_protocol == 6) {{
    $cookie = (uint64)$k->__sk_common.skc_cookie.counter;
    if ($cookie != 0 && (@wanted[$cookie] == 1 || {every})) {{
      $s = (struct tcp_sock *)$k;
      $now = nsecs;
{body}
      if (@last[(uint64)$k] == 0) {{ @first[$cookie] = $now; }}
      @last[(uint64)$k] = $now;
      @at[$cookie] = $now;
      @written[(uint64)$k] = $s->write_seq;
    }}
  }}
"""


_CAUSE = f"""
      $last = @last[(uint64)$k];
      if ($last != 0 && @below[(uint64)$k] == 0) {{
        $unsent = (@written[(uint64)$k] - $s->snd_nxt) & 0xffffffff;
        if ($unsent > 0x7fffffff) {{ $unsent = 0; }}
        $cause = 0;
        if ($unsent == 0) {{
          if ($k->sk_socket != 0 && ($k->sk_socket->flags & 4) != 0 && $s->packets_out > 0) {{ $cause = {causes.SEND_BUFFER}; }}
        }} else {{
          $flight = $s->packets_out + $s->retrans_out - $s->sacked_out - $s->lost_out;
          $part = $unsent < $s->mss_cache ? $unsent : $s->mss_cache;
          $sent = ($s->snd_nxt - $s->snd_una) & 0xffffffff;
          $state = $s->inet_conn.icsk_ca_state;
          $cause = {causes.CWND};
          if ($k->sk_pacing_status != 0) {{ $cause = {causes.PACING}; }}
          if ($unsent < $s->mss_cache) {{ $cause = {causes.NAGLE}; }}
          if ($flight >= $s->snd_cwnd) {{ $cause = {causes.CWND}; }}
          if ($sent + $part > $s->snd_wnd) {{ $cause = {causes.RWND}; }}
          if ($state >= 3) {{ $cause = {causes.RECOVERY}; }}
          if ($state == 4 && $s->inet_conn.icsk_retransmits > 0) {{ $cause = {causes.RTO}; }}
        }}
        if ($cause > 0) {{
          $stall = $now - $last;
          @sum[$cookie] = sum($stall);
          if ($stall >= {LISTED_NS}) {{ printf("%llu %llu %llu %d\\n", $cookie, $last, $now, $cause); }}
        }}
      }}
      @below[(uint64)$k] = $k->sk_wmem_alloc.refs.counter > {causes.REFERENCES} ? 1 : 0;
"""
# A segment has come: the protocol is entered.
_RECEIVED = f"{_CAUSE}      @receives[cpu] = (uint64)$k;"
# It sends: in answer to what has come, which is the protocol at work, or because a timer has run out or an application writes.
_QUEUED = f"""
      if (@receives[cpu] != (uint64)$k) {{ {_CAUSE} }}
      @below[(uint64)$k] = 1;"""
# The application has written: from here on that waits, too.
_WRITTEN = f"      @below[(uint64)$k] = $k->sk_wmem_alloc.refs.counter > {causes.REFERENCES} ? 1 : 0;"
_FREED = f"""
  $b = (struct sk_buff *)args->skbaddr;
  $k = $b->sk;
  if ($k != 0 && (uint64)$b->destructor != 0 && @below[(uint64)$k] == 1 && $k->sk_wmem_alloc.refs.counter - $b->truesize <= {causes.REFERENCES}) {{
    @below[(uint64)$k] = 0;
    @last[(uint64)$k] = nsecs;
  }}
"""
# What is larger than the device takes was cut in pieces since it was queued, so it is only now that the packet's address is the driver's.
_DRIVEN = """
  $k = ((struct sk_buff *)args->skbaddr)->sk;
  if ($k != 0 && @below[(uint64)$k] == 1) { @sent[(uint64)args->skbaddr] = (uint64)$k; }
"""
_PASSED = f"""
  $a = @sent[(uint64)args->skbaddr];
  if ($a != 0) {{
    delete(@sent[(uint64)args->skbaddr]);
    $k = (struct sock *)$a;
    if (@below[$a] == 1 && $k->sk_wmem_alloc.refs.counter <= {causes.REFERENCES}) {{
      @below[$a] = 0;
      @last[$a] = nsecs;
    }}
  }}
"""
