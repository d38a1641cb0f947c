"""What sock_diag says is read rightly, and time is divided rightly by what it says."""

from __future__ import annotations

import socket
import struct
from contextlib import closing

import numpy as np
import pytest

from sawtooth.live import causes, netlink
from sawtooth.live.causes import CWND, DEVICE, NAGLE, NAMES, PACING, RECOVERY, RTO, RWND, SEND_BUFFER, SOURCE
from sawtooth.live.netlink import LiveError, SockDiag, decode
from sawtooth.live.tcp_info import HAS_WINDOW, MEASURED, UNLIMITED
from sawtooth.live.watch import SPELL, divide

K = len(NAMES)


def message(info: bytes, family: int = socket.AF_INET, state: int = 1, unread: int = 5) -> bytes:
    """As the kernel answers: the header (72 bytes), then attribute 2, tcp_info."""
    head = struct.pack("=BBBB", family, state, 0, 0) + struct.pack(">HH", 80, 4321) + socket.inet_aton("192.0.2.1") + bytes(12)
    head += socket.inet_aton("192.0.2.2") + bytes(12) + struct.pack("=IQ", 0, 77) + struct.pack("=IIIII", 0, unread, 6, 1000, 99)
    return head + struct.pack("=HH", 4 + len(info), 2) + info


def block(*messages: bytes) -> netlink.Block:
    return np.frombuffer(b"".join(messages), dtype=np.uint8).reshape(len(messages), -1)


def test_a_connection_is_read_from_its_message() -> None:
    info = bytearray(232)
    struct.pack_into("=I", info, 80, 10)  # cwnd
    struct.pack_into("=QQQ", info, 168, 3_000, 2_000, 1_000)  # busy, rwnd_limited, sndbuf_limited
    struct.pack_into("=I", info, 228, 65_535)  # snd_wnd
    (row,) = decode([block(message(bytes(info)))])
    assert (row["sport"], row["dport"], row["cookie"], row["inode"], row["uid"]) == (80, 4321, 77, 99, 1000)
    assert (row["cwnd"], row["busy_us"], row["rwnd_limited_us"], row["sndbuf_limited_us"], row["snd_wnd_bytes"]) == (
        10,
        3000,
        2000,
        1000,
        65_535,
    )
    assert row["info_bytes"] == HAS_WINDOW


@pytest.mark.parametrize(("state", "unread", "bytes_"), [(1, 5, 5), (8, 1, 0), (8, 0, 0), (8, 6, 5), (9, 1, 0), (11, 1, 0), (4, 1, 1)])
def test_the_end_of_what_a_peer_sends_is_no_byte_that_waits_to_be_read(state: int, unread: int, bytes_: int) -> None:
    (row,) = decode([block(message(bytes(232), state=state, unread=unread))])
    assert row["rqueue"] == bytes_


def test_of_a_connection_whose_peer_has_closed_nothing_waits_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as here:
        there, _ = server.accept()
        there.sendall(b"12345")
        there.close()
        port = here.getsockname()[1]
        with closing(SockDiag()) as kernel:

            def unread() -> list[int]:
                rows = kernel.connections()
                return rows["rqueue"][(rows["sport"] == port) & (rows["state"] == 8)].tolist()

            assert unread() == [5]
            here.recv(5)
            assert unread() == [0]
            assert here.recv(5) == b""
            assert unread() == [0]


def test_messages_of_one_length_with_other_attributes_are_told_apart() -> None:
    info = bytearray(200)
    struct.pack_into("=I", info, 80, 10)
    # Eight bytes of something before: the same length in all as tcp_info of 208 bytes alone.
    other = message(bytes(200))[:72] + struct.pack("=HHI", 8, 15, 0) + struct.pack("=HH", 4 + 200, 2) + bytes(info)
    rows = decode([block(message(bytes(208)), other)])
    assert sorted(rows["info_bytes"].tolist()) == [200, 208]
    assert rows["cwnd"].sum() == 10


def test_a_kernel_without_the_counters_is_told_by_the_length_of_its_tcp_info() -> None:
    # Linux 4.9 ends after the delivery rate (168 bytes).
    with pytest.raises(LiveError) as raised:
        decode([block(message(bytes(168)))])
    assert str(raised.value) == (
        "error: this kernel does not measure what holds connections back: its tcp_info has 168 bytes, the counters end at 192\n"
        "hint: `sawtooth stall` needs Linux 4.10 or later"
    )


def test_a_half_open_connection_without_tcp_info_is_left_out() -> None:
    assert len(decode([block(message(bytes(200))[:72])])) == 0


def test_one_connection_is_found_again_by_its_name_until_it_has_ended() -> None:
    diag = SockDiag()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        port = server.getsockname()[1]
        assert port in {listener.port for listener in diag.listeners()}
        everything = diag.connections()
        mine = everything[(everything["sport"] == port) | (everything["dport"] == port)]
        assert len(mine) == 2
        assert sorted(diag.again(mine)["cookie"].tolist()) == sorted(mine["cookie"].tolist())
        accepted.close()
        # SO_LINGER with 0: the connection ends with a reset, and nothing of it stays.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert len(diag.again(mine)) == 0
    diag.close()


def test_a_look_names_what_holds_back_now() -> None:
    row = np.zeros(1, dtype=MEASURED)
    row["mss_bytes"], row["cwnd"], row["max_pacing_rate"], row["info_bytes"], row["cc"] = 1000, 10, UNLIMITED, HAS_WINDOW, b"cubic"
    row["snd_wnd_bytes"], row["sndbuf_bytes"], row["pacing_rate"] = 100_000, 50_000, 1_000_000

    def seen(**values: int | bytes) -> int:
        one = row.copy()
        for name, value in values.items():
            one[name] = value
        return int(causes.look(one).cause[0])

    assert seen() == SOURCE
    # All sent, nothing waits: 5 segments in flight.
    assert seen(unacked=5, wqueue=5_000) == SOURCE
    assert seen(unacked=5, wqueue=5_000, write_queue_bytes=50_000) == SEND_BUFFER
    # 20 segments wait; with room for 5, and for none.
    assert seen(unacked=10, wqueue=30_000, notsent_bytes=20_000) == CWND
    assert seen(unacked=5, wqueue=25_000, notsent_bytes=20_000, snd_wnd_bytes=5_500) == RWND
    assert seen(unacked=5, wqueue=25_000, notsent_bytes=20_000, max_pacing_rate=1_000_000) == PACING
    assert seen(unacked=5, wqueue=25_000, notsent_bytes=20_000, cc=b"bbr") == PACING
    assert seen(unacked=5, wqueue=25_000, notsent_bytes=20_000, device_bytes=2_304) == DEVICE
    # A single reference is no packet.
    assert seen(unacked=5, wqueue=25_000, notsent_bytes=20_000, device_bytes=1) == CWND
    assert seen(unacked=1, wqueue=1_100, notsent_bytes=100) == NAGLE
    assert seen(unacked=10, wqueue=30_000, notsent_bytes=20_000, ca_state=3) == RECOVERY
    assert seen(unacked=10, wqueue=30_000, notsent_bytes=20_000, ca_state=4, retransmits=2) == RTO
    # What was lost or has arrived is not in flight (RFC 6675): 10 - 4 - 3 + 1 = 4.
    assert seen(unacked=10, sacked=4, lost=3, retrans=1, wqueue=30_000, notsent_bytes=20_000, device_bytes=2_304) == DEVICE


def spell(wall_ms: int, busy_ms: int, rwnd_ms: int = 0, send_buffer_ms: int = 0) -> np.ndarray:
    made = np.zeros(1, dtype=SPELL)
    made["end_ns"] = wall_ms * 1_000_000
    made["after"]["busy_us"], made["after"]["rwnd_limited_us"] = busy_ms * 1000, rwnd_ms * 1000
    made["after"]["sndbuf_limited_us"] = send_buffer_ms * 1000
    return made


def found(**ms: float) -> np.ndarray:
    return np.array([[ms.get(name, 0.0) * 1e6 for name in NAMES]])


def shares(made: np.ndarray) -> dict[str, float]:
    return {name: round(float(value) / 1e6, 6) for name, value in zip(NAMES, made["limited_ns"][0], strict=True) if value}


def test_what_the_kernel_counted_stays_and_looks_divide_the_rest() -> None:
    # 1000 ms, of which 800 busy, of which 300 for want of window; the other 500 are divided 3:2.
    made = spell(1000, 800, 300)
    divide(made, found(rwnd=300, cwnd=300, source=200), found())
    assert shares(made) == {"source": 200 + 200, "rwnd": 300, "cwnd": 300}


def test_what_looks_found_of_a_wait_beyond_the_kernels_count_is_kept() -> None:
    made = spell(1000, 1000)
    divide(made, found(send_buffer=900, cwnd=100), found(send_buffer=900))
    assert shares(made) == {"send_buffer": 900, "cwnd": 100}
    assert made["stall_ns"][0] == pytest.approx(900e6)


def test_time_in_which_the_device_holds_packets_or_nothing_waits_is_no_stall() -> None:
    made = spell(1000, 1000)
    # In half of the looks at a full window the card still sent.
    divide(made, found(cwnd=600, device=300, source=100), found(cwnd=300, source=100))
    assert made["stall_ns"][0] == pytest.approx(300e6)


def test_the_parts_add_up_to_the_whole_whatever_the_counters_say() -> None:
    # The kernel's clock ticks: it may count more than has passed.
    for counters in ((1004, 0, 0), (1000, 800, 400), (0, 0, 0), (4, 0, 0)):
        made = spell(1000, *counters)
        divide(made, found(), found())
        assert made["limited_ns"].sum() == pytest.approx(1e9)
        assert (made["limited_ns"] >= 0).all()
        assert made["stall_ns"][0] <= 1e9


def test_a_refused_list_says_what_to_do() -> None:
    assert (
        str(netlink._refused(2)) == "error: this kernel cannot list its TCP sockets: it has no tcp_diag\nhint: root can `modprobe tcp_diag`"
    )
    assert str(netlink._refused(1)) == (
        "error: sock_diag was refused: this user or container may not list sockets\nhint: run it as root, or outside of the container"
    )
